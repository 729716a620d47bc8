/* SPDX-License-Identifier: MIT */
/* known_usdt: places for tracers (USDT) of well-known programs, as these document them. */
#include <stddef.h>

#include "values/known.h"

#define POSTGRES_BLOCK "fork:int, block:u32, tablespace:u32, database:u32, relation:u32"
#define POSTGRES_LOCK "(field1:u32, field2:u32, field3:u32, field4:u16, type:u8, mode:int)"
#define POSTGRES_LWLOCK "(tranche:str, mode:int)"
#define PYTHON_CODE "(file:str, function:str, line:int)"
#define MYSQL_USER "connection:u64, db:str, user:str, host:str"
#define HOTSPOT_METHOD "(thread:i64, class:str(nclass), nclass:int, name:str(nname), nname:int, " \
	"signature:str(nsignature), nsignature:int)"

const char *const known_usdt[] = {
	/* PostgreSQL: Dynamic Tracing. */
	"postgresql:transaction__start(transaction:u32)",
	"postgresql:transaction__commit(transaction:u32)",
	"postgresql:transaction__abort(transaction:u32)",
	"postgresql:query__start(query:str)",
	"postgresql:query__done(query:str)",
	"postgresql:query__parse__start(query:str)",
	"postgresql:query__parse__done(query:str)",
	"postgresql:query__rewrite__start(query:str)",
	"postgresql:query__rewrite__done(query:str)",
	"postgresql:statement__status(status:str)",
	"postgresql:checkpoint__start(flags:x32)",
	"postgresql:checkpoint__done(written:int, buffers:int, added:int, removed:int, "
		"recycled:int)",
	"postgresql:buffer__read__start(" POSTGRES_BLOCK ", backend:int, extend:bool)",
	"postgresql:buffer__read__done(" POSTGRES_BLOCK ", backend:int, extend:bool, found:bool)",
	"postgresql:buffer__flush__start(" POSTGRES_BLOCK ")",
	"postgresql:buffer__flush__done(" POSTGRES_BLOCK ")",
	"postgresql:buffer__write__dirty__start(" POSTGRES_BLOCK ")",
	"postgresql:buffer__write__dirty__done(" POSTGRES_BLOCK ")",
	"postgresql:buffer__sync__start(buffers:int, dirty:int)",
	"postgresql:buffer__sync__written(buffer:int)",
	"postgresql:buffer__sync__done(buffers:int, written:int, dirty:int)",
	"postgresql:smgr__md__read__start(" POSTGRES_BLOCK ", backend:int)",
	"postgresql:smgr__md__read__done(" POSTGRES_BLOCK ", backend:int, bytes:int, wanted:int)",
	"postgresql:smgr__md__write__start(" POSTGRES_BLOCK ", backend:int)",
	"postgresql:smgr__md__write__done(" POSTGRES_BLOCK ", backend:int, bytes:int, wanted:int)",
	"postgresql:sort__start(kind:int, unique:bool, keys:int, memory:int, random:bool, "
		"parallel:int)",
	"postgresql:sort__done(external:bool, used:i64)",
	"postgresql:wal__insert(rmid:u8, info:x8)",
	"postgresql:lwlock__acquire" POSTGRES_LWLOCK,
	"postgresql:lwlock__release(tranche:str)",
	"postgresql:lwlock__wait__start" POSTGRES_LWLOCK,
	"postgresql:lwlock__wait__done" POSTGRES_LWLOCK,
	"postgresql:lwlock__condacquire" POSTGRES_LWLOCK,
	"postgresql:lwlock__condacquire__fail" POSTGRES_LWLOCK,
	"postgresql:lwlock__acquire__or__wait" POSTGRES_LWLOCK,
	"postgresql:lwlock__acquire__or__wait__fail" POSTGRES_LWLOCK,
	"postgresql:lock__wait__start" POSTGRES_LOCK,
	"postgresql:lock__wait__done" POSTGRES_LOCK,

	/* CPython: Instrumenting CPython with DTrace and SystemTap. */
	"python:function__entry" PYTHON_CODE,
	"python:function__return" PYTHON_CODE,
	"python:line" PYTHON_CODE,
	"python:gc__start(generation:int)",
	"python:gc__done(collected:i64)",
	"python:import__find__load__start(module:str)",
	"python:import__find__load__done(module:str, found:bool)",
	"python:audit(event:str, arguments:ptr)",

	/* MySQL 5.7 and MariaDB: Tracing mysqld Using DTrace. */
	"mysql:connection__start(connection:u64, user:str, host:str)",
	"mysql:connection__done(status:int, connection:u64)",
	"mysql:command__start(connection:u64, command:int, user:str, host:str)",
	"mysql:command__done(status:int)",
	"mysql:query__start(query:str, " MYSQL_USER ")",
	"mysql:query__done(status:int)",
	"mysql:query__parse__start(query:str)",
	"mysql:query__parse__done(status:int)",
	"mysql:query__exec__start(query:str, " MYSQL_USER ", type:int)",
	"mysql:query__exec__done(status:int)",
	"mysql:select__start(query:str)",
	"mysql:insert__start(query:str)",
	"mysql:update__start(query:str)",
	"mysql:delete__start(query:str)",

	/* glibc: manual, Internal Probes. */
	"libc:setjmp(env:ptr, value:int, pc:ptr)",
	"libc:longjmp(env:ptr, value:int, pc:ptr)",
	"libc:longjmp_target(env:ptr, value:int, pc:ptr)",
	"libc:mutex_init(mutex:ptr)",
	"libc:mutex_destroy(mutex:ptr)",
	"libc:mutex_entry(mutex:ptr)",
	"libc:mutex_acquired(mutex:ptr)",
	"libc:mutex_release(mutex:ptr)",
	"libc:pthread_start(thread:ptr, function:ptr, argument:ptr)",

	/* libstdc++: unwind-cxx.h. */
	"libstdcxx:throw(object:ptr, type:ptr)",
	"libstdcxx:rethrow(object:ptr, type:ptr)",
	"libstdcxx:catch(object:ptr, type:ptr)",

	/* HotSpot: DTrace Probes in HotSpot VM. Its texts have no NUL. */
	"hotspot:method__entry" HOTSPOT_METHOD,
	"hotspot:method__return" HOTSPOT_METHOD,
	"hotspot:gc__begin(full:bool)",
	"hotspot:class__loaded(name:str(n), n:int, loader:ptr, shared:bool)",
	"hotspot:thread__start(name:str(n), n:int, id:i64, tid:i64, daemon:bool)",
	"hotspot:thread__stop(name:str(n), n:int, id:i64, tid:i64, daemon:bool)",
	NULL
};
