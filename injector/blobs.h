/* SPDX-License-Identifier: MIT */
/* blobs: what the injector carries into the target (see blobs_data.S). */
#ifndef INJECTOR_BLOBS_H
#define INJECTOR_BLOBS_H

#include "base/base.h"

/* The payload, an ELF shared object. */
extern const uint8_t blob_payload[], blob_payload_end[];
/* The loader's code: flat, entered at its first byte. */
extern const uint8_t blob_loader[], blob_loader_end[];
/* The recording routines, copied to the start of every arena. */
extern const uint8_t hot_begin[], hot_end[], hot_entry[], hot_exit[], hot_mark[];

struct payload_info {
	uint8_t build_id[20];
	raddr_t hello;		/* offset of payload_hello */
};

/* Read once from the payload itself. */
int payload_info(struct payload_info *ret);

#endif
