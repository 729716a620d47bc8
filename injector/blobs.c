/* SPDX-License-Identifier: MIT */
#include "injector/blobs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/symbols.h"

int payload_info(struct payload_info *ret)
{
	size_t size = (size_t)(blob_payload_end - blob_payload);
	auto_close int fd = memfd_create("payload", MFD_CLOEXEC);
	struct symbols *syms;

	if (fd < 0 || write(fd, blob_payload, size) != (ssize_t)size)
		return fail(errno, "unpack the payload");
	int err = symbols_open(fd, "the payload", &syms);
	if (err)
		return err;
	err = symbols_dynamic(syms, "payload_hello", &ret->hello);
	if (!err && syms->build_id_len != sizeof(ret->build_id))
		err = fail(0, "the payload has no build-id");
	memcpy(ret->build_id, syms->build_id, sizeof(ret->build_id));
	symbols_close(syms);
	return err;
}
