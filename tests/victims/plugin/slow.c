/* SPDX-License-Identifier: MIT */
/* slow.so: its constructor does what the program that loads it wants. */
void in_constructor(void);
__attribute__((constructor)) static void begin(void) { in_constructor(); }
