# SPDX-License-Identifier: MIT
# make            build/inject, the payload inside it
# make check      install what tests need, run every test
# make check-fast a minute of them, with what is installed; check-unit, check-live: a part
# tests/run build live/top    one of them, by its name, with what it needs
# make check-arm64  some of them on arm64, in a machine under QEMU; soak-arm64: all that can be
# make check-arm64-pages  the quicker ones, on kernels with pages of 16 and 64 KiB
# make check-bundle  the same in one file, for a machine with nothing but a kernel and a shell
# make check-kernels  some of them on Linux 5.10, 6.1 and 6.12, in virtual machines
# make demo       install, build, and trace a server that comes with the project
# make bench      cost per call, pause and plan, beside the floor and others
# make census     how many functions of well-known programs can be probed
# make fuzz       stubs against the windows that they stand for, at length
# make soak-san   unit, live and fault tests under AddressSanitizer and UBSan
# make soak-tsan  live tests under ThreadSanitizer
# make fuzz-read  readers of strangers' bytes against libFuzzer, READ_SECONDS each
# make lint       layers, circles, shellcheck, codespell, cppcheck, mandoc
# make analyze    gcc -fanalyzer and clang-tidy on all of it
# make static     build/inject-static: one file that needs nothing where it runs
# make install    PREFIX=/usr/local DESTDIR=
# make help       this list
# V=1 shows commands; SAN=address,undefined; CC=clang; BUILD=dir; OPT=-O0
# ARCH=arm64 SYSROOT=dir BUILD=dir: for another machine, with its libraries

BUILD ?= build
PREFIX ?= /usr/local
OPT ?= -O2
HOST := $(shell uname -m | sed 's/aarch64/arm64/')
ARCH ?= $(HOST)
# What compiles for another instruction set than this machine's, and what it links with.
TRIPLET_arm64 := aarch64-linux-gnu
TRIPLET_x86_64 := x86_64-linux-gnu
CROSS := $(if $(filter-out $(HOST),$(ARCH)),$(TRIPLET_$(ARCH))-)
ifneq ($(CROSS),)
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS)g++
endif
endif
OBJCOPY ?= $(CROSS)objcopy
ifneq ($(SYSROOT),)
override CC += --sysroot=$(abspath $(SYSROOT))
override CXX += --sysroot=$(abspath $(SYSROOT))
endif
VERSION := 0.1.0
Q := $(if $(V),,@)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla -Wwrite-strings -Wno-unused-parameter
CPPFLAGS += -I. -D_GNU_SOURCE -DINJECT_VERSION='"$(VERSION)"'
CFLAGS ?= $(OPT) -g
ALL_CFLAGS := -std=gnu11 $(WARN) $(CFLAGS) -fno-strict-aliasing -MMD -MP \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ALL_LDFLAGS := $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
LDLIBS := -ldw -lelf -llzma -lzstd -lcapstone -lunwind-ptrace -lunwind-generic -liberty -lpthread
# They refer to each other, and say what they need only as shared libraries.
STATIC_LDLIBS := -Wl,--start-group $(LDLIBS) -lunwind -lz -Wl,--end-group

# Vector registers of the target are neither saved nor touched.
# No branch protection and no calls of libgcc for atomics: hot.S has neither.
PAYLOAD_ARCH_x86_64 := -mgeneral-regs-only -mno-red-zone -fcf-protection=none
PAYLOAD_ARCH_arm64 := -mgeneral-regs-only -mno-outline-atomics -mbranch-protection=none -ffixed-x28

# Keep gcc from making memset calls out of loops; clang has no such option.
PAYLOAD_GCC := $(shell $(CC) --version 2>/dev/null | grep -q clang || \
	echo -fno-tree-loop-distribute-patterns)

# What runs inside the target depends on nothing: no libc, and of sanitizers what needs
# no library, but ends the target by an instruction.
# Frame pointers, because a profiler of the target may walk them from in here.
PAYLOAD_CFLAGS := -std=gnu11 $(WARN) -O2 -g -MMD -MP -fPIC -ffreestanding \
	-fno-omit-frame-pointer -fvisibility=hidden -fno-stack-protector \
	-fno-strict-aliasing -fasynchronous-unwind-tables -fno-builtin \
	-ftls-model=initial-exec $(PAYLOAD_GCC) \
	$(PAYLOAD_ARCH_$(ARCH)) $(if $(findstring undefined,$(SAN)), \
	-fsanitize=undefined -fsanitize-undefined-trap-on-error)

# Both instruction sets' pure half; the host's live half.
SRCS := $(wildcard base/*.c values/*.c arch/*.c symbols/*.c symbols/*/*.c plan/*.c plan/*/*.c \
		trace/*/*.c injector/*/*.c) \
	$(wildcard arch/x86_64/code*.c arch/arm64/code*.c) \
	$(wildcard arch/$(ARCH)/regs*.c)
ASMS := $(wildcard arch/$(ARCH)/hot.S) injector/session/blobs_data.S
MAIN := $(BUILD)/injector/verbs/main.o
OBJS := $(SRCS:%.c=$(BUILD)/%.o) $(ASMS:%.S=$(BUILD)/%.o)
LIB := $(filter-out $(MAIN),$(OBJS))

