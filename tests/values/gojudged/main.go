// SPDX-License-Identifier: MIT

// Calls of which is known at their end only whether they pass: by what they return, and by how long
// they have taken. Many goroutines make them at once, on stacks that grow meanwhile, in threads that
// change; some are left by a panic, and one is open at the end. It says of each call what it has
// returned ("-" if it was left, "?" if it is open), and between which times, in ns, it has taken.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	goroutines = 150
	nested     = 6
	levels     = 3000
)

// How long some calls wait: an argument, or
var pause = 40 * time.Millisecond

type call struct {
	result       string
	inner, outer time.Duration
}

var (
	failed = errors.New("failed")
	lock   sync.Mutex
	calls  = map[int]*call{}
)

func note(id int, result string, inner, outer time.Duration) {
	lock.Lock()
	defer lock.Unlock()
	c := calls[id]
	if c == nil {
		c = &call{}
		calls[id] = c
	}
	if inner != 0 {
		c.result, c.inner = result, inner
	}
	if outer != 0 {
		c.outer = outer
	}
}

// grow has the stack move, and its calls lie at each place of a page.
//
//go:noinline
func grow(n int) int {
	var room [512]byte
	room[n%len(room)] = byte(n)
	if n == 0 {
		return int(room[0])
	}
	return grow(n-1) + int(room[n%7])
}

// work waits if it is told to, calls itself for the next id if there is one, and panics or returns.
//
//go:noinline
func work(id, left int) (int, error) {
	begin := time.Now()
	if id%3 == 0 {
		runtime.Gosched()
	}
	grow(id % 40)
	if id%7 == 0 {
		time.Sleep(pause)
	}
	if left > 0 {
		try(id+1, left-1)
	}
	if id%11 == 0 {
		note(id, "-", time.Since(begin), 0)
		panic(failed)
	}
	ret, err := id%5-2, error(nil)
	if id%13 == 0 {
		err = failed
	}
	note(id, strconv.Itoa(ret), time.Since(begin), 0)
	return ret, err
}

// try is probed, too: that it returns says that a call which has panicked is over.
//
//go:noinline
func try(id, left int) {
	begin := time.Now()
	attempt(id, left)
	note(id, "", 0, time.Since(begin))
}

//go:noinline
func attempt(id, left int) {
	defer func() { recover() }()
	work(id, left)
}

//go:noinline
func hang(id int, ready chan<- bool, never <-chan bool) int {
	ready <- true
	<-never
	return id
}

func main() {
	if len(os.Args) > 1 {
		pause, _ = time.ParseDuration(os.Args[1])
	}
	var all sync.WaitGroup
	ready := make(chan bool)

	grow(levels)
	go hang(0, ready, make(chan bool))
	<-ready
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func(id int) {
			defer all.Done()
			try(id, nested-1)
		}(1 + i*nested)
	}
	all.Wait()
	time.Sleep(pause)
	for id := 1; id <= goroutines*nested; id++ {
		c := calls[id]
		fmt.Printf("work %d %s %v %d %d\n", id, c.result, id%13 == 0 && c.result != "-",
			c.inner.Nanoseconds(), c.outer.Nanoseconds())
	}
	grown := levels + 1
	for id := 1; id <= goroutines*nested; id++ {
		grown += id%40 + 1
	}
	fmt.Println("grow", grown)
	os.Exit(0)
}
