// SPDX-License-Identifier: MIT
//
// A Go program, with C or without: goroutines whose stacks grow and are moved, garbage
// to collect, and preemption by signals, all the while. Does each of them compute
// what it should? It speaks as victim.h says. "run N": N calls of a C function (if
// there is no C, of main.work_in_go) by each of the workers, then "made N". "descend N": N goroutines for each of the
// workers, whose stacks grow and which change threads in the middle of their calls,
// then how many calls "descended". "fall N": panics, half of them of the runtime's,
// caught seven calls further out, then "fallen N". "ask N": N threads of C's that
// call Go (if there is no C, that end with their goroutines), then "asked N". "profile N":
// a signal N times a second of processor time, then "profiling N".
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

const workers = 4

var progress, wrong uint64

//go:noinline
func deep(n int, parent *int) int {
	var room [64]int

	room[n%64] = n
	if n == 0 {
		return *parent
	}
	return deep(n-1, &room[n%64]) + room[n%64] - n
}

// Spins without a call, so that only a signal preempts it.
//
//go:noinline
func spin(n uint64) uint64 {
	x := n
	for i := uint64(0); i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func check(ok bool, what string) {
	if !ok {
		atomic.AddUint64(&wrong, 1)
		fmt.Println("WRONG", what)
	}
}

func grow() {
	done := make(chan int)
	go func() { done <- deep(200, new(int)) }()
	check(<-done == 1, "deep")
}

func work() {
	expect := spin(100000)
	for i := 0; ; i++ {
		grow()
		check(spin(100000) == expect, "spin")
		garbage := make([][]byte, 100)
		for k := range garbage {
			garbage[k] = make([]byte, 1000+k)
		}
		check(len(garbage[99]) == 1099, "garbage")
		atomic.AddUint64(&progress, 1)
		runtime.Gosched()
	}
}

func run(n uint64) {
	var group sync.WaitGroup
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func() {
			call(n)
			group.Done()
		}()
	}
	group.Wait()
	fmt.Println("made", n*workers)
}

// Its stack grows on the way down; others run before it goes up again.
//
//go:noinline
func descend(n int) int {
	var room [32]int

	room[n%32] = n
	if n == 0 {
		runtime.Gosched()
		return 0
	}
	if n%50 == 0 {
		runtime.Gosched()
	}
	return descend(n-1) + room[n%32]
}

const depth = 300

func descendAll(n uint64) {
	var group sync.WaitGroup
	for i := uint64(0); i < n*workers; i++ {
		group.Add(1)
		go func() {
			check(descend(depth) == depth*(depth+1)/2, "descend")
			group.Done()
		}()
	}
	group.Wait()
	fmt.Println("descended", n*workers*(depth+1))
}

var nowhere *int

//go:noinline
func fall(n int) int {
	if n == 0 {
		return *nowhere
	}
	if n < 0 {
		panic("fall")
	}
	if n%2 == 0 {
		return fall(n-2) + 1
	}
	return fall(n-2) + 2
}

//go:noinline
func catch(n int) (caught bool) {
	defer func() { caught = recover() != nil }()
	fall(n)
	return false
}

func fallAll(n uint64) {
	for i := uint64(0); i < n; i++ {
		check(catch(12+int(i%2)), "catch")
	}
	fmt.Println("fallen", n)
}

func main() {
	for i := 0; i < workers; i++ {
		go work()
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word := strings.Fields(lines.Text())
		switch {
		case len(word) == 2 && word[0] == "run":
			n, _ := strconv.ParseUint(word[1], 10, 64)
			run(n)
		case len(word) == 2 && word[0] == "descend":
			n, _ := strconv.ParseUint(word[1], 10, 64)
			descendAll(n)
		case len(word) == 2 && word[0] == "fall":
			n, _ := strconv.ParseUint(word[1], 10, 64)
			fallAll(n)
		case len(word) == 2 && word[0] == "tight":
			n, _ := strconv.ParseUint(word[1], 10, 64)
			tightAll(n)
		case len(word) == 2 && word[0] == "profile":
			rate, _ := strconv.Atoi(word[1])
			runtime.SetCPUProfileRate(rate)
			fmt.Println("profiling", rate)
		case len(word) == 2 && word[0] == "ask":
			n, _ := strconv.ParseUint(word[1], 10, 64)
			askAll(n)
		case lines.Text() == "ping":
			fmt.Println("alive", atomic.LoadUint64(&progress), atomic.LoadUint64(&wrong))
		case lines.Text() == "quit":
			fmt.Println("bye")
			return
		}
	}
}
