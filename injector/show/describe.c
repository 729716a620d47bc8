/* SPDX-License-Identifier: MIT */
/* describe: what is to be known of a recording beside its events? */
#include "injector/show/describe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "injector/proc/procfs.h"

void describe_build_id(const struct symbols *s, char ret[BUILD_ID_TEXT])
{
	ret[0] = '\0';
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

int describe_modules(struct description *d, const struct modules *mods)
{
	for (size_t i = 0; i < mods->n; i++) {
		struct about_module *m = vec_push(d->modules, d->about.nmodules, d->modules_cap);

		if (!m)
			return fail(ENOMEM, "describe %s", mods->v[i].path);
		m->path = mods->v[i].path;
		m->base = mods->v[i].bias;
		describe_build_id(mods->v[i].symbols, m->build_id);
		d->about.modules = d->modules;
	}
	return 0;
}

int describe(pid_t pid, const struct modules *mods, struct description *ret)
{
	*ret = (struct description){ .exe = read_exe(pid) };
	int err = ret->exe ? 0 : fail(ENOMEM, "describe process %d", pid);

	gethostname(ret->host, sizeof(ret->host) - 1);
	procfs_comm(pid, ret->comm, sizeof(ret->comm));
	ret->about = (struct about){
		.host = ret->host, .program = ret->comm, .exe = ret->exe, .pid = pid,
	};
	err = err ? err : describe_modules(ret, mods);
	if (err)
		describe_clear(ret);
	return err;
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
