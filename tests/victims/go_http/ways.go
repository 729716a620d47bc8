// SPDX-License-Identifier: MIT
//
// Calls that grow their stack, that wait, and that end without a return.
package main

import (
	"fmt"
	"runtime"
	"sync"
)

const deepest = 200
const fallen = 6
const crowdSize = 300

var (
	madeHandle  = of("main.handle")
	madeAsk     = of("main.ask")
	madeAnswer  = of("main.answer")
	madeOrder   = of("main.answerOrder")
	madeMute    = of("main.mute.String")
	madeDeep    = of("main.deep")
	madeGrow    = of("main.grow")
	madeStand   = of("main.stand")
	madeSpin    = of("main.spin")
	madeFall    = of("main.fall")
	madeCatch   = of("main.catch")
	madeAgain   = of("main.again")
	madeInstead = of("main.instead")
	madeLast    = of("main.last")
	madeLock    = of("main.lock")

	panics  = cause("panics") // of this program's own, and of these:
	anews   = cause("anew")   // made on another one's way,
	faults  = cause("faults")
	divides = cause("divides")
	indexes = cause("indexes")
	aborts  = cause("aborts")
	exits   = cause("exits")
	threads = cause("threads")
	chans   = cause("chans")
	mutes   = cause("mutes")
)

// The stack grows on the way down, and what points into it moves along.
//
//go:noinline
func deep(n int, above *int) int {
	var room [32]int

	madeDeep.returns()
	room[n%32] = n
	if n == 0 {
		return *above
	}
	return deep(n-1, &room[n%32]) + room[n%32] - n
}

//go:noinline
func grow() int {
	sum := make(chan int)

	madeGrow.returns()
	go func() { sum <- deep(deepest, new(int)) }()
	return <-sum
}

//go:noinline
func stand(wait chan struct{}) {
	madeStand.returns()
	<-wait
}

func crowd() int {
	var all sync.WaitGroup
	wait := make(chan struct{})

	for i := 0; i < crowdSize; i++ {
		all.Add(1)
		go func() {
			stand(wait)
			all.Done()
		}()
	}
	close(wait)
	all.Wait()
	return crowdSize
}

// Without a call, so that only a signal preempts it.
//
//go:noinline
func spin(n uint64) uint64 {
	x := n

	madeSpin.returns()
	for i := uint64(0); i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

var nowhere *int
var zero int

// Down to where it goes wrong.
//
//go:noinline
func fall(n int, how string) int {
	madeFall.leaves()
	if n > 0 {
		return fall(n-1, how) + n
	}
	because(panics)
	switch how {
	case "fault":
		because(faults)
		return *nowhere
	case "divide":
		because(divides)
		return n / zero
	case "index":
		because(indexes)
		return len(kinds[n+len(kinds)])
	}
	panic(how)
}

//go:noinline
func catch(f func(int, string) int, how string) (said string) {
	madeCatch.returns()
	defer func() { said = fmt.Sprint(recover()) }()
	f(fallen, how)
	return "nothing"
}

// A panic is caught, and made again.
//
//go:noinline
func again(n int, how string) int {
	madeAgain.leaves()
	defer func() {
		e := recover()
		because(panics)
		because(anews)
		panic(e)
	}()
	return fall(n, how)
}

// On its way another one takes its place.
//
//go:noinline
func instead(n int, how string) int {
	madeInstead.leaves()
	defer func() {
		because(panics)
		because(anews)
		panic("instead")
	}()
	return fall(n, how)
}

// A goroutine ends in the middle of its calls.
//
//go:noinline
func last(n int) {
	madeLast.leaves()
	if n > 0 {
		last(n - 1)
	}
	because(exits)
	runtime.Goexit()
}

// Or with its thread.
//
//go:noinline
func lock() {
	madeLock.returns()
	because(threads)
	runtime.LockOSThread()
}

func end(thread bool) string {
	said := make(chan string)

	go func() {
		defer func() { said <- "ended" }()
		if thread {
			lock()
		} else {
			last(fallen)
		}
	}()
	return <-said
}
