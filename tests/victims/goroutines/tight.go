// SPDX-License-Identifier: MIT
//
// "tight N": calls of functions that do not ask for room on their stack, as deep as the
// linker lets them be nested, on stacks of all fillings; many goroutines whose stacks
// lie side by side, each of which looks whether what it keeps at the upper end is still
// there. Then how many calls of main.last were "made".
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

var nlast uint64

// The last of the chain, without a frame: the others' and the ways back take 792
// bytes, the most that the linker allows.
//
//go:nosplit
//go:noinline
func last(room *[34]uint64, n uint64) uint64 {
	room[0]++
	return room[n%26] + n
}

//go:nosplit
//go:noinline
func third(n uint64) uint64 {
	var room [34]uint64
	room[n%26] = n
	return last(&room, n) + room[0]
}

//go:nosplit
//go:noinline
func second(n uint64) uint64 {
	var room [26]uint64
	room[n%26] = n
	return third(n) + room[n%26]
}

//go:nosplit
//go:noinline
func first(n uint64) uint64 {
	var room [26]uint64
	room[n%26] = n
	return second(n) + room[n%26]
}

// The frame is small, and so the step from one filling to the next.
//
//go:noinline
func fill(n, x uint64) uint64 {
	got := first(x)
	if n == 0 {
		return got
	}
	return fill(n-1, x+1) + got
}

func expected(n, x uint64) uint64 {
	var sum uint64
	for i := x; i <= x+n; i++ {
		last, kept := 2*i, uint64(1)
		if i%26 == 0 {
			last, kept = 2*i+1, i+1
		}
		sum += last + kept + 2*i
	}
	return sum
}

func neighbour(n uint64, wait chan int, group *sync.WaitGroup) {
	var kept [8]uint64
	for i := range kept {
		kept[i] = n
	}
	<-wait
	check(fill(40+n%24, n) == expected(40+n%24, n), "fill")
	atomic.AddUint64(&nlast, 41+n%24)
	for i := range kept {
		check(kept[i] == n, "neighbour")
	}
	group.Done()
}

func tightAll(n uint64) {
	atomic.StoreUint64(&nlast, 0)
	for i := uint64(0); i < n; i++ {
		var group sync.WaitGroup
		wait := make(chan int)
		for k := uint64(0); k < 64; k++ {
			group.Add(1)
			go neighbour(k, wait, &group)
		}
		close(wait)
		group.Wait()
	}
	fmt.Println("made", atomic.LoadUint64(&nlast))
}
