# SPDX-License-Identifier: MIT
# Unit tests: tests/unit/NAME.c and tests/patch/NAME.c each become
# $(BUILD)/tests/unit/NAME, linked with everything but main; exit 0 passed,
# 77 skipped (with a line that says why), else failed.
UNIT := $(wildcard tests/unit/*.c tests/patch/*.c)
UNIT_BIN := $(UNIT:%.c=$(BUILD)/%)

$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

$(BUILD)/tests/unit/reader_switches: private ALL_LDFLAGS += -Wl,--wrap=switches_take \
	-Wl,--wrap=switches_threads
$(BUILD)/tests/unit/reader_times: private ALL_LDFLAGS += -Wl,--wrap=arch_ticks
$(BUILD)/tests/unit/kernel_pages: private ALL_LDFLAGS += -Wl,--wrap=kernel_page

$(BUILD)/tests/patch/%: tests/patch/%.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

# What compilers leave for tracers, in two programs each: for example
# compiled/gcc_fentry-hooked. Those of a compiler that is not here are not built.
LANDING_x86_64 := -fcf-protection
LANDING_arm64 := -mbranch-protection=standard
LANDING := $(LANDING_$(ARCH))
COMPILED_gcc_pg := -pg
COMPILED_gcc_nops := -fpatchable-function-entry=5
COMPILED_gcc_nops_landing := -fpatchable-function-entry=5 $(LANDING)
COMPILED_gcc_nops_around := -fpatchable-function-entry=9,3 $(LANDING)
COMPILED_gcc_nops_O0 := -fpatchable-function-entry=5 $(LANDING) -O0
COMPILED_gcc_hooks := -finstrument-functions -DHOOKED_CALLS
COMPILED_clang_pg := -pg
COMPILED_clang_nops := -fpatchable-function-entry=5
COMPILED_clang_nops_landing := -fpatchable-function-entry=7,2 $(LANDING)
COMPILED_clang_hooks := -finstrument-functions -DHOOKED_CALLS
XRAY := -fxray-instrument -fxray-instruction-threshold=1 -DHOOKED_XRAY
# (What XRay calls comes with a compiler for the machine itself.)
ifeq ($(CROSS),)
COMPILED_clang_xray := $(XRAY)
COMPILED_clang_xray_landing := $(XRAY) $(LANDING)
COMPILED_clang_xray_O0 := $(XRAY) -O0
endif
# Calls before all else exist there alone, and in a program at a fixed address -pg's are others.
ifeq ($(ARCH),x86_64)
COMPILED_gcc_static_pg := -pg -fno-pie -no-pie
COMPILED_gcc_fentry := -pg -mfentry
COMPILED_gcc_fentry_call := -pg -mfentry -mrecord-mcount -fno-pie -no-pie $(LANDING)
COMPILED_gcc_mcount_nops := -pg -mfentry -mnop-mcount -fno-pie -no-pie
COMPILED_clang_fentry := -pg -mfentry
endif
COMPILER_gcc := $(CC)
COMPILER_clang := clang $(if $(CROSS),--target=$(CROSS:-=) --sysroot=$(abspath $(SYSROOT)))

COMPILED := $(foreach v,$(filter COMPILED_%,$(.VARIABLES)), \
	$(if $(shell command -v $(word 2,$(subst _, ,$v))), \
	$(foreach p,hooked spin_threads,$(v:COMPILED_%=%)-$p)))

# The differential fuzzer: some seconds of it with every check, and at length.
FUZZ := $(BUILD)/tests/fuzz/windows
FUZZ_RUNS ?= 20000000
FUZZ_SEED ?= $(shell date +%s)
FUZZ_FILES ?= $(wildcard /usr/sbin/nginx /usr/bin/redis-server /usr/bin/python3.* \
	/usr/bin/perl /bin/bash /lib/*-linux-gnu/libc.so.6 /lib/*-linux-gnu/libm.so.6 \
	/usr/lib/*-linux-gnu/libcrypto.so.3 /usr/lib/*-linux-gnu/libstdc++.so.6)
# It runs the code of its host: x86-64 so far.
UNIT_BIN += $(if $(filter x86_64,$(ARCH)),$(FUZZ))

$(BUILD)/tests/fuzz/%.o: tests/fuzz/%.c $(STAMP)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# Readers of strangers' bytes: each input of the corpus and some near it with every
# check, and by libFuzzer, each reader for so many seconds.
READ := $(patsubst tests/fuzz/read/%.c,%,$(filter-out %/drive.c,$(wildcard tests/fuzz/read/*.c)))
READ_SECONDS ?= 600
UNIT_BIN += $(READ:%=$(BUILD)/tests/fuzz/read/%)

$(READ:%=$(BUILD)/tests/fuzz/read/%): $(BUILD)/tests/fuzz/read/%: \
		$(BUILD)/tests/fuzz/read/%.o $(BUILD)/tests/fuzz/read/drive.o $(LIB)
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/fuzz/read/%_libfuzzer: $(BUILD)/tests/fuzz/read/%.o $(LIB)
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

$(FUZZ): $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/*.c)) $(LIB)
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Victims of other kinds: without a dynamic loader, or with another C library.
# Those of a library that is not here are not built.
KIND_static := $(CC) -static -DSTATIC
KIND_static_pie := $(CC) -static-pie -rdynamic -DSTATIC
MUSL := $(if $(CROSS),$(if $(SYSROOT),$(abspath $(SYSROOT))/musl-gcc),musl-gcc)
KIND_musl := $(MUSL)
KIND_musl_static := $(MUSL) -static -DSTATIC
KIND_musl_static_pie := $(MUSL) -static-pie -DSTATIC
# Of tools/glibcs.sh: other versions of glibc.
KIND_glibc_2.31 := $(BUILD)/glibc/2.31/cc
KIND_glibc_2.41 := $(BUILD)/glibc/2.41/cc
KIND_VICTIMS := spin_threads single churn command execer forker vforker signalled \
	sigaltstack longjmper pthread_ends waiting durations
KINDS := $(foreach k,$(patsubst KIND_%,%,$(filter-out KIND_VICTIMS, \
	$(filter KIND_%,$(.VARIABLES)))), \
	$(if $(shell command -v $(firstword $(KIND_$k))), \
	$(foreach v,$(KIND_VICTIMS),$(BUILD)/tests/victims/kinds/$k/$v)))

# Victims: the programs that live tests trace. Never built with a sanitizer:
# they are to look like any program. -rdynamic keeps their names in .dynsym, so that
# the stripped copy has them too.
GO := $(firstword $(shell command -v go) $(wildcard /usr/lib/go-*/bin/go))
GO_VICTIMS := goroutines go_http go_callers
# Without C, so without any C library; with no symbols; and mapped by a loader.
GO_ALONE := $(foreach k,static stripped,$(GO_VICTIMS:%=%_$k)) goroutines_pie
GO_ALL := $(GO_VICTIMS) $(GO_ALONE)
# A server in Rust, optimised, not, with a library of Rust's, and without panics.
RUSTC := $(if $(CROSS),,$(firstword $(wildcard /usr/bin/rustc) $(shell command -v rustc)))
RUST_http := -C opt-level=3
RUST_debug := -C opt-level=0
# (A compiler that is no package's has it where no loader looks.)
RUST_dynamic = -C opt-level=3 -C prefer-dynamic -C link-arg=-Wl,-rpath,$(shell $(RUSTC) --print target-libdir)
RUST_abort := -C opt-level=3 -C panic=abort
RUST := $(patsubst %,$(BUILD)/tests/victims/rust_%,http debug dynamic abort)
LINKAGE := $(addprefix $(BUILD)/tests/victims/linkage_,lazy landing now)
VICTIM_C := $(filter-out tests/victims/linkage.c,$(wildcard tests/victims/*.c))
# What exists for arm64 alone.
VICTIMS_NOT_x86_64 := $(addprefix $(BUILD)/tests/victims/,arm64_guarded arm64_words guarded.so)
# What exists for x86-64 alone: windows that share bytes, puns and their islands (packed,
# scattered, astray, neighbours), functions in which a breakpoint alone has room (trapped), stubs
# of more than one place of a function (lingerer), system calls that are dispatched to the program.
# OCaml's stacks are not known of arm64 (overflower); code that copies itself (threaded);
# return addresses that are missing on the stack (bare_stack); and a return that has no place for its
# jump to lead to (bound).
VICTIMS_NOT_arm64 := $(addprefix $(BUILD)/tests/victims/,astray bare_stack bound dispatched \
	lingerer neighbours overflower packed packed_fixed scattered threaded trapped)
# Without the library that unwinds, and without any.
UNWINDERS := $(addprefix $(BUILD)/tests/victims/unwinders_,own static)
BOOST := $(wildcard $(SYSROOT)/usr/lib/*/libboost_context.so)
VICTIM_CC := $(filter-out $(if $(BOOST),,tests/victims/coroutines.cc), \
	$(wildcard tests/victims/*.cc))
VICTIMS := $(filter-out $(VICTIMS_NOT_$(ARCH)), \
	$(VICTIM_C:%.c=$(BUILD)/%) $(VICTIM_CC:%.cc=$(BUILD)/%) \
	$(KINDS) $(UNWINDERS) $(BUILD)/tests/victims/stripped \
	$(BUILD)/tests/victims/nameless $(BUILD)/tests/victims/packed_fixed \
	$(BUILD)/tests/victims/plugin.so \
	$(BUILD)/tests/victims/plugin_other.so $(BUILD)/tests/victims/slow.so \
	$(BUILD)/tests/victims/plugin_places0.so $(BUILD)/tests/victims/plugin_places2.so \
	$(BUILD)/tests/victims/guarded.so \
	$(COMPILED:%=$(BUILD)/tests/victims/compiled/%) \
	$(if $(RUSTC),$(RUST)) $(LINKAGE) $(if $(GO),$(GO_ALL:%=$(BUILD)/tests/victims/%)))
VICTIM_CFLAGS := -O2 -g $(WARN) -Wno-missing-prototypes -Wno-infinite-recursion \
	-pthread -MMD -MP

$(BUILD)/tests/victims/%: tests/victims/%.c
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(VICTIM_CFLAGS) -rdynamic -o $@ $< $(VICTIM_LIBS)

$(BUILD)/tests/victims/%: tests/victims/%.cc
	@mkdir -p $(@D); echo "  CXX     $<"
	$(Q)$(CXX) -D_GNU_SOURCE -I. -O2 -g -Wall -Wextra -pthread -MMD -MP \
		-rdynamic -o $@ $< $(VICTIM_LIBS)

$(BUILD)/tests/victims/coroutines: private VICTIM_LIBS := -lboost_context
# It asks whether that is there.
$(BUILD)/tests/victims/small_stacks: private VICTIM_LIBS := \
	$(BOOST:%=-Wl,--no-as-needed -lboost_context)
$(BUILD)/tests/victims/unwinders_own: private VICTIM_LIBS := -static-libgcc -static-libstdc++
$(BUILD)/tests/victims/unwinders_static: private VICTIM_LIBS := -static

$(UNWINDERS): tests/victims/unwinders.cc
	@mkdir -p $(@D); echo "  CXX     $< ($(@F:unwinders_%=%))"
	$(Q)$(CXX) -D_GNU_SOURCE -I. -O2 -g -Wall -Wextra -pthread -MMD -MP \
		-o $@ $< $(VICTIM_LIBS)

.SECONDEXPANSION:
$(KINDS): tests/victims/$$(@F).c
	@mkdir -p $(@D); echo "  CC      $< ($(notdir $(@D)))"
	$(Q)$(KIND_$(notdir $(@D))) $(CPPFLAGS) -std=gnu11 $(VICTIM_CFLAGS) -o $@ $<

$(BUILD)/tests/victims/stripped: $(BUILD)/tests/victims/spin_threads
	@echo "  STRIP   $@"
	$(Q)$(CROSS)strip -o $@ $<

# Linked to one low address: there is no memory below, and a heap above.
$(BUILD)/tests/victims/packed_fixed: tests/victims/packed.c
	@mkdir -p $(@D); echo "  CC      $< (fixed)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(VICTIM_CFLAGS) -fno-pie -no-pie -rdynamic -o $@ $<

# Not even .dynsym names its functions: .eh_frame alone knows where they are.
$(BUILD)/tests/victims/nameless: tests/victims/spin_threads.c
	@mkdir -p $(@D); echo "  CC      $< (stripped, no names at all)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(VICTIM_CFLAGS) -s -o $@ $<

$(BUILD)/tests/victims/plugin.so: tests/victims/plugin/plugin.c
	@mkdir -p $(@D); echo "  CC      $< (shared)"
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -fPIC -shared -Wl,-soname,libplugin.so.3 \
		-o $@ $<

$(BUILD)/tests/victims/plugin_other.so: tests/victims/plugin/plugin.c
	@mkdir -p $(@D); echo "  CC      $< (shared, the other one)"
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -fPIC -shared -DOTHER -o $@ $<

# Where the semaphore is raised so often from the start.
$(BUILD)/tests/victims/plugin_places%.so: tests/victims/plugin/places.c tests/victims/usdt.h
	@mkdir -p $(@D); echo "  CC      $< (shared, $*)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -fPIC -shared -DRAISED=$* -o $@ $<

$(BUILD)/tests/victims/slow.so: tests/victims/plugin/slow.c
	@mkdir -p $(@D); echo "  CC      $< (shared)"
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -fPIC -shared -o $@ $<

$(BUILD)/tests/victims/guarded.so: tests/victims/guarded/guarded.c
	@mkdir -p $(@D); echo "  CC      $< (shared, guarded)"
	$(Q)$(CC) -std=gnu11 $(WARN) -Wno-missing-prototypes -O2 -g -fPIC -shared -nostdlib \
		-mbranch-protection=standard -Wl,-z,force-bti,-Bsymbolic -o $@ $<

$(COMPILED:%=$(BUILD)/tests/victims/compiled/%):
	@mkdir -p $(@D); echo "  CC      $@"
	$(Q)$(COMPILER_$(firstword $(subst _, ,$(@F)))) $(CPPFLAGS) -std=gnu11 $(VICTIM_CFLAGS) \
		$(COMPILED_$(firstword $(subst -, ,$(@F)))) -o $@ $<

$(filter %-hooked,$(COMPILED:%=$(BUILD)/tests/victims/compiled/%)): tests/victims/hooked.c
$(filter %-spin_threads,$(COMPILED:%=$(BUILD)/tests/victims/compiled/%)): \
	tests/victims/spin_threads.c

# Code that is aligned in its file as in memory.
$(BUILD)/tests/victims/text_huge: private VICTIM_CFLAGS += -Wl,-z,max-page-size=0x200000

# The linker warns of what this one is about.
$(BUILD)/tests/victims/static_loader: private VICTIM_CFLAGS += -static -Wl,--no-warnings

$(BUILD)/tests/victims/profiled: private VICTIM_CFLAGS += -fno-omit-frame-pointer

# It begins before its C library does.
$(BUILD)/tests/victims/late_start: private VICTIM_CFLAGS += -static -Wl,-e,late_start

# Nested functions are called by code on the stack.
$(BUILD)/tests/victims/conventions: private VICTIM_CFLAGS += -Wl,-z,execstack

# Where Go is: programs of its that call C, and that do not.
$(GO_VICTIMS:%=$(BUILD)/tests/victims/%): $$(wildcard tests/victims/$$(@F)/*.go)
	@mkdir -p $(@D); echo "  GO      $(<D)"
	$(Q)CGO_ENABLED=1 CC='$(CC)' $(GO_BUILD) -o $@ $(filter-out %/no_c.go,$^)

GO_BUILD := $(if $(CROSS),GOARCH=$(ARCH)) GOCACHE=$(abspath $(BUILD))/go-cache GOFLAGS=-p=2 \
	$(GO) build
GO_static :=
GO_stripped := -ldflags='-s -w'
GO_pie := -buildmode=pie
go_kind = $(lastword $(subst _, ,$(@F)))
$(GO_ALONE:%=$(BUILD)/tests/victims/%): \
		$$(wildcard tests/victims/$$(patsubst %_$$(go_kind),%,$$(@F))/*.go)
	@mkdir -p $(@D); echo "  GO      $(<D) ($(go_kind))"
	$(Q)CGO_ENABLED=0 $(GO_BUILD) $(GO_$(go_kind)) -o $@ \
		$(filter-out %/c.go %/thread.go,$^)

$(RUST): $(BUILD)/tests/victims/rust_%: tests/victims/rust_http.rs
	@mkdir -p $(@D); echo "  RUST    $< ($*)"
	$(Q)$(RUSTC) --edition 2021 --crate-name rust_http -g $(RUST_$*) -o $@ $<

# The linkage table as it was long, with landing pads, and bound at once.
LINKAGE_lazy := -Wl,-z,lazy
LINKAGE_landing = -Wl,-z,lazy $(LANDING_$(ARCH))
LANDING_x86_64 := -Wl,-z,ibtplt -fcf-protection
LANDING_arm64 := -Wl,-z,force-bti -mbranch-protection=standard -mno-outline-atomics \
	-fno-pie -no-pie -nostartfiles tests/victims/arm64/start.S
LINKAGE_now := -Wl,-z,now
$(LINKAGE): $(BUILD)/tests/victims/linkage_%: tests/victims/linkage.c
	@mkdir -p $(@D); echo "  CC      $< ($*)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(VICTIM_CFLAGS) $(LINKAGE_$*) -o $@ $< -lm

# Tools of the tests: textcheck, poke, failer.
TOOL_SRCS := $(wildcard tests/tools/*.c tests/fault/*.c)
TOOLS := $(TOOL_SRCS:%.c=$(BUILD)/%)

$(BUILD)/tests/tools/%: tests/tools/%.c $(STAMP)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) $(CFLAGS) -MMD -MP -o $@ $<

$(BUILD)/tests/fault/%: tests/fault/%.c $(STAMP)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) $(CFLAGS) -MMD -MP -o $@ $<

# Made-up programs (tests/arrive): are their plans right where control arrives?
ARRIVE_CHECK := $(BUILD)/tests/arrive/check
$(ARRIVE_CHECK): tests/arrive/check.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

# What values are read of functions, beside what their program prints (tests/values).
VALUES_DRIVER := $(BUILD)/tests/values/driver
$(VALUES_DRIVER): tests/values/driver.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

# The oracle: where real programs arrive, and the plan (tests/oracle/run.sh).
ORACLE := $(patsubst %,$(BUILD)/tests/oracle/%,check step strings plugin.so)
$(BUILD)/tests/oracle/check $(BUILD)/tests/oracle/step: $(BUILD)/tests/oracle/%: tests/oracle/%.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)
$(BUILD)/tests/oracle/strings: tests/oracle/strings.c
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -Wno-nonnull -O1 -g -fno-builtin -MMD -MP -o $@ $<
$(BUILD)/tests/oracle/plugin.so: tests/oracle/plugin.c
	@mkdir -p $(@D); echo "  CC      $< (shared)"
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -fPIC -shared -MMD -MP -o $@ $<

DEMO := $(BUILD)/demo/server $(BUILD)/demo/client
$(BUILD)/demo/%: demo/%.c
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -pthread -MMD -MP -s \
		-rdynamic -o $@ $<

# What recording costs by itself: linked like a unit test.
BENCH := $(patsubst %.c,$(BUILD)/%,$(wildcard bench/hot*.c))
$(BUILD)/bench/%: bench/%.c $(LIB)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

PARTS := $(sort $(wildcard tests/parts/*.sh))
LIVE := $(sort $(wildcard tests/live/*.sh))
FAULT := $(sort $(wildcard tests/fault/*.sh))
STRESS := $(sort $(wildcard tests/stress/*.sh))

unit: $(UNIT_BIN)
victims: $(VICTIMS) $(TOOLS) $(ARRIVE_CHECK) $(VALUES_DRIVER)
tools: $(TOOLS)
# For tests/run: what a test may want.
programs:
	@printf '%s\n' $(VICTIMS) $(ARRIVE_CHECK) $(VALUES_DRIVER)
oracle: $(ORACLE)
	@tools/deps.sh oracle

deps:
	@tools/deps.sh build test

# One shell per phase, so that what `deps` installed is there for the build, and kinds of
# victims by what was fetched. All processors have something to do while something is.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell expr $$(nproc) + 2))

check: deps
	@$(MAKE) --no-print-directory $(PARALLEL) suites glibcs all unit
	@$(MAKE) --no-print-directory $(PARALLEL) victims
	@tests/run $(BUILD) $(PARTS) $(UNIT_BIN) $(LIVE) $(FAULT) $(STRESS)

# What cannot be had is said, and the tests that want it are skipped.
suites:
	@tools/suites.sh $(BUILD)/suites || true

glibcs:
	@tools/glibcs.sh $(BUILD)/glibc || true

check-unit: $(UNIT_BIN)
	@tests/run $(BUILD) $(UNIT_BIN)

# Under a minute: what is pure, and one attach of each kind. Before a commit, not instead
# of the rest.
FAST_UNIT := $(filter-out %/remote %/ring_model %/symbols_% %/trace_hostile %/reader_hostile \
	$(BUILD)/tests/unit/payload_% $(BUILD)/tests/fuzz/%, $(UNIT_BIN)) \
	$(BUILD)/tests/unit/payload_basic $(BUILD)/tests/unit/payload_threads
FAST := attach_running attach_single command_same count_exact fork_children_cleaned list_file \
	record_exact stop_after_kill9 text_changed
check-fast: all $(FAST_UNIT)
	@tests/run $(BUILD) $(FAST:%=live/%) $(FAST_UNIT)

# On arm64, in a machine under QEMU: each state once (docs/arm64.md).
ARM64_UNIT := $(addprefix patch/,arm64_decode arm64_goal arm64_relocate arm64_stack plan_arm64 x86_decode x86_relocate) \
	$(addprefix unit/,alarms code cpu_times disarm follow graph hold jump_set kernel_pages \
	limiter output pace pages pattern plan_crew procfs progress reader regs_met remote seccomp segment shorten \
	signal_held sort spills stale stragglers stuck text trace_archive trace_clock unwind_walk workers \
	payload_basic payload_basic_bare payload_basic_room payload_count payload_fibers \
	payload_fibers_bare payload_goroutines \
	payload_keep payload_kept payload_kept_bare payload_limiter payload_registers \
	payload_registers_bare payload_signals \
	payload_tight payload_tight_bare payload_tight_room \
	payload_timing payload_values payload_watch \
	payload_filter payload_refused payload_refused_bare payload_sieve \
	payload_callers values_condition values_reads usdt usdt_args)

ARM64_LIVE := addressed aliases arm64_guarded arm64_words attach_as_user attach_exec attach_faulter attach_goner \
	attach_in_syscall attach_landing attach_many_functions attach_recursion attach_registers \
	attach_running attach_sigaltstack attach_single attach_sleeping attach_stripped \
	attach_tailcalls backtrace_gdb branch_into_prologue command_same command_signals \
	command_status confined_later confined_thread control_groups conventions core_dump \
	count_exact count_json eintr_table exceptions faults_by_place flight \
	fork_children_cleaned hist interrupted leader_ends linkage longjmp own_code \
	places_everywhere pthread_exit_cancel record_exact refuse_already_traced refuse_foreign_breakpoint \
	refuse_seccomp refuse_stopped refuse_text_differs refuse_zombie remove_on_term \
	remove_target_ends remove_target_execs session_split sifted signals_while_borrowed \
	static_ifunc stop_after_kill9 stop_breakpoint_on_jump stops text_changed text_copies \
	usdt_values vfork_children
# One point in so many as `check` takes.
ARM64_FAULT := trace_killed_threads
ARM64_WIDER := 40
# On a processor without landing pads, signed pointers and SVE.
ARM64_OLDER := arm64_words attach_running attach_single conventions signals_while_borrowed \
	stop_after_kill9
# What continuous integration runs of it: the quicker ones.
ARM64_BRIEF := arm64_words attach_exec attach_landing attach_recursion attach_running \
	attach_single attach_sleeping attach_tailcalls branch_into_prologue command_same \
	command_status conventions count_exact eintr_table exceptions fork_children_cleaned \
	linkage stop_after_kill9 text_copies vfork_children
ARM64_BRIEF_OLDER := arm64_words attach_single
arm64 = $(MAKE) --no-print-directory $(PARALLEL) ARCH=arm64 SYSROOT=$(BUILD)/guest/sysroot \
	BUILD=$(BUILD)/arm64
# (The guest has a copy of all that was built in its memory.)
in-arm64 = MEMORY=5G tools/arm64/in-guest.sh $(BUILD)/guest . env MOST=1200
arm64-run = tools/arm64/run-tests.sh $(BUILD)/arm64
ARM64_UNIT_BIN = $(ARM64_UNIT:%=$(BUILD)/arm64/tests/%)

check-arm64:
	@tools/deps.sh build arm64
	@tools/arm64/guest.sh $(BUILD)/guest
	@$(arm64) all victims $(ARM64_UNIT_BIN)
	@OBJDUMP=aarch64-linux-gnu-objdump tools/payload-check.sh $(BUILD)/arm64/payload.so \
		$(BUILD)/arm64/loader.elf
	@TIMEOUT=3000 $(in-arm64) SKIPS=tests/skips WIDER=$(ARM64_WIDER) $(arm64-run) \
		$(ARM64_UNIT_BIN) $(ARM64_LIVE:%=tests/live/%.sh) $(ARM64_FAULT:%=tests/fault/%.sh)
	@CPU=neoverse-n1 TIMEOUT=1200 $(in-arm64) SKIPS=tests/skips $(arm64-run) \
		$(ARM64_OLDER:%=tests/live/%.sh)

check-arm64-brief:
	@$(MAKE) --no-print-directory check-arm64 ARM64_LIVE='$(ARM64_BRIEF)' ARM64_FAULT= \
		ARM64_OLDER='$(ARM64_BRIEF_OLDER)'

# Some of it on kernels with pages of 16 and 64 KiB (the latter is built first, in ten minutes).
PAGES := 16 64
PAGES_UNIT := code follow hold kernel_pages payload_basic payload_keep payload_timing procfs \
	remote text
check-arm64-pages:
	@tools/deps.sh build arm64 pages
	@tools/arm64/guest.sh $(BUILD)/guest
	@for kib in $(PAGES); do tools/arm64/pages.sh $(BUILD)/guest $(BUILD)/guest-$$kib $$kib; done
	@$(arm64) all victims $(ARM64_UNIT_BIN)
	@for kib in $(PAGES); do MEMORY=5G TIMEOUT=3000 \
		tools/arm64/in-guest.sh $(BUILD)/guest-$$kib . env MOST=1200 SKIPS=tests/skips \
		$(arm64-run) $(PAGES_UNIT:%=$(BUILD)/arm64/tests/unit/%) \
		$(ARM64_BRIEF:%=tests/live/%.sh) || exit 1; done

# All that can run there: hours. Without programs that the guest has not, and their suites.
soak-arm64:
	@tools/deps.sh build arm64
	@tools/arm64/guest.sh $(BUILD)/guest
	@$(arm64) all victims $(ARM64_UNIT_BIN)
	@TIMEOUT=86400 $(in-arm64) MOST=7200 $(arm64-run) $(ARM64_UNIT_BIN) \
		$(filter-out tests/live/real_%,$(LIVE)) $(FAULT)

# The same tests in one file, for a machine with nothing on it; of this instruction set a few.
BUNDLE_UNIT = $(if $(filter arm64,$(ARCH)),$(ARM64_UNIT:%=$(BUILD)/tests/%),$(FAST_UNIT))
BUNDLE_LIVE = $(if $(filter arm64,$(ARCH)),$(ARM64_LIVE),$(FAST))
BUNDLE_VICTIMS = $(VICTIMS)
check-bundle:
	@tools/deps.sh build $(if $(CROSS),$(ARCH))
	@$(MAKE) --no-print-directory $(PARALLEL) static tools $(BUNDLE_UNIT) $(BUNDLE_VICTIMS)
	@STRIP=$(CROSS)strip tools/bundle/make.sh $(BUILD) $(ARCH) $(BUNDLE_UNIT:$(BUILD)/%=build/%) \
		$(BUNDLE_LIVE:%=tests/live/%.sh)

# What depends most on the kernel, on those of three releases of Debian: nightly, or by hand.
# Under emulation some ten times as slow; the longest begin first. (start -o keeps no file on an
# overlay.) Where a kernel changes its own code as it runs, which off_cpu makes it do, emulated
# processors that run at a time have met its breakpoints when they were gone: there they take turns.
KERNELS := bullseye bookworm trixie
KERNEL_LIVE := waiting sleeps_resumed visits_alternate go attach_many_threads second_visit_fails \
	follow_fork text_copies leader_ends locks_held attach_single flight transfers_short \
	addressed attach_exec attach_in_syscall attach_running attach_sleeping command_same \
	command_signals command_status confined_thread eintr_table exceptions \
	fork_children_cleaned go_threads interrupted pthread_exit_cancel reader_killed \
	refuse_seccomp signals_while_borrowed stop_after_kill9 stops vfork_children
KERNEL_TURNS := off_cpu
on-kernel = tools/kernels/on-kernel.sh $(BUILD)/kernels $$release $(BUILD)/kernels/shared \
	env PATIENCE=10 JOBS=2 '$(CURDIR)/tests/run' '$(BUILD)'
check-kernels: all victims
	@tools/deps.sh kernels
	@mkdir -p $(BUILD)/kernels/shared
	@failed=; for release in $(KERNELS); do \
		tools/kernels/get.sh $(BUILD)/kernels $$release && \
		echo "Linux $$(cat $(BUILD)/kernels/$$release/version)" && \
		TIMEOUT=2700 $(on-kernel) $(KERNEL_LIVE:%=tests/live/%.sh) && \
		TURNS=1 $(on-kernel) $(KERNEL_TURNS:%=tests/live/%.sh) || \
		failed="$$failed $$release"; \
	done; test -z "$$failed" || { echo "failed on:$$failed" >&2; exit 1; }

check-live: all victims
	@tests/run $(BUILD) $(LIVE)

# Every n of the fault tests, and long runs: an hour or more.
soak: deps
	@tools/deps.sh soak
	@$(MAKE) --no-print-directory $(PARALLEL) suites glibcs all
	@$(MAKE) --no-print-directory $(PARALLEL) victims
	@SOAK=1 tests/run $(BUILD) $(FAULT) $(STRESS) $(LIVE)

# What runs on the host under sanitizers: unit tests, live tests but for those that leave
# less memory than a sanitizer takes, and fault tests in wide strides. What is recorded
# takes ten times as long to read. Leaks count, but where inject is traced itself: they cannot
# be looked for then. What a sanitizer says is kept, for the words and status of some processes
# are not read; fault tests read them, and know what says that it has no memory for itself. All
# of it is run, whatever fails.
SAN_OPTIONS = ASAN_OPTIONS=detect_leaks=$(1):verify_asan_link_order=0:allocator_may_return_null=1:exitcode=99$(if $(2),:log_path=$(2)/asan) \
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99$(if $(2),:log_path=$(2)/ubsan) PATIENCE=5
SAN_SAID = $(abspath $(BUILD)/san/said)
SAN_TRACED = $(shell grep -lE '/fault/|fault_lib|strace' $(LIVE) $(STRESS)) $(FAULT)
SAN_LIVE = $(filter-out $(SAN_TRACED),$(shell grep -L 'ulimit -v' $(LIVE) $(STRESS)))
soak-san: deps
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)/san SAN=address,undefined \
		suites glibcs all unit
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)/san SAN=address,undefined victims
	@rm -rf $(SAN_SAID) && mkdir -m 1777 $(SAN_SAID)
	@failed=; \
	$(call SAN_OPTIONS,1,$(SAN_SAID)) tests/run $(BUILD)/san \
		$(UNIT_BIN:$(BUILD)/%=$(BUILD)/san/%) $(SAN_LIVE) || failed=1; \
	$(call SAN_OPTIONS,0) WIDER=10 tests/run $(BUILD)/san $(SAN_TRACED) || failed=1; \
	! grep -rE 'ERROR: |runtime error: ' $(SAN_SAID) || failed=1; \
	test -z "$$failed"

# The injector's two threads take turns (injector/ptrace/tracing.c), in each kind of visit: does
# ThreadSanitizer think so, too?
TURNS := attach_running attach_sleeping command_same count_exact \
	flight follow_fork late_libraries record_exact stop_after_kill9 stops
soak-tsan: deps
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SAN=thread all victims
	@TSAN_OPTIONS=halt_on_error=1 PATIENCE=5 tests/run $(BUILD)/tsan $(TURNS:%=tests/live/%.sh)

# Stubs against what they stand for: made-up functions, then real files. The
# seed is printed with what fails.
fuzz: $(FUZZ)
	$(FUZZ) -s $(FUZZ_SEED) -n $(FUZZ_RUNS)
	$(FUZZ) -s $(FUZZ_SEED) -n $(FUZZ_RUNS) $(FUZZ_FILES)

# What libFuzzer finds beside the corpus stays in the build directory, and so does an
# input that fails: `build/fuzz-read/tests/fuzz/read/elf FILE` runs it again.
fuzz-read:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz-read CC=clang OPT=-O1 \
		SAN=address,undefined,fuzzer-no-link fuzz-readers

fuzz-readers: $(READ:%=$(BUILD)/tests/fuzz/read/%) \
		$(READ:%=$(BUILD)/tests/fuzz/read/%_libfuzzer)
	@tests/fuzz/read/run.sh $(BUILD) $(READ_SECONDS) $(READ)

demo:
	@tools/deps.sh build
	@$(MAKE) --no-print-directory all $(DEMO) $(BUILD)/tests/tools/textcheck
	@demo/demo.sh $(BUILD)

bench:
	@tools/deps.sh build bench
	@$(MAKE) --no-print-directory all victims $(BENCH)
	@failed=; for table in bench captures scale decode load latency switches; do \
		BUILD=$(BUILD) CC='$(CC)' bench/$$table.sh || failed="$$failed $$table"; echo; \
	done; test -z "$$failed" || { echo "not measured to the end:$$failed" >&2; exit 1; }

# How many functions of well-known programs can be probed, and why not the rest. Of another
# instruction set: of its packages, by this machine's inject, for nothing of them runs.
ifeq ($(CROSS),)
census:
	@tools/deps.sh build census
	@$(MAKE) --no-print-directory all
	@bench/census.sh $(BUILD)
else
census:
	@tools/deps.sh build census
	@tools/$(ARCH)/packages.sh $(BUILD)/census-$(ARCH) \
		$$(tools/deps.sh --list census)
	@$(MAKE) --no-print-directory ARCH=$(HOST) all
	@ROOT=$(BUILD)/census-$(ARCH)/root MACHINE=$(firstword $(subst -, ,$(TRIPLET_$(ARCH)))) \
		bench/census.sh $(BUILD)
endif

# What cannot be installed is said, and its checks are skipped.
lint: $(BUILD)/inject
	@tools/deps.sh lint || true
	@BUILD=$(BUILD) tools/lint.sh

analyze:
	@tools/deps.sh analyze
	@tools/analyze.sh

.PHONY: unit victims tools programs deps suites glibcs check check-arm64 check-arm64-brief check-arm64-pages soak-arm64 check-bundle check-kernels check-fast check-unit check-live soak soak-san soak-tsan fuzz fuzz-read oracle \
	fuzz-readers demo bench census lint analyze
