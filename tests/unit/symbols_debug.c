/* SPDX-License-Identifier: MIT */
/* Are the names of a stripped file found where they were put, and only there:
 * the debug file of another build, a pipe, a bomb are left alone? */
#include "tests/unit/symbols_world.h"

static char root[512];

static void check_at(int line, const char *file, const char *func,
		     enum func_source source)
{
	struct symbols *s = world_symbols(file);
	const struct func *f;

	world_check_invariants(s);
	f = world_find(s, func);
	must_equal(__FILE__, line, func, f ? f->source : FUNC_EH_FRAME, source);
	symbols_close(s);
}

#define check(file, func, source) check_at(__LINE__, file, func, source)
#define check_nameless(file) check(file, "secret", FUNC_EH_FRAME)

static void build(void)
{
	world_write("s.c",
		"static __attribute__((noinline)) int secret(int a)\n"
		"{ return a * 7 + *(volatile int *)&a; }\n"
		"int shown(int a) { return secret(a) + 1; }\n"
		"int main(int n, char **v) { (void)v; return shown(n); }\n");
	MUST_EQ(world_run("%s -g -O1 -rdynamic -o full s.c", world_cc), 0);
	MUST_EQ(world_run("%s -g -O1 -Wl,--build-id=none -o noid s.c", world_cc), 0);
	MUST_EQ(world_run("%s -g -O0 -o other s.c", world_cc), 0);
	MUST_EQ(world_run("%s -g -O0 -Wl,--build-id=none -o other.noid s.c",
			   world_cc), 0);
	MUST_EQ(world_run("objcopy --only-keep-debug full full.dbg && "
			   "objcopy --only-keep-debug noid noid.dbg && "
			   "objcopy --only-keep-debug other other.dbg && "
			   "objcopy --only-keep-debug other.noid other.noid.dbg"), 0);
	MUST_EQ(world_run("strip -o stripped full && strip -o noid.stripped noid"), 0);
	MUST_EQ(world_run("mkdir root"), 0);
	snprintf(root, sizeof(root), "%s/root", world_dir);
	symbols_set_debug_root(root);
}

static void by_build_id(void)
{
	struct symbols *s = world_symbols("stripped");
	char path[64];
	int n = snprintf(path, sizeof(path), "root/.build-id/%02x/",
			 s->build_id[0]);

	for (int i = 1; i < s->build_id_len; i++)
		n += snprintf(path + n, sizeof(path) - n, "%02x",
			      s->build_id[i]);
	symbols_close(s);
	check_nameless("stripped");
	check("stripped", "shown", FUNC_DYNSYM);
	MUST_EQ(world_run("mkdir -p $(dirname %s) && cp full.dbg %s.debug",
			   path, path), 0);
	check("stripped", "secret", FUNC_DEBUG);
	check("stripped", "shown", FUNC_DYNSYM);
	MUST_EQ(world_run("cp other.dbg %s.debug", path), 0);
	check_nameless("stripped");
	MUST_EQ(world_run("head -c 3000 full.dbg >%s.debug", path), 0);
	check_nameless("stripped");
	MUST_EQ(world_run("rm %s.debug && mkfifo %s.debug", path, path), 0);
	check_nameless("stripped");
	MUST_EQ(world_run("rm -r root/.build-id"), 0);
	/* A file that has its symbols does not need another. */
	check("full", "secret", FUNC_SYMTAB);
}

static void by_link(const char *stripped, const char *debug, const char *other)
{
	MUST_EQ(world_run("cp %s d.debug && "
			   "objcopy --add-gnu-debuglink=d.debug %s linked && rm d.debug",
			   debug, stripped), 0);
	check_nameless("linked");
	MUST_EQ(world_run("cp %s d.debug", debug), 0);
	check("linked", "secret", FUNC_DEBUG);
	MUST_EQ(world_run("cp %s d.debug", other), 0);
	check_nameless("linked");
	MUST_EQ(world_run("rm d.debug; mkdir -p .debug && cp %s .debug/d.debug",
			   debug), 0);
	check("linked", "secret", FUNC_DEBUG);
	MUST_EQ(world_run("rm .debug/d.debug; mkdir -p 'root%s' && "
			   "cp %s 'root%s/d.debug'", world_dir, debug, world_dir), 0);
	check("linked", "secret", FUNC_DEBUG);
	MUST_EQ(world_run("rm 'root%s/d.debug'; mkfifo d.debug", world_dir), 0);
	check_nameless("linked");
	MUST_EQ(world_run("rm d.debug"), 0);
}

/* A link that names a path is not followed. */
static void ignores_paths(void)
{
	MUST_EQ(world_run("cp full.dbg ./d.debug && cp full.dbg a.debug && "
			   "objcopy --add-gnu-debuglink=d.debug stripped linked && "
			   "sed -i 's#d\\.debug#./debug#' linked && "
			   "rm d.debug && cp a.debug debug"), 0);
	check_nameless("linked");
	MUST_EQ(world_run("rm debug"), 0);
}

/* The table that was left in the file, packed; and one that is a bomb. */
static void in_the_file(void)
{
	if (!world_has("xz")) {
		printf("not tested: .gnu_debugdata (no xz)\n");
		return;
	}
	MUST_EQ(world_run("objcopy --only-keep-debug full m && strip -g m && "
			   "xz -k m && objcopy --add-section "
			   ".gnu_debugdata=m.xz stripped mini"), 0);
	check("mini", "secret", FUNC_MINIDEBUG);
	MUST_EQ(world_run("head -c 200 m.xz >cut.xz && objcopy --add-section "
			   ".gnu_debugdata=cut.xz stripped mini"), 0);
	check_nameless("mini");
	MUST_EQ(world_run("(cat m; head -c 400000000 /dev/zero) | xz -0 >bomb.xz && "
			   "objcopy --add-section .gnu_debugdata=bomb.xz stripped mini"), 0);
	check_nameless("mini");
}

int main(void)
{
	world_open();
	build();
	by_build_id();
	by_link("stripped", "full.dbg", "other.dbg");
	by_link("noid.stripped", "noid.dbg", "other.noid.dbg");
	ignores_paths();
	in_the_file();
	return 0;
}
