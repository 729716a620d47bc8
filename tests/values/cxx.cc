/* SPDX-License-Identifier: MIT */
/* Functions that take and return classes of the C++ library: live/values_cxx.sh has what is to be
 * printed of them. */
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define FUNCTION extern "C" __attribute__((noinline))

namespace {
volatile long used;

template<class T> void use(const T &t)
{
	used = used + *reinterpret_cast<const volatile char *>(&t);
}
}

struct item {
	int a;
	std::string n;
};

FUNCTION int f1(const std::string &s, std::string_view v, std::string by_value)
{
	use(s), use(v), use(by_value);
	return int(s.size() + v.size() + by_value.size());
}

FUNCTION long f2(const std::vector<int> &v, std::unique_ptr<int> p, std::optional<long> o)
{
	use(v), use(p), use(o);
	return v[0] + *p + o.value_or(3);
}

FUNCTION std::string f3(const item &s, std::vector<std::string> *v)
{
	use(s), use(*v);
	return s.n + (*v)[0];
}

FUNCTION int f4(std::shared_ptr<int> p, std::optional<std::string> o, std::vector<item> v, bool &b)
{
	use(p), use(o), use(v), use(b);
	return *p + bool(o) + int(v.size()) + b;
}

FUNCTION std::vector<double> f5(int n)
{
	return std::vector<double>(size_t(n), 1.5);
}

FUNCTION int f6(const char &c, char &d, const std::string &s)
{
	use(c), use(d), use(s);
	return c + d + int(s.size());
}

struct numbers {
	int n;
	int more[];
};

struct letters {
	int n;
	char more[];
};

FUNCTION int f7(const numbers *p, const letters *q)
{
	use(*p), use(*q);
	return p->more[0] + q->more[0];
}

// clang has nothing of what is passed by its address, and not used.
__attribute__((noinline)) item g1(item, int y)
{
	use(y);
	return item{y, "made"};
}

// gcc declares a destructor of a class that is within a function.
template<class T> __attribute__((noinline)) long local_call(T t, int y)
{
	use(y);
	return t(y);
}

int main(int, char **)
{
	char text[] = "text";
	std::vector<std::string> strings{"first", "a long string that is not short at all, really"};
	bool b = true;
	long sum = 0;

	sum += f1("xx", "view\n", "short");
	sum += f1(std::string(100, 'x'), "", "0123456789012345");
	sum += f2({1, 2, 3}, std::make_unique<int>(7), 5);
	sum += f2({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
		  std::make_unique<int>(7), {});
	sum += long(f3(item{1, "in struct"}, &strings).size());
	sum += f4(std::make_shared<int>(9), "opt", {{1, "one"}, {2, "two"}}, b);
	sum += f4(std::make_shared<int>(9), {}, {}, b);
	sum += long(f5(3).size() + f5(0).size());

	int behind[] = {1, 2};
	int letters_behind[] = {1, 'x'};
	sum += f6(text[0], text[2], text);
	sum += f7(reinterpret_cast<numbers *>(behind), reinterpret_cast<letters *>(letters_behind));
	sum += long(g1(item{3, "unused"}, 48).n.size());
	struct local {
		double a;
		long operator()(int y) const { return long(a) + y; }
	};
	sum += local_call(local{1.5}, 3);
	sum += local_call([n = strings[0]](int y) { return long(n.size()) + y; }, 3);
	used = sum;
	return 0;
}
