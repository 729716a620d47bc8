// SPDX-License-Identifier: MIT
//
// An HTTP server in Go, and its clients, in one process that collects garbage and
// takes a profile of itself all the while. Each request is answered by goroutines
// whose stacks grow, by a panic that is recovered from, a select and a timer. Does
// each of them get the right answer? It speaks as victim.h says.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

const clients = 4

var progress, wrong uint64

//go:noinline
func grow(n int) int {
	var room [64]int

	room[n%64] = n
	if n == 0 {
		return 0
	}
	return grow(n-1) + room[n%64]
}

type node struct{ value int }

//go:noinline
func fault(n *node) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%v", e)
		}
	}()
	n.value++
	return nil
}

func answer(w http.ResponseWriter, r *http.Request) {
	sum := make(chan int)
	late := time.NewTimer(time.Minute)

	go func() { sum <- grow(200) }()
	err := fault(nil)
	select {
	case n := <-sum:
		fmt.Fprintf(w, "%s %d %v", r.URL.Path, n, err != nil)
	case <-late.C:
		fmt.Fprint(w, "late")
	}
	late.Stop()
}

func ask(url, path string) {
	r, err := http.Get(url + path)
	if err == nil {
		var body []byte

		body, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err == nil && string(body) != path+" 20100 true" {
			err = fmt.Errorf("answered %q", body)
		}
	}
	if err != nil {
		atomic.AddUint64(&wrong, 1)
		fmt.Println("WRONG", err)
	}
	atomic.AddUint64(&progress, 1)
}

func main() {
	debug.SetGCPercent(5)
	server := httptest.NewServer(http.HandlerFunc(answer))
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = clients
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		fmt.Println("WRONG", err)
	}
	for i := 0; i < clients; i++ {
		go func(path string) {
			for {
				ask(server.URL, path)
			}
		}(fmt.Sprint("/", i))
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "ping":
			fmt.Println("alive", atomic.LoadUint64(&progress), atomic.LoadUint64(&wrong))
		case "quit":
			fmt.Println("bye")
			return
		}
	}
}
