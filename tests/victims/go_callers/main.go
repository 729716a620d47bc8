// SPDX-License-Identifier: MIT
//
// Calls of main.probed from everywhere, which prints its callers itself: for each call a line with
// a number and the return addresses, the innermost first.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
)

var sink int
var mu sync.Mutex

//go:noinline
func probed(n int) int {
	var pcs [128]uintptr
	var b strings.Builder
	m := runtime.Callers(1, pcs[:])
	fmt.Fprintf(&b, "%d:", n)
	for _, pc := range pcs[1:m] {
		fmt.Fprintf(&b, " 0x%x", pc)
	}
	b.WriteString("\n")
	mu.Lock()
	os.Stdout.WriteString(b.String())
	mu.Unlock()
	sink += n
	return n
}

//go:noinline
func deep(n int) int {
	var pad [20]int
	pad[n%20] = n
	if n == 0 {
		return probed(pad[0])
	}
	return deep(n-1) + pad[n%20]
}

type T struct{ n int }

//go:noinline
func (t *T) method(f func(int) int) int { return f(t.n) + 1 }

func main() {
	for i := 0; i < 3; i++ {
		probed(1)
		deep(5)
		deep(60)
		t := &T{7}
		t.method(func(n int) int { return probed(n) + 1 })
		var wg sync.WaitGroup
		wg.Add(1)
		go func() { defer wg.Done(); deep(30); probed(3) }()
		wg.Wait()
	}
}
