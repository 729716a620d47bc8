/* SPDX-License-Identifier: MIT */
/*
 * libraries: threads that keep the C library, the loader, libstdc++, libm and
 * libgcc_s busy in all the ways in which control moves oddly: exceptions,
 * longjmp, contexts, signals, children, libraries that come and go. Does each
 * result stay right?
 */
#include <csetjmp>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <map>
#include <cmath>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <vector>

#include "tests/victims/victim.h"

extern char **environ;
static char plugin[PATH_MAX + 16];

#define EXPECT(x) do { if (!(x)) victim_wrong("%s", #x); } while (0)

static void allocate(unsigned int n)
{
	std::map<std::string, std::vector<int>> m;

	for (unsigned int i = 0; i < 50; i++)
		m[std::to_string((i * 7919 + n) % 50)].assign(i * 10, (int)i);
	size_t sum = 0;
	for (auto &e : m)
		sum += e.second.size();
	EXPECT(m.size() == 50 && sum == 12250);
	char *p = (char *)malloc(100);
	for (size_t size = 100; p && size < 200000; size *= 3) {
		memset(p, 'x', size);
		p = (char *)realloc(p, size * 3);
		EXPECT(p && memchr(p, 'y', size) == nullptr && p[size - 1] == 'x');
	}
	free(p);
}

struct Base { virtual ~Base() {} };
struct Derived : Base { int x = 5; };

static int throwing(int depth)
{
	if (depth == 0)
		throw std::out_of_range("deep");
	return throwing(depth - 1) + depth;
}

static void raise_and_catch(unsigned int n)
{
	int caught = 0;

	try {
		throwing((int)(n % 10));
	} catch (const std::logic_error &e) {
		caught = std::string(e.what()) == "deep";
	}
	EXPECT(caught == 1);
	try {
		(void)std::stoi("no number");
	} catch (const std::invalid_argument &) {
		caught++;
	}
	EXPECT(caught == 2);
	Derived d;
	Base *b = &d;
	EXPECT(dynamic_cast<Derived *>(b) && dynamic_cast<Derived *>(b)->x == 5);
	std::ostringstream s;
	s << n << ' ' << 2.5 << ' ' << std::hex << 255u;
	EXPECT(s.str() == std::to_string(n) + " 2.5 ff");
}

static void *child_thread(void *arg)
{
	static thread_local std::string mine;

	mine = "thread";
	return mine.size() == 6 ? arg : nullptr;
}

static void threads_and_libraries(unsigned int n)
{
	pthread_t t;
	void *ret = nullptr;

	if (pthread_create(&t, nullptr, child_thread, plugin) == 0)
		pthread_join(t, &ret);
	EXPECT(ret == plugin);
	void *lib = dlopen(plugin, n % 2 ? RTLD_NOW : RTLD_LAZY);
	auto answer = lib ? (int (*)(int))dlsym(lib, "plugin_answer") : nullptr;
	EXPECT(answer && answer((int)n) == 3 * (int)n + 7);
	if (lib)
		dlclose(lib);
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void strings_and_sorting(unsigned int n)
{
	char a[300], b[300], text[64];
	int v[64];
	size_t len = 1 + n % 290;
	jmp_buf env;
	volatile int jumps = 0;

	memset(a, 'a', len);
	a[len] = 0;
	memmove(b + 1, a, len + 1);
	b[0] = 'b';
	EXPECT(strlen(b) == len + 1 && strcmp(a, b + 1) == 0 && strchr(b, 'a') == b + 1);
	EXPECT(memcmp(a, b + 1, len) == 0 && strrchr(b, 'b') == b);
	for (int i = 0; i < 64; i++)
		v[i] = (i * 37 + (int)n) % 64;
	qsort(v, 64, sizeof(*v), by_value);
	EXPECT(v[0] == 0 && v[63] == 63);
	if (setjmp(env) < 3)
		longjmp(env, ++jumps);
	EXPECT(jumps == 3);
	snprintf(text, sizeof(text), "%u %.3f %s", n, 1.5, "text");
	EXPECT(strstr(text, "1.500 text"));
}

static void mathematics(unsigned int n)
{
	double x = 0.1 + n % 100 / 10.0;
	long double y = x;

	EXPECT(fabs(sin(x) * sin(x) + cos(x) * cos(x) - 1) < 1e-12);
	EXPECT(fabs(exp(log(x)) - x) < 1e-12 && fabsl(expl(logl(y)) - y) < 1e-12L);
	EXPECT(fabs(pow(x, 2) - x * x) < 1e-9 && floor(x + 0.5) == rint(floor(x + 0.5)));
	EXPECT(fmaf(2, 3, 4) == 10);
}

struct contexts {
	ucontext_t main, other;
	int visits;
	char stack[65536];
};

static void other_context(unsigned int hi, unsigned int lo)
{
	auto c = (contexts *)((uint64_t)hi << 32 | lo);

	for (;;) {
		c->visits++;
		swapcontext(&c->other, &c->main);
	}
}

static void switch_contexts(unsigned int)
{
	std::vector<contexts> v(1);
	contexts *c = &v[0];
	uint64_t at = (uint64_t)c;

	getcontext(&c->other);
	c->other.uc_stack.ss_sp = c->stack;
	c->other.uc_stack.ss_size = sizeof(c->stack);
	makecontext(&c->other, (void (*)())other_context, 2, (unsigned int)(at >> 32),
		    (unsigned int)at);
	for (int i = 0; i < 10; i++)
		swapcontext(&c->main, &c->other);
	EXPECT(c->visits == 10);
}

/* Not often: it is slow with everything probed. */
static void children(unsigned int n)
{
	static const char *const argv[] = { "true", nullptr };
	pid_t pid;
	int status = -1;

	if (n % 32)
		return;
	if (posix_spawnp(&pid, "true", nullptr, nullptr, (char **)argv, environ) == 0)
		waitpid(pid, &status, 0);
	EXPECT(status == 0);
	pid = fork();
	if (pid == 0)
		_exit(7);
	if (pid > 0)
		waitpid(pid, &status, 0);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	int saved = errno;
	char text[32];

	snprintf(text, sizeof(text), "%d", sig);
	ticks = ticks + 1;
	errno = saved;
}

static void (*const works[])(unsigned int) = {
	allocate, raise_and_catch, threads_and_libraries, strings_and_sorting,
	mathematics, switch_contexts, children,
};

static void *run(void *arg)
{
	for (unsigned int n = (unsigned int)(uintptr_t)arg;; n++) {
		for (auto work : works)
			work(n);
		victim_count();
	}
	return nullptr;
}

int main()
{
	char exe[PATH_MAX] = "";
	pthread_t t[2];
	struct sigaction act = {};
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return 1;
	snprintf(plugin, sizeof(plugin), "%s/plugin.so", dirname(exe));
	act.sa_handler = on_tick;
	act.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &act, nullptr);
	setitimer(ITIMER_REAL, &often, nullptr);
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&t[i], nullptr, run, (void *)(i * 1000)))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, nullptr))
		;
	return victim_errors != 0;
}
