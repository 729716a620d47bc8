/* SPDX-License-Identifier: MIT */
#include "injector/session/blobs.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "injector/proc/kernel.h"
#include "payload/abi.h"
#include "symbols/symbols.h"

struct arena_header arena_header_of(const struct session *s, uint32_t nrings)
{
	return (struct arena_header){
		.tls_offset = s->tls_offset, .tid_offset = s->tid_offset,
		.threads = s->threads,
		.homes = thread_homes(nrings), .places = thread_places(nrings),
		.slow_entry = s->slow_entry, .slow_exit = s->slow_exit, .slow_mark = s->slow_mark,
		.slow_goroutine = s->slow_goroutine, .slow_count = s->slow_count,
		.slow_watch_entry = s->slow_watch_entry, .slow_watch_exit = s->slow_watch_exit,
		.slow_values_entry = s->slow_values_entry,
		.slow_values_exit = s->slow_values_exit, .slow_guard = s->slow_guard,
		.slow_tight = s->slow_tight, .slow_first = s->slow_first,
		.slow_find = s->slow_find, .slow_stacks = s->slow_stacks,
		.session = s->base, .payload = s->payload, .payload_end = s->slow_first_end,
	};
}

struct range payload_range(raddr_t base)
{
	return (struct range){ base, base ? base + (raddr_t)(blob_payload_end - blob_payload) : 0 };
}

static int add_part(struct payload_info *info, const Elf64_Phdr *ph)
{
	uint64_t end = ALIGN_UP(ph->p_vaddr + ph->p_memsz, kernel_page());
	struct payload_part *p = &info->parts[info->nparts];

	if (!ph->p_memsz)
		return 0;
	if (info->nparts == ARRAY_SIZE(info->parts))
		return fail(0, "the payload has too many segments");
	*p = (struct payload_part){
		.page = ALIGN_DOWN(ph->p_vaddr, kernel_page()), .at = ph->p_vaddr,
		.bytes = blob_payload + ph->p_offset, .size = ph->p_filesz,
		.prot = (ph->p_flags & PF_R ? PROT_READ : 0) |
			(ph->p_flags & PF_W ? PROT_WRITE : 0) |
			(ph->p_flags & PF_X ? PROT_EXEC : 0),
	};
	p->pages = end - p->page;
	info->span = MAX(info->span, end);
	info->nparts++;
	return 0;
}

/* The payload needs no other relocation than one (tools/payload-check.sh): where its pieces
 * go is all that a loader has to know. */
static int read_parts(struct payload_info *info)
{
	const Elf64_Ehdr *eh = (const void *)blob_payload;
	const Elf64_Phdr *ph = (const void *)(blob_payload + eh->e_phoff);
	int err = 0;

	for (size_t i = 0; i < eh->e_phnum && !err; i++)
		if (ph[i].p_type == PT_LOAD)
			err = add_part(info, &ph[i]);
	return err;
}

/* But where its thread-local storage is: one word, the only one that its dynamic
 * section's relocations tell of. */
static int read_tls_word(struct payload_info *info)
{
	const Elf64_Ehdr *eh = (const void *)blob_payload;
	const Elf64_Shdr *sh = (const void *)(blob_payload + eh->e_shoff);

	for (size_t i = 0; i < eh->e_shnum; i++) {
		const Elf64_Rela *rela = (const void *)(blob_payload + sh[i].sh_offset);

		if (sh[i].sh_type != SHT_RELA || sh[i].sh_size != sizeof(*rela))
			continue;
		info->tls_word = rela->r_offset;
		return 0;
	}
	return fail(ENOEXEC, "read the payload: it has no thread-local storage");
}

/* A limit lets the first part of a write pass, without an error: the next one tells which. */
static int unpack(int fd)
{
	size_t size = (size_t)(blob_payload_end - blob_payload), done = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && done < size) {
		n = write(fd, blob_payload + done, size - done);
		done += n > 0 ? (size_t)n : 0;
	}
	if (done == size)
		return 0;
	return fail(errno, "unpack the payload, %zu KiB%s", size >> 10,
		    errno == EFBIG ? ", which RLIMIT_FSIZE (ulimit -f) does not allow" : "");
}

int payload_info(struct payload_info *ret)
{
	auto_close int fd = memfd_create("payload", MFD_CLOEXEC);
	struct symbols *syms;
	int err = unpack(fd);

	if (err)
		return err;
	*ret = (struct payload_info){ 0 };
	err = read_parts(ret);
	err = err ? err : read_tls_word(ret);
	err = err ? err : symbols_open(fd, "the payload", &syms);
	if (err)
		return err;
	if (symbols_dynamic(syms, "payload_hello", &ret->hello) < 0)
		err = fail(ENOEXEC, "read the payload: it has no payload_hello");
	if (!err && syms->build_id_len != sizeof(ret->build_id))
		err = fail(0, "the payload has no build-id");
	memcpy(ret->build_id, syms->build_id, sizeof(ret->build_id));
	symbols_close(syms);
	return err;
}
