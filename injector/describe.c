/* SPDX-License-Identifier: MIT */
/* describe: what is to be known of a recording beside its events? */
#include "injector/describe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "injector/procfs.h"

static void put_build_id(const struct symbols *s, char ret[41])
{
	for (size_t i = 0; s && i < s->build_id_len; i++)
		ret += snprintf(ret, 3, "%02x", s->build_id[i]);
}

static char *read_exe(pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[MAX(n, 0)] = '\0';
	return strdup(path);
}

int describe(pid_t pid, const struct modules *mods, struct description *ret)
{
	*ret = (struct description){ .exe = read_exe(pid) };
	ret->modules = calloc(mods->n + 1, sizeof(*ret->modules));
	if (!ret->exe || !ret->modules) {
		describe_clear(ret);
		return fail(ENOMEM, "describe process %d", pid);
	}
	gethostname(ret->host, sizeof(ret->host) - 1);
	procfs_comm(pid, ret->comm, sizeof(ret->comm));
	for (size_t i = 0; i < mods->n; i++) {
		ret->modules[i].path = mods->v[i].path;
		ret->modules[i].base = mods->v[i].bias;
		put_build_id(mods->v[i].symbols, ret->modules[i].build_id);
	}
	ret->about = (struct about){
		.host = ret->host, .program = ret->comm, .exe = ret->exe, .pid = pid,
		.modules = ret->modules, .nmodules = mods->n,
	};
	return 0;
}

void describe_clear(struct description *d)
{
	free(d->exe);
	free(d->modules);
	*d = (struct description){ 0 };
}

bool describe_thread(void *ctx, int32_t tid, char name[16])
{
	char comm[64];

	procfs_comm(tid, comm, sizeof(comm));
	if (strcmp(comm, "?") == 0)
		return false;
	memset(name, 0, 16);
	memcpy(name, comm, MIN(strlen(comm), (size_t)15));
	return true;
}
