/* SPDX-License-Identifier: MIT */
/* base: what every part of the program shares: addresses of the target,
 * errors, cleanup. Depends on nothing but libc. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* An address in the TARGET, or a link-time address in one of its files. An
 * integer, so that dereferencing it does not compile. */
typedef uint64_t raddr_t;

/* A range of addresses; always half-open. */
struct range {
	raddr_t start, end;
};

static inline bool range_has(struct range r, raddr_t a)
{
	return a >= r.start && a < r.end;
}

static inline uint64_t range_size(struct range r)
{
	return r.end - r.start;
}

static inline bool range_overlaps(struct range a, struct range b)
{
	return a.start < b.end && b.start < a.end;
}

/*
 * Errors. A function that can fail returns 0 or -errno, and every failing
 * line reads
 *
 *	return fail(errno, "attach thread %d", tid);
 *
 * fail() keeps the FIRST message of a failure, which is the one nearest to the
 * cause, per thread; the caller that gives up prints it once with fail_text(). One
 * that recovers calls fail_clear(). `err` is a positive errno; 0 means "the
 * message says it all": no strerror text is added and -EINVAL is returned.
 */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#ifdef ANALYZED		/* by `make analyze`, which does not see into it */
#define fail(...) ({ \
	int err_ = (fail)(__VA_ARGS__); \
	if (err_ >= 0) \
		__builtin_unreachable(); \
	err_; \
})
#endif
/* The kept message, "" if none. Owned by base, valid until fail_clear(). */
const char *fail_text(void);
void fail_clear(void);
/*
 * What failed, kept while something is cleaned up that may fail, too, or handed from one thread to
 * another: fail_keep() takes the message away, and fail_give_back() puts it in the place of
 * whatever came to stand there.
 */
struct cause {
	char text[1024];
};
struct cause fail_keep(void);
void fail_give_back(const struct cause *);

/* Cleanup of our own memory and descriptors. What was done to the target is
 * undone by labels in reverse order instead, so that the undo is visible. */
static inline void base_freep(void *p)
{
	free(*(void **)p);
}

static inline void base_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define auto_free __attribute__((cleanup(base_freep)))
#define auto_close __attribute__((cleanup(base_closep)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Each argument is evaluated once: what is read of shared memory may be another the next time. */
#ifdef __CPPCHECK__	/* which does not understand that */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#else
#define MIN(a, b) BASE_CHOOSE(a, <, b, __COUNTER__)
#define MAX(a, b) BASE_CHOOSE(a, >, b, __COUNTER__)
#define BASE_CHOOSE(a, than, b, n) BASE_CHOOSE_AS(a, than, b, n)
#define BASE_CHOOSE_AS(a, than, b, n) ({ \
	const __typeof__((a) + (b)) base_a##n = (a), base_b##n = (b); \
	base_a##n than base_b##n ? base_a##n : base_b##n; })
#endif
#define ALIGN_UP(x, a) (((x) + (a) - 1) & ~((uint64_t)(a) - 1))
#define ALIGN_DOWN(x, a) ((x) & ~((uint64_t)(a) - 1))

/*
 * Grow an array by one. `arr` is a pointer variable, `n` its length and `cap`
 * its capacity; evaluates to a pointer to the new, zeroed element, or NULL
 * when memory is out (then nothing has changed).
 */
#define vec_push(arr, n, cap) \
	((n) < (cap) || base_grow((void **)&(arr), &(cap), sizeof(*(arr))) == 0 \
		 ? (typeof(arr))base_zero(&(arr)[(n)++], sizeof(*(arr))) \
		 : NULL)
/* `cap` is a size_t. 0 or -ENOMEM. */
int base_grow(void **arr, size_t *cap, size_t size);
void *base_zero(void *p, size_t size);

/* qsort, which wants no array of none: that may be NULL. */
#define vec_sort(arr, n, compare) do { \
	if ((n) > 1) \
		qsort(arr, (size_t)(n), sizeof(*(arr)), compare); \
} while (0)

/* Sort `n` elements of `size` bytes by the 64-bit number that each begins with, far
 * faster than qsort; those with the same may come to be in any order. */
void base_sort(void *v, size_t n, size_t size);

/*
 * How many elements, of the first on, fulfil `cond`, an expression of `i`; it
 * holds for none behind the first for which it does not: a binary search.
 */
#define vec_prefix(n, i, cond) ({ \
	size_t lo_ = 0, hi_ = (n); \
	while (lo_ < hi_) { \
		size_t i = lo_ + (hi_ - lo_) / 2; \
		if (cond) \
			lo_ = i + 1; \
		else \
			hi_ = i; \
	} \
	lo_; \
})

/* Like asprintf, but returns the string (owned by the caller) or NULL. */
char *base_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
