// SPDX-License-Identifier: MIT
// Exceptions through many frames, containers, streams, threads: libstdc++ and the unwinder.
#include <algorithm>
#include <any>
#include <atomic>
#include <chrono>
#include <codecvt>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

struct base {
	virtual ~base() = default;
	virtual int f(int n) { return n; }
};
struct left : virtual base {
	int f(int n) override { return n + 1; }
};
struct right : virtual base {};
struct both : left, right {
	int f(int n) override { return left::f(n) * 2; }
};
struct guard {
	int &n;
	~guard() { n++; }
};

__attribute__((noinline)) static int thrower(int n, int &count) {
	guard g{count};

	if (n == 0)
		switch (count % 5) {
		case 0:
			throw std::runtime_error("runtime");
		case 1:
			throw 5;
		case 2:
			throw std::string("text");
		case 3:
			return (int)std::vector<int>().at(3);
		default:
			(void)dynamic_cast<both &>(*std::make_unique<base>());
		}
	try {
		return thrower(n - 1, count) + 1;
	} catch (const std::logic_error &) {
		throw;
	} catch (int i) {
		if (n % 3 == 0)
			throw i + 1;
		throw;
	}
}

static void turn(int t) {
	int count = t;

	try {
		thrower(10, count);
	} catch (const std::exception &e) {
		std::string(e.what()).append("x");
	} catch (int) {
	} catch (...) {
		auto p = std::current_exception();
		try {
			std::rethrow_exception(p);
		} catch (const std::string &s) {
			(void)s.size();
		}
	}
	std::ostringstream o;
	o << std::setw(10) << std::hex << t << ' ' << std::fixed << std::setprecision(3)
	  << 3.14159 << ' ' << std::scientific << 1e100 << std::boolalpha << true << (void *)&o
	  << std::quoted("a\"b") << 'c' << 1.5L;
	std::istringstream in("12 0x1f abc 3.5e3 true");
	int a;
	std::string s;
	double d;
	in >> a >> s >> s >> d;
	std::string rest;
	std::getline(in, rest);
	std::map<std::string, int> m;
	std::unordered_map<int, std::string> u;
	std::multiset<int> ms;
	std::list<int> l;
	std::deque<int> dq;
	for (int i = 0; i < 200; i++) {
		m[std::to_string(i * 7919 % 211)]++;
		u[i] = std::string(i, 'x');
		ms.insert(i % 7);
		l.push_front(i);
		dq.push_back(i);
		dq.push_front(i);
		if (i % 3 == 0) {
			m.erase(m.begin());
			u.erase(i / 2);
			ms.erase(ms.begin());
			dq.pop_front();
		}
	}
	l.sort();
	l.reverse();
	l.unique();
	std::vector<int> v(500);
	std::iota(v.begin(), v.end(), 0);
	std::mt19937_64 r(t);
	std::shuffle(v.begin(), v.end(), r);
	std::sort(v.begin(), v.end());
	std::stable_sort(v.begin(), v.end(), std::greater<>());
	std::nth_element(v.begin(), v.begin() + 9, v.end());
	std::normal_distribution<> nd;
	nd(r);
	std::regex re("(\\w+)-([0-9]{2,4})|x*?y", std::regex::icase);
	std::smatch sm;
	std::string text = "foo-123 bar-45 " + rest;
	std::regex_search(text, sm, re);
	std::regex_replace(text, re, "$2$1");
	std::variant<int, std::string> va = "x";
	try {
		std::get<int>(va);
	} catch (const std::bad_variant_access &) {
	}
	std::any an = 5;
	try {
		std::any_cast<double>(an);
	} catch (const std::bad_any_cast &) {
	}
	try {
		std::stoi("zz");
	} catch (const std::invalid_argument &) {
	}
	try {
		std::string("x").substr(5);
	} catch (const std::out_of_range &) {
	}
	try {
		std::locale("nowhere");
	} catch (const std::runtime_error &) {
	}
	std::function<int(int)> f = [&](int n) { return n + t; };
	f(1);
	std::wostringstream w;
	w << L"wide" << 5 << 2.5;
	std::u16string u16 =
	    std::wstring_convert<std::codecvt_utf8_utf16<char16_t>, char16_t>().from_bytes(
		"\xc3\xbc");
	std::ofstream("cc.out") << text << std::endl;
	std::ifstream file("cc.out");
	std::string line;
	while (std::getline(file, line)) {
	}
	auto fu = std::async(std::launch::async, [] {
		throw std::domain_error("thread");
		return 1;
	});
	try {
		fu.get();
	} catch (const std::domain_error &) {
	}
	std::mutex mu;
	std::condition_variable cv;
	bool ready = false;
	std::thread th([&] {
		std::lock_guard<std::mutex> k(mu);
		ready = true;
		cv.notify_one();
	});
	{
		std::unique_lock<std::mutex> k(mu);
		cv.wait(k, [&] { return ready; });
	}
	th.join();
	std::shared_ptr<base> sp = std::make_shared<both>();
	std::weak_ptr<base> wp = sp;
	if (auto *bo = dynamic_cast<both *>(sp.get()))
		bo->f(1);
	dynamic_cast<right *>(sp.get());
	std::string(typeid(*sp).name()).find("both");
	std::cout << std::put_money("123")
		  << std::put_time(std::gmtime(std::make_unique<time_t>(0).get()), "%c")
		  << '\n';
}

int main() {
	for (int t = 0; t < 20; t++)
		turn(t);
	return 0;
}
