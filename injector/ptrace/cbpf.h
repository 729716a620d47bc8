/* SPDX-License-Identifier: MIT */
/*
 * cbpf: what may a seccomp filter answer to a system call of which not everything is
 * known yet?
 *
 * Filters are classic BPF (linux/Documentation/networking/filter.rst) as
 * seccomp_check_filter() in linux/kernel/seccomp.c lets it pass: jumps lead forward only,
 * and all that is loaded are words of struct seccomp_data. Where a jump asks for what
 * is not known it is followed both ways.
 */
#ifndef INJECTOR_CBPF_H
#define INJECTOR_CBPF_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CBPF_WORDS = 16,	/* of struct seccomp_data */
};

struct cbpf_word {
	uint32_t value;
	bool known;
};

/* struct seccomp_data, by words. */
struct cbpf_data {
	struct cbpf_word word[CBPF_WORDS];
};

/*
 * Tell of each answer that the program may give, some perhaps more than once. False: not
 * all of them were found, for it is no program that the kernel would take, or has more ways
 * through it than are ever written.
 */
bool cbpf_answers(const struct sock_filter *, size_t n, const struct cbpf_data *,
		  void (*tell)(void *ctx, uint32_t answer), void *ctx);

#endif
