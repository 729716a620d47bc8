// SPDX-License-Identifier: MIT
//
// What is called with C.
package main

/*
__attribute__((noinline, noipa, used)) unsigned long c_work(unsigned long x)
{
	char room[2048];

	room[x % 2048] = (char)x;
	__asm__ volatile("" : : "r"(room) : "memory");
	return x + (unsigned char)room[x % 2048];
}
*/
import "C"

func call(n uint64) {
	for i := uint64(0); i < n; i++ {
		check(uint64(C.c_work(C.ulong(i))) == i+i%256, "c_work")
	}
}
