// SPDX-License-Identifier: MIT

// Goroutines whose stacks grow, and which any thread may run: each call of deep says itself what it
// has to be shown as. Fails if one returns something else.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
)

type pair struct {
	ID    int
	Depth int32
}

var failed = errors.New("at the bottom")

//go:noinline
func deep(id, depth int, name string, p pair, f float64) (string, int, error) {
	var room [40]byte
	room[depth%len(room)] = byte(id)
	if depth%3 == 0 {
		runtime.Gosched()
	}
	if depth == 0 {
		return name, int(room[0]), failed
	}
	s, n, err := deep(id, depth-1, fmt.Sprintf("%d-%d", id, depth-1), pair{id, int32(depth - 1)},
		float64(depth-1)/2)
	if s != fmt.Sprintf("%d-0", id) || (err == nil) == (depth == 1) {
		panic("a call has returned something else")
	}
	return s, n + 1, nil
}

func main() {
	var all sync.WaitGroup
	for id := 1; id <= 100; id++ {
		all.Add(1)
		go func(id int) {
			defer all.Done()
			_, n, _ := deep(id, 60, fmt.Sprintf("%d-60", id), pair{id, 60}, 30)
			if n != id+60 {
				fmt.Println("not", id+60, "but", n)
				os.Exit(1)
			}
		}(id)
	}
	all.Wait()
	fmt.Println("done")
}
