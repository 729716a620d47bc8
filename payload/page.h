/* SPDX-License-Identifier: MIT */
/*
 * page: the least that the kernel maps, and never more than one of in a write to text.
 *
 * A constant, because the layouts of rings and islands are made of it. A kernel of arm64 may
 * have pages of 16 or 64 KiB: such a kernel's processes are refused (right_pages in
 * injector/ptrace/preflight.c).
 */
#ifndef PAYLOAD_PAGE_H
#define PAYLOAD_PAGE_H

#define PAGE 4096

#endif
