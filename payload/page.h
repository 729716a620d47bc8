/* SPDX-License-Identifier: MIT */
/* page: the least that the kernel maps, and never more than one of in a write to text. */
#ifndef PAYLOAD_PAGE_H
#define PAYLOAD_PAGE_H

#define PAGE 4096

#endif
