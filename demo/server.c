/* SPDX-License-Identifier: MIT */
/*
 * server [PORT]: a small key-value server, the target of the demo. It knows
 * nothing of being traced: plain -O2, stripped; what it exports (-rdynamic)
 * has names, its static functions have none.
 *
 *	SET key value	-> OK
 *	GET key		-> value, or NONE
 *
 * Eight threads accept and serve. Prints `listening on PORT` and runs until
 * its standard input ends or a signal comes.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define API __attribute__((noinline, visibility("default")))

enum { THREADS = 8, BUCKETS = 1024, KEY = 32, VALUE = 64, LINE = 128 };

struct entry {
	struct entry *next;
	char key[KEY], value[VALUE];
};

struct request {
	char verb[8], key[KEY], value[VALUE];
};

API int net_listen(uint16_t port, uint16_t *ret);
API int net_accept(int listener);
API ssize_t net_read(int fd, char *line, size_t size);
API int net_parse(const char *line, struct request *ret);
API int net_reply(int fd, const char *text);
API void net_handle(int fd, const struct request *rq);
API void net_serve(int fd);
API int kv_get(const char *key, char *ret);
API int kv_set(const char *key, const char *value);

static struct entry *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static unsigned hash(const char *key)
{
	unsigned h = 2166136261u;

	while (*key)
		h = (h ^ (unsigned char)*key++) * 16777619u;
	return h % BUCKETS;
}

/* Under the lock. */
__attribute__((noinline)) static struct entry *find(const char *key, unsigned h)
{
	struct entry *e = buckets[h];

	while (e && strcmp(e->key, key) != 0)
		e = e->next;
	return e;
}

int kv_get(const char *key, char *ret)
{
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find(key, hash(key));
	strcpy(ret, e ? e->value : "NONE");
	pthread_mutex_unlock(&lock);
	return e ? 0 : -1;
}

int kv_set(const char *key, const char *value)
{
	unsigned h = hash(key);
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find(key, h);
	if (!e) {
		e = calloc(1, sizeof(*e));
		if (e) {
			strcpy(e->key, key);
			e->next = buckets[h];
			buckets[h] = e;
		}
	}
	if (e)
		strcpy(e->value, value);
	pthread_mutex_unlock(&lock);
	return e ? 0 : -1;
}

int net_listen(uint16_t port, uint16_t *ret)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s, (struct sockaddr *)&a, len) || listen(s, 128) ||
	    getsockname(s, (struct sockaddr *)&a, &len))
		return -1;
	*ret = ntohs(a.sin_port);
	return s;
}

int net_accept(int listener)
{
	int one = 1, fd = accept(listener, NULL, NULL);

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* One line, its newline cut off; 0 at the end of the connection. Clients wait
 * for each answer, so a read holds one request. */
ssize_t net_read(int fd, char *line, size_t size)
{
	size_t n = 0;

	while (n < size - 1) {
		ssize_t got = read(fd, line + n, size - 1 - n);

		if (got <= 0)
			return 0;
		n += got;
		if (line[n - 1] == '\n') {
			line[n - 1] = '\0';
			return n;
		}
	}
	return 0;
}

int net_parse(const char *line, struct request *ret)
{
	int n = sscanf(line, "%7s %31s %63s", ret->verb, ret->key, ret->value);

	if (n == 2 && strcmp(ret->verb, "GET") == 0)
		return 0;
	return n == 3 && strcmp(ret->verb, "SET") == 0 ? 0 : -1;
}

int net_reply(int fd, const char *text)
{
	char line[LINE];
	int n = snprintf(line, sizeof(line), "%s\n", text);

	return write(fd, line, n) == n ? 0 : -1;
}

void net_handle(int fd, const struct request *rq)
{
	char value[VALUE];

	if (rq->verb[0] == 'G') {
		kv_get(rq->key, value);
		net_reply(fd, value);
	} else {
		net_reply(fd, kv_set(rq->key, rq->value) ? "ERROR" : "OK");
	}
}

void net_serve(int fd)
{
	struct request rq;
	char line[LINE];

	while (net_read(fd, line, sizeof(line)) > 0) {
		if (net_parse(line, &rq))
			net_reply(fd, "ERROR");
		else
			net_handle(fd, &rq);
	}
	close(fd);
}

static void *worker(void *listener)
{
	for (;;) {
		int fd = net_accept((int)(intptr_t)listener);

		if (fd >= 0)
			net_serve(fd);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint16_t port;
	int s = net_listen(argc > 1 ? atoi(argv[1]) : 0, &port);
	char c;

	if (s < 0) {
		perror("server: listen");
		return 1;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, worker, (void *)(intptr_t)s))
			return 1;
	}
	printf("listening on %u\n", port);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
