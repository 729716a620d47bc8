/* SPDX-License-Identifier: MIT */
#include "injector/options/recipe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "injector/log/say.h"
#include "injector/options/options_set.h"

enum {
	SIZE_MOST = 1 << 16,	/* bytes of one */
	DIRECTORIES = 4,
	NAMES_MOST = 256,
};

/* ---- where they are ------------------------------------------------------- */

/* "" where there is none. */
struct directories {
	char v[DIRECTORIES][PATH_MAX];
};

static void set_path(char *to, const char *begin, const char *end)
{
	if (snprintf(to, PATH_MAX, "%s%s", begin, end) >= PATH_MAX)
		*to = '\0';
}

/* The user's come before the machine's, and these before ours: as installed, or as built. */
static void list_directories(struct directories *d)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	memset(d, 0, sizeof(*d));
	if (config && *config == '/')
		set_path(d->v[0], config, "/inject/recipes");
	else if (home && *home == '/')
		set_path(d->v[0], home, "/.config/inject/recipes");
	set_path(d->v[1], "/etc/inject/recipes", "");
	exe[MAX(n, 0)] = '\0';
	char *slash = strrchr(exe, '/');

	if (!slash)
		return;
	*slash = '\0';
	set_path(d->v[2], exe, "/../share/inject/recipes");
	set_path(d->v[3], exe, "/../share/recipes");
}

static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && name[strlen(name) - 1] != '~';
}

/* Its descriptor, or -errno. */
static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int open_named(const char *name)
{
	struct directories d;

	if (strchr(name, '/'))
		return open_path(name);
	list_directories(&d);
	for (size_t i = 0; i < DIRECTORIES && is_name(name); i++) {
		auto_free char *path = *d.v[i] ? base_printf("%s/%s", d.v[i], name) : NULL;
		int fd = path ? open_path(path) : -ENOENT;

		if (fd != -ENOENT)
			return fd;
	}
	return -ENOENT;
}

/* All of its text; or NULL, and it was said why. */
static char *read_text(int fd, const char *name)
{
	struct stat st;
	char *text;
	size_t n = 0;
	ssize_t got = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fail(0, "the recipe %s is no file", name), NULL;
	if (st.st_size > SIZE_MOST)
		return fail(0, "the recipe %s is larger than 64 KiB", name), NULL;
	text = calloc(1, SIZE_MOST + 1);
	if (!text)
		return fail(ENOMEM, "read the recipe %s", name), NULL;
	while (n < SIZE_MOST && (got = read(fd, text + n, SIZE_MOST - n)) > 0)
		n += (size_t)got;
	if (got >= 0 && !memchr(text, 0, n))
		return text;
	if (got < 0)
		fail(errno, "read the recipe %s", name);
	else
		fail(0, "the recipe %s is no text: there is a NUL in it", name);
	free(text);
	return NULL;
}

static int open_text(const char *name, char **ret)
{
	int fd = open_named(name);
	auto_free char *there = NULL;

	if (fd == -ENOENT && !strchr(name, '/')) {
		there = recipe_list();
		return fail(0, "no recipe '%s'; there are:\n%s", name, there ? there : "");
	}
	if (fd < 0)
		return fail(-fd, "read the recipe %s", name);
	*ret = read_text(fd, name);
	close(fd);
	return *ret ? 0 : -EINVAL;
}

/* ---- what they say -------------------------------------------------------- */

static bool may_say(int key)
{
	static const int keys[] = {
		'f', 'N', OPT_AROUND, OPT_FROM, OPT_TO, OPT_BY, 'A', 'w', 't', 'D', 's', OPT_DEEP,
		OPT_STACK, OPT_FOLLOW_FORK, OPT_OFF_CPU,
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i] == key)
			return true;
	return false;
}

static const struct option_def *option_named(const char *name)
{
	for (size_t i = 0; i < (size_t)OPTION_DEFS; i++)
		if (!strcmp(option_defs[i].getopt.name, name) && may_say(option_defs[i].getopt.val))
			return &option_defs[i];
	return NULL;
}

static int take_line(struct options *o, char *line)
{
	size_t n = strcspn(line, " \t");
	char *value = line + n + strspn(line + n, " \t");
	const struct option_def *def;

	if (line[n])
		line[n] = '\0';
	def = option_named(line);
	if (!def)
		return fail(0, "%s is no option of a recipe", line);
	if (*value && def->getopt.has_arg == no_argument)
		return fail(0, "%s takes no value", line);
	if (!*value && def->getopt.has_arg == required_argument)
		return fail(0, "%s wants a value", line);
	return options_set(o, def, value);
}

static void trim(char *line)
{
	size_t n = strlen(line);

	while (n && strchr(" \t\r", line[n - 1]))
		line[--n] = '\0';
}

int recipe_take(const char *name, struct options *ret)
{
	char *rest, *line;
	int number = 0, err = open_text(name, &ret->recipe_text);

	if (err)
		return err;
	ret->recipe = name;
	for (rest = ret->recipe_text; !err && (line = strsep(&rest, "\n")); number++) {
		line += strspn(line, " \t");
		trim(line);
		if (*line && *line != '#')
			err = take_line(ret, line);
	}
	if (!err)
		return 0;
	struct cause cause = fail_keep();

	return fail(0, "recipe %s, line %d: %s", name, number, cause.text);
}

/* ---- the list ------------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void list_one(FILE *f, const char *name)
{
	const char *title = "";
	char *text = NULL;
	int fd = open_named(name);

	if (fd < 0)
		return;
	text = read_text(fd, name);
	close(fd);
	if (text)
		title = text + strspn(text, "# ");
	else
		fail_clear();
	fprintf(f, "  %-16s %.*s\n", name, (int)strcspn(title, "\n"), title);
	free(text);
}

/* Each name once: the first directory that has it is meant. */
static size_t collect(const struct directories *d, char *names[NAMES_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < DIRECTORIES; i++) {
		DIR *dir = *d->v[i] ? opendir(d->v[i]) : NULL;
		struct dirent *e;

		while (dir && n < NAMES_MOST && (e = readdir(dir))) {
			bool known = !is_name(e->d_name);

			for (size_t k = 0; k < n && !known; k++)
				known = !strcmp(names[k], e->d_name);
			if (!known && (names[n] = strdup(e->d_name)))
				n++;
		}
		if (dir)
			closedir(dir);
	}
	return n;
}

char *recipe_list(void)
{
	char *names[NAMES_MOST], *text = NULL;
	struct directories d;
	size_t size, n;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	list_directories(&d);
	n = collect(&d, names);
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		list_one(f, names[i]);
		free(names[i]);
	}
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
