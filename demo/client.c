/* SPDX-License-Identifier: MIT */
/*
 * client PORT SECONDS [CONNECTIONS [PAUSE_US]]: load for the demo's server,
 * bounded in time and rate. Reads back what it has written. Prints
 * `N requests, N errors`; exit status 1 if there were errors.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int port, pause_us = 500;
static double until;
static unsigned long requests, errors;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(s, (struct sockaddr *)&a, sizeof(a))) {
		close(s);
		return -1;
	}
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return s;
}

/* Send a line, and expect one. */
static bool ask(int s, const char *line, const char *want)
{
	char got[128];
	size_t n = 0, len = strlen(line);

	if (write(s, line, len) != (ssize_t)len)
		return false;
	do {
		ssize_t r = read(s, got + n, sizeof(got) - n);

		if (r <= 0)
			return false;
		n += r;
	} while (got[n - 1] != '\n' && n < sizeof(got));
	return n == strlen(want) && memcmp(got, want, n) == 0;
}

/* A connection: twenty pairs of SET and GET. */
static void converse(int id, int round)
{
	char line[128], want[64];
	int s = dial();

	for (int i = 0; i < 20; i++) {
		bool good;

		snprintf(line, sizeof(line), "SET key%d.%d %d\n", id, i, round);
		good = s >= 0 && ask(s, line, "OK\n");
		snprintf(line, sizeof(line), "GET key%d.%d\n", id, i);
		snprintf(want, sizeof(want), "%d\n", round);
		good = good && ask(s, line, want);
		__atomic_fetch_add(&requests, 2, __ATOMIC_RELAXED);
		if (!good)
			__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED);
		usleep(pause_us);
	}
	close(s);
}

static void *connection(void *id)
{
	for (int round = 1; now() < until; round++)
		converse((intptr_t)id, round);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int n = argc > 3 ? atoi(argv[3]) : 4;

	if (argc < 3 || n < 1 || n > 64) {
		fprintf(stderr, "usage: client PORT SECONDS [CONNECTIONS "
				"[PAUSE_US]]\n");
		return 2;
	}
	port = atoi(argv[1]);
	until = now() + atof(argv[2]);
	if (argc > 4)
		pause_us = atoi(argv[4]);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, connection, (void *)(intptr_t)i))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%lu requests, %lu errors\n", requests, errors);
	return errors != 0;
}
