// SPDX-License-Identifier: MIT
//
// go_http [REQUESTS]: a server of HTTP in Go, and its clients, half of which connect
// anew for each request. Stacks grow, goroutines come by the hundred and are preempted,
// garbage is collected all the time, and calls are left in every way there is: is each
// of them left as the program itself has counted?
//
// With REQUESTS each client asks so often, and the program then says of its functions
//
//	made FUNCTION CALLS LEFT	LEFT: of them, without a return
//	cause WHAT COUNT		why, for what Go's libraries do for us
//
// Without, it obeys the commands of victim.h, and answers all the time, but for
//
//	hold            -> held         all requests are answered, and none is made
//	go              -> going
//	made            -> (as above), counted
//	profile         -> profiling    of itself, by a signal 100 times a second
//	forbid LO HI    -> forbidden    these bytes may not be read or run any more
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

const clients = 4

var progress, wrong uint64

// A client that makes a request holds it for reading.
var gate sync.RWMutex

// What is counted of a function.
type calls struct{ made, left uint64 }

var functions = map[string]*calls{}
var causes = map[string]*uint64{}

func of(name string) *calls {
	functions[name] = &calls{}
	return functions[name]
}

func cause(name string) *uint64 {
	causes[name] = new(uint64)
	return causes[name]
}

func (c *calls) returns() { atomic.AddUint64(&c.made, 1) }

func (c *calls) leaves() {
	atomic.AddUint64(&c.made, 1)
	atomic.AddUint64(&c.left, 1)
}

func because(cause *uint64) { atomic.AddUint64(cause, 1) }

// In the order of their names, so that two runs say the same.
func sayMade() {
	var lines []string
	for name, c := range functions {
		lines = append(lines, fmt.Sprintln("made", name, atomic.LoadUint64(&c.made),
			atomic.LoadUint64(&c.left)))
	}
	for name, n := range causes {
		lines = append(lines, fmt.Sprintln("cause", name, atomic.LoadUint64(n)))
	}
	sort.Strings(lines)
	fmt.Print(strings.Join(lines, ""))
}

func check(ok bool, what ...any) {
	if !ok {
		atomic.AddUint64(&wrong, 1)
		fmt.Println("WRONG", fmt.Sprint(what...))
	}
}

// Requests of one client: `n` of them, or without end if it is 0.
func client(url string, number, n int) {
	transport := &http.Transport{DisableKeepAlives: number%2 == 1}
	c := &http.Client{Transport: transport}

	for i := 0; n == 0 || i < n; i++ {
		gate.RLock()
		ask(c, url, kinds[(i+number)%len(kinds)], i)
		gate.RUnlock()
		atomic.AddUint64(&progress, 1)
	}
	transport.CloseIdleConnections()
}

func forbid(words []string) {
	lo, _ := strconv.ParseUint(words[1], 16, 64)
	hi, _ := strconv.ParseUint(words[2], 16, 64)
	_, _, err := syscall.RawSyscall(syscall.SYS_MPROTECT, uintptr(lo), uintptr(hi-lo), 0)
	check(err == 0, "forbid ", err)
	fmt.Println("forbidden")
}

func obey(words []string) bool {
	switch words[0] {
	case "ping":
		fmt.Println("alive", atomic.LoadUint64(&progress), atomic.LoadUint64(&wrong))
	case "hold":
		gate.Lock()
		fmt.Println("held")
	case "go":
		gate.Unlock()
		fmt.Println("going")
	case "made":
		sayMade()
		fmt.Println("counted")
	case "profile":
		err := pprof.StartCPUProfile(io.Discard)
		check(err == nil, "profile ", err)
		fmt.Println("profiling")
	case "forbid":
		forbid(words)
	case "quit":
		fmt.Println("bye")
		return false
	}
	return true
}

func obeyAll() {
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 0 && !obey(words) {
			return
		}
	}
}

func main() {
	var asking sync.WaitGroup
	n := 0

	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	debug.SetGCPercent(5)
	server := httptest.NewUnstartedServer(routes())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handlers that fail are no news
	server.Start()
	for i := 0; i < clients; i++ {
		asking.Add(1)
		go func(number int) {
			client(server.URL, number, n)
			asking.Done()
		}(i)
	}
	if n == 0 {
		obeyAll()
		return
	}
	asking.Wait()
	server.Close()
	sayMade()
}
