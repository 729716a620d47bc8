// SPDX-License-Identifier: MIT
//
// What is called without C, and threads that end: each with the goroutine that it was
// locked to.
package main

import (
	"fmt"
	"runtime"
)

//go:noinline
func work_in_go(x uint64) uint64 {
	var room [256]uint64

	room[x%256] = x
	return x + room[(x+spin(0))%256]%256
}

func call(n uint64) {
	for i := uint64(0); i < n; i++ {
		check(work_in_go(i) == i+i%256, "work_in_go")
	}
}

func answer(x uint64) uint64 { return spin(x) }

func askAll(n uint64) {
	for i := uint64(0); i < n; i++ {
		done := make(chan uint64)
		go func() {
			runtime.LockOSThread()
			done <- answer(i)
		}()
		check(<-done == spin(i), "ask")
	}
	fmt.Println("asked", n)
}