PAYLOAD_SRCS := $(filter-out payload/loader.c,$(wildcard payload/*.c)) values/reads_run.c \
	values/condition_run.c
PAYLOAD_OBJS := $(PAYLOAD_SRCS:%.c=$(BUILD)/%.po) \
	$(patsubst %.S,$(BUILD)/%.po,$(wildcard arch/$(ARCH)/*.S))

# Whatever else is compiled depends on how: other flags, and all is built anew.
STAMP := $(BUILD)/flags
FLAGS := $(strip $(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(PAYLOAD_CFLAGS))
DRY := $(findstring n,$(firstword -$(MAKEFLAGS)))
ifneq ($(FLAGS),$(if $(DRY),$(FLAGS),$(strip $(file <$(STAMP)))))
$(shell mkdir -p $(BUILD))$(file >$(STAMP),$(FLAGS))
endif

all: $(BUILD)/inject

$(BUILD)/inject: $(OBJS)
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(OBJS) $(LDLIBS)

static: $(BUILD)/inject-static

# Where there is no libX.a, the compiler answers with the name alone.
STATIC_MISSING = $(foreach l,$(STATIC_LDLIBS:-l%=lib%.a),$(if $(filter lib%.a,$l), \
	$(filter $l,$(shell $(CC) -print-file-name=$l))))

$(BUILD)/inject-static: $(OBJS)
	$(if $(strip $(STATIC_MISSING)),$(error make static lacks $(strip $(STATIC_MISSING))))
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static -s -o $@ $(OBJS) $(STATIC_LDLIBS)

# What reads the whole text of a module is a tenth faster so.
$(if $(findstring -O2,$(CFLAGS)),$(filter $(addprefix $(BUILD)/,arch/% symbols/% plan/%),$(OBJS))): \
	private ALL_CFLAGS += -O3

$(BUILD)/%.o: %.c $(STAMP)
	@mkdir -p $(@D); echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/%.o: %.S $(STAMP)
	@mkdir -p $(@D); echo "  AS      $<"
	$(Q)$(CC) $(CPPFLAGS) -MMD -MP -Wa,-I$(BUILD) -c -o $@ $<

$(BUILD)/%.po: %.c $(STAMP)
	@mkdir -p $(@D); echo "  CC      $< (payload)"
	$(Q)$(CC) $(CPPFLAGS) $(PAYLOAD_CFLAGS) -c -o $@ $<

$(BUILD)/%.po: %.S $(STAMP)
	@mkdir -p $(@D); echo "  AS      $< (payload)"
	$(Q)$(CC) $(CPPFLAGS) -MMD -MP -MF $@.d -fPIC -c -o $@ $<

$(BUILD)/payload.so: $(PAYLOAD_OBJS) payload/payload.map
	@echo "  LD      $@"
	$(Q)$(CC) -shared -nostdlib -Wl,-Bsymbolic,--build-id=sha1,-z,now,-z,noexecstack \
		-Wl,--eh-frame-hdr,-soname,inject-payload.so -Wl,--version-script,payload/payload.map \
		-o $@ $(PAYLOAD_OBJS)

# The loader is a flat piece of position-independent code, entered at its start, and gone
# before anything could unwind it.
$(BUILD)/payload/loader.po: PAYLOAD_CFLAGS += -fno-asynchronous-unwind-tables -fno-unwind-tables
$(BUILD)/loader.bin: $(BUILD)/payload/loader.po
	@echo "  LD      $@"
	$(Q)$(CC) -nostdlib -static -Wl,-Ttext=0,-e,loader_start,--build-id=none \
		-Wl,-z,noexecstack -o $(BUILD)/loader.elf $<
	$(Q)$(OBJCOPY) -O binary -j .text $(BUILD)/loader.elf $@

$(BUILD)/injector/session/blobs_data.o: $(BUILD)/payload.so $(BUILD)/loader.bin

help:
	@sed -n '2,/^# V=1/s/^# //p' Makefile

install: $(BUILD)/inject
	install -D -m 755 $(BUILD)/inject $(DESTDIR)$(PREFIX)/bin/inject
	install -D -m 644 man/inject.1 $(DESTDIR)$(PREFIX)/share/man/man1/inject.1
	install -D -m 644 gdb/inject.py $(DESTDIR)$(PREFIX)/share/inject/gdb.py
	install -D -m 644 share/tracecompass.xml $(DESTDIR)$(PREFIX)/share/inject/tracecompass.xml
	for recipe in share/recipes/*; do \
		install -D -m 644 $$recipe $(DESTDIR)$(PREFIX)/share/inject/recipes/$${recipe##*/}; \
	done
	install -D -m 644 man/inject.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/inject

clean:
	rm -rf $(BUILD)

include tests/tests.mk

-include $(shell find $(BUILD) \( -name suites -o -name root \) -prune -o \
	-name '*.d' -type f -print 2>/dev/null)

.PHONY: all static install clean
.DELETE_ON_ERROR:
