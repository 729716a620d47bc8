#!/bin/bash
# SPDX-License-Identifier: MIT
# real_suites: the test suites of python3, lua and sqlite find the same
# with every function of the program probed, with those of the C library, and
# while inject comes and goes all the time. With SOAK much more of them. What
# Debian does not install of them comes from tools/suites.sh, in BUILD/suites.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/suite_lib.sh
. "$ROOT/tests/suite_lib.sh"

SUITES=$BUILD/suites
python=$(readlink -f /usr/bin/python3 || true)
tests=(test_generators)
[ -z "${SOAK:-}" ] || tests+=(
	test_{ctypes,json,re,pickle,dict,list,exceptions,threading,decimal,zlib,coroutines}
	test_{signal,subprocess,ssl,asyncio,faulthandler,mmap,posix,wait4,fork1}
	test_{__future__,_xxsubinterpreters,array,asynchat,atexit,audioop,bdb,bool}
	test_{c_locale_coercion,call,cgitb,codecencodings_hk,codecencodings_iso2022}
	test_{codecencodings_jp,codecencodings_tw,codeop,colorsys,compile,configparser}
	test_{contextlib_async,datetime,dbm_gnu,defaultdict,dict_version,doctest}
	test_{docxmlrpc,dynamicclassattribute,enumerate,epoll,except_star}
	test_{exception_hierarchy,extcall,file,filecmp,fileio,fileutils,float,future5}
	test_{gc,getpass,gettext,glob,global,graphlib,gzip,hash,hmac,http_cookies}
	test_{httplib,imghdr,index,int,interpreters,isinstance,logging,long,marshal}
	test_{memoryio,metaclass,numeric_tower,opcodes,operator,ordered_dict,pathlib}
	test_{patma,peepholer,pickletools,pkgutil,plistlib,popen,poplib}
	test_{positional_only_arg,property,pstats,pty,py_compile,random,rlcompleter}
	test_{select,stable_abi_ctypes,stat,strftime,structseq,super,tempfile,thread}
	test_{tracemalloc,types,unittest,urllib_response,uu,wait3,weakset,xdrlib,xmlrpc,xxtestfuzz}
)
if [ -x "$python" ] && "$python" -c 'import test.test_json' 2>/dev/null; then
	for t in "${tests[@]}"; do suite "$t" "$python" -m test -w "$t"; done
else
	echo "no test suite of python3 here"
fi

if [ -d "$SUITES/lua" ] && command -v lua5.4 >/dev/null; then
	cp -R "$SUITES/lua/." .
	suite lua lua5.4 -e '_U = true' all.lua
else
	echo "no tests of lua here"
fi

size=5
[ -z "${SOAK:-}" ] || size=50
if [ -d "$SUITES/sqlite" ] &&
	gcc -O2 -o speedtest "$SUITES/sqlite/test/speedtest1.c" -lsqlite3 2>gcc.err; then
	suite sqlite ./speedtest --verify --size $size --memdb
else
	echo "no sources of sqlite here"
fi
[ $ran -gt 0 ] || skip "none of the suites is here"
