#!/bin/bash
# SPDX-License-Identifier: MIT
# balance_rust: a server in Rust answers as without probes, with every function of its
# own, of Rust's standard library and of the C library probed, in programs that are
# optimised or not, that have the standard library in them or not, and whose panics
# unwind or abort. Each call that does not return was left by a panic, which the server
# has counted. With SOAK there are more requests.
# timeout: 1800
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/balance_lib.sh
. "$ROOT/tests/balance_lib.sh"

[ -x "$VICTIMS/rust_http" ] || skip "no Rust compiler here"
requests=${SOAK:+20}160
[ -z "${SOAK:-}" ] || buffer=1G

# What panics have left, in Rust 1.63 and 1.95: panics that begin in core, those with any
# value, and those that go on; which by now are the server's own functions, by closures
# where nothing is optimised.
left_by_panics()
{
	local index unwrap any die core on closures again caught

	awk '$1 == "made" { print "rust_http::" $2, $4, $3 }' probed.out
	index=$(cause index) unwrap=$(cause unwrap) any=$(cause any) die=$(cause die)
	again=$(cause again)
	core=$(($(cause panic) + die + index + unwrap))
	on=$(($(cause resume) + again))
	closures=$((core - die + any + $(cause resume) - 1))	# the last one's not
	caught=$((closures + die + 1))
	cat <<LEFT
core::panicking::panic_bounds_check $index
<alloc::vec::Vec<T,A>ascore::ops::index::Index<I>>::index $index
<usizeascore::slice::index::SliceIndex<[T]>>::index $index
core::slice::index::<implcore::ops::index::Index<I>for[T]>::index $index
core::panicking::panic $unwrap
core::option::unwrap_failed $unwrap
core::panicking::panic_fmt $core
rust_begin_unwind $core
__rustc::rust_begin_unwind $core
std::panicking::begin_panic_handler::{{closure}} $core
std::panicking::panic_handler::{closure#0} $core
std::sys::backtrace::__rust_end_short_backtrace::<std::panicking::panic_handler::{closure#0},!> $core
std::sys::backtrace::__rust_end_short_backtrace $any
std::sys_common::backtrace::__rust_end_short_backtrace $((any + ${1:-core}))
std::panic::panic_any $any
std::panicking::begin_panic $any
std::panicking::begin_panic::{{closure}} $any
std::panicking::rust_panic_with_hook $((core + any))
std::panicking::panic_with_hook $((core + any))
std::panic::resume_unwind $on
std::panicking::resume_unwind $on
std::panicking::rust_panic_without_hook $on
rust_panic $((core + any + on))
__rustc::rust_panic $((core + any + on))
std::sys_common::backtrace::__rust_begin_short_backtrace $((die + 1))
std::sys::backtrace::__rust_begin_short_backtrace $((die + 1))
std::thread::Builder::spawn_unchecked_::{{closure}}::{{closure}} $((die + 1))
std::thread::lifecycle::spawn_unchecked::{{closure}}::{{closure}} $((die + 1))
rust_http::hire::{{closure}} $die
rust_http::last_words::{{closure}} 1
rust_http::serve::{{closure}} $closures
rust_http::again::{{closure}} $again
core::ops::function::FnOnce::call_once $closures
<core::panic::unwind_safe::AssertUnwindSafe<F>ascore::ops::function::FnOnce<()>>::call_once $caught
std::panicking::try::do_call $((caught + again))
std::panicking::catch_unwind::do_call $((caught + again))
libc.so.6? $(cause threads)
LEFT
}

# What a standard library without a symbol table, as Debian's, has no names for: the
# handler of panics in two functions, and a panic that goes on.
left_by_nameless()
{
	local library path core

	read -r library _ path _ < <(ldd "$VICTIMS/rust_dynamic" | grep libstd-)
	[ -z "$(nm "$path" 2>/dev/null)" ] || return 0
	core=$(($(cause panic) + $(cause die) + $(cause index) + $(cause unwrap)))
	echo "$library? $((2 * core + $(cause resume) + $(cause again)))"
}

RUST_BACKTRACE=1 program http '* *@*' "$VICTIMS/rust_http" "$requests"
left_by_panics >left
balanced http '@ld-linux'

RUST_BACKTRACE=0 program debug '* *@*' "$VICTIMS/rust_debug" "${SOAK:+20}32"
{ left_by_panics; echo "core::option::Option<T>::unwrap $(cause unwrap)"; } >left
balanced debug '@ld-linux'

RUST_BACKTRACE=1 program dynamic '* *@*' "$VICTIMS/rust_dynamic" "$requests"
{ left_by_panics 0; left_by_nameless; } >left
balanced dynamic '@ld-linux'

ENDS=134 RUST_BACKTRACE=1 program abort '* *@*' "$VICTIMS/rust_abort" "$requests"
awk '$1 == "made" { print "rust_http::" $2, $4, $3 }' probed.out >left
echo "libc.so.6? $(cause threads)" >>left
balanced abort '@ld-linux'
