/* SPDX-License-Identifier: MIT */
/*
 * page: the unit of what the injector and the payload lay out together (the session, rings, stubs,
 * islands), and never more than one of in a write to text.
 *
 * A constant, because layouts are made of it. The kernel's own pages are as large, or, on arm64,
 * four or sixteen times: what is mapped, and what the kernel tells of each page, goes by those
 * (injector/proc/kernel.h). An island takes a page at a very place, and there are none on arm64.
 */
#ifndef PAYLOAD_PAGE_H
#define PAYLOAD_PAGE_H

#define PAGE 4096

#endif
