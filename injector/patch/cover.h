/* SPDX-License-Identifier: MIT */
/*
 * cover: where visits have written jumps over each other's, which of them stand?
 *
 * A place keeps each jump that it has had, for a forked child may have an earlier one. So of what
 * is listed, not all stands by itself.
 */
#ifndef INJECTOR_COVER_H
#define INJECTOR_COVER_H

#include "injector/ptrace/text.h"

/*
 * `is` has what text_look says of each change that undoes a jump. What does not stand by itself
 * becomes TEXT_TO, as if it had been undone:
 *
 * 1. What stands within another jump that stands is a part of that: an earlier visit had a shorter
 *    one there, of the same bytes.
 * 2. Where bytes of a jump are those of another one that stands, and are not what it has there,
 *    it does not stand, and no other tool is to blame.
 *
 * 0 or -ENOMEM.
 */
int cover_settle(const struct change *, size_t n, uint8_t *is);

#endif
