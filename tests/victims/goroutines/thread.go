// SPDX-License-Identifier: MIT
//
// Threads that C makes, and that call Go: what the runtime lends each of them, it
// takes back as the call returns.
package main

/*
#include <pthread.h>

extern unsigned long answer(unsigned long);

static void *ask(void *x)
{
	return (void *)answer((unsigned long)x);
}

static unsigned long ask_in_thread(unsigned long x)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, 0, ask, (void *)x) || pthread_join(thread, &ret))
		return 0;
	return (unsigned long)ret;
}
*/
import "C"

import "fmt"

//export answer
func answer(x C.ulong) C.ulong { return C.ulong(spin(uint64(x))) }

func askAll(n uint64) {
	for i := uint64(0); i < n; i++ {
		check(uint64(C.ask_in_thread(C.ulong(i))) == spin(i), "ask")
	}
	fmt.Println("asked", n)
}
