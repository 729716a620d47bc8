/* SPDX-License-Identifier: MIT */
/* listen PATH: print each datagram that comes to a socket there, one a line, as the
 * system's log would; `ready` first. Ends when it is killed. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	char text[4096];
	ssize_t n;

	if (argc != 2 || fd < 0 || strlen(argv[1]) >= sizeof(at.sun_path))
		return 2;
	strcpy(at.sun_path, argv[1]);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		perror("listen");
		return 1;
	}
	puts("ready");
	for (;;) {
		fflush(stdout);
		n = recv(fd, text, sizeof(text), 0);
		if (n < 0)
			return 1;
		printf("%.*s\n", (int)n, text);
	}
}
