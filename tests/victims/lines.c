/* SPDX-License-Identifier: MIT */
/*
 * lines: prints what its variables have at some of its lines. (live/lines compiles it itself,
 * in many ways.)
 *
 * lines FILE ROUNDS: print to FILE "LINE: NAME=VALUE, ..." each time that control comes to a line
 * with one of SHOW; and a sum of all that was computed, to standard output.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wshadow"

static FILE *told;

#define TELL(...) (fprintf(told, "%d: ", __LINE__), fprintf(told, __VA_ARGS__))
#define SHOW_1() TELL("v=%d, why=\"%s\", r=%d\n", v, why, r)
#define SHOW_2() TELL("n=%d, name=\"%s\", p=&{x=%d, y=%d, w=%.12g}, q={x=%d, y=%d, w=%.12g}, " \
	"i=%d, calls=%d, sum=%d\n", n, name, p->x, p->y, p->w, q.x, q.y, q.w, i, calls, \
	sum)
#define SHOW_3() TELL("n=%d, name=\"%s\", p=&{x=%d, y=%d, w=%.12g}, calls=%d, sum=%d\n", n, \
	name, p->x, p->y, p->w, calls, sum)
#define SHOW_4() TELL("d=%ld, f=%.12g, c=%u, wide=%ld, twice=%.12g\n", (long)d, f, c, \
	(long)wide, twice)
#define SHOW_5() TELL("d=%.12g, f=%.12g, c=%u, wide=%ld, colour=%s, twice=%.12g\n", d, f, c, \
	(long)wide, colour == RED ? "RED" : "GREEN", twice)
#define SHOW_6() TELL("d=%.12g, f=%.12g, c=%u, wide=%ld, twice=%.12g\n", d, f, c, (long)wide, \
	twice)
#define SHOW_7() TELL("depth=%d, by_value={x=%d, y=%d, w=%.12g}, words=[%ld, %ld, %ld, %ld], " \
	"at=&%ld\n", depth, by_value.x, by_value.y, by_value.w, (long)words[0], \
	(long)words[1], (long)words[2], (long)words[3], (long)*at)

/* Memory has what the lines before have stored: debug information does not say where it has not
 * yet. */
#define STORED(what) __asm__ volatile("" : "+m"(what))

struct point {
	int x, y;
	double w;
};

enum colour { RED, GREEN = 5 };

static int64_t total;

static inline __attribute__((always_inline)) int scaled(int v, const char *why)
{
	int r = v * 3 + why[0];

	SHOW_1();
	total += r;
	return r;
}

static __attribute__((noinline)) int in_loops(int n, const char *name, struct point *p)
{
	static int calls = 100;
	int sum = 0;

	calls++;
	for (int i = 0; i < n; i++) {
		struct point q = { i, n, i * 0.5 };

		sum += scaled(i, name);
		q.y += sum;
		STORED(q);
		SHOW_2();
		p->x += q.y;
		STORED(*p);
	}
	SHOW_3();
	return sum;
}

static __attribute__((noinline)) double in_blocks(double d, float f, unsigned char c,
						  int64_t wide)
{
	double twice = d * 2;

	if (c & 1) {
		int64_t d = wide - 7;	/* hides the parameter */

		SHOW_4();
		twice += d;
	} else {
		enum colour colour = c & 2 ? RED : GREEN;

		SHOW_5();
		twice -= colour + f;
	}
	SHOW_6();
	return twice;
}

/* Each call deeper has a frame of its own. */
static __attribute__((noinline)) int64_t in_frames(int depth, struct point by_value)
{
	int64_t words[4] = { depth, depth + 1, depth + 2, depth + 3 };
	int64_t *at = &words[depth & 3];

	by_value.x += depth;
	STORED(by_value);
	SHOW_7();
	if (depth > 0)
		*at += in_frames(depth - 1, by_value);
	return words[0] + words[1] + words[2] + words[3];
}

int main(int argc, char **argv)
{
	struct point p = { 1, 2, 2.5 };
	int64_t sum = 0;

	told = argc == 3 ? fopen(argv[1], "w") : NULL;
	if (!told)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		sum += in_loops(i & 3, i & 1 ? "odd" : "even", &p);
		sum += (int64_t)in_blocks(i * 0.5, (float)i / 4, (unsigned char)i,
					  (int64_t)i << 33);
		sum += in_frames(i % 3, p);
	}
	fclose(told);
	printf("%ld\n", (long)(sum + total));
	return 0;
}
