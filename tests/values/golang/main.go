// SPDX-License-Identifier: MIT

// Functions that take and return what Go has of its own: live/values_go.sh has what is to be
// printed of them.
package main

import (
	"errors"
	"runtime"
)

// The driver traces the first thread: main stays there.
func init() { runtime.LockOSThread() }

type point struct{ X, Y int32 }

type big struct {
	A [3]int
	S string
}

type shape interface{ area() float64 }

type square struct{ side float64 }

func (s square) area() float64 { return s.side * s.side }

var hole interface{}

//go:noinline
func sink(v ...interface{}) { hole = v[0] }

//go:noinline
func f1(s string, n int, b []byte, v []int32) (int, error) {
	sink(s, b, v)
	if n > 5 {
		return n, errors.New("bad")
	}
	return len(s) + n + len(b) + len(v), nil
}

//go:noinline
func f2(p point, b big, q *point, f float64, g float32) (string, bool) {
	sink(p, b, q, f, g)
	return "res", true
}

//go:noinline
func f3(s shape, e error, m map[string]int, c chan int, a interface{}) point {
	sink(s, e, m, c, a)
	return point{3, 4}
}

//go:noinline
func f4(a, b, c, d, e, f, g, h, i, j, k int, s string, u uint8, w float64) [1]int {
	sink(a+b+c+d+e+f+g+h+i+j+k, s, u, w)
	return [1]int{a}
}

//go:noinline
func f5(a [2]int, s []string, r rune, u uint8, ok bool, c complex128, x [1]string) (n []string) {
	sink(a, s, r, u, ok, c, x)
	return s[1:]
}

//go:noinline
func f6(n struct{}, v []big, p **int, z [0]int) {
	sink(n, v, p, z)
}

type padded struct {
	X int32
	Y uint8
	N string
}

//go:noinline
func f7(p padded, k int) padded {
	sink(p, k)
	return p
}

func main() {
	i := 5
	p := &i
	f1("hello", 3, []byte("abc"), []int32{1, 2})
	f1("", 7, nil, nil)
	f2(point{1, 2}, big{[3]int{1, 2, 3}, "in"}, &point{5, 6}, 1.5, 2.5)
	f3(square{2}, errors.New("x"), map[string]int{"a": 1}, make(chan int), 5)
	f3(nil, nil, nil, nil, nil)
	f4(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "last", 3, -0.5)
	f5([2]int{1, 2}, []string{"a", "b", "c"}, 'x', 7, true, complex(1, 2), [1]string{"one"})
	f6(struct{}{}, []big{{[3]int{4, 5, 6}, "s"}}, &p, [0]int{})
	f7(padded{-5, 6, "behind"}, 7)
}
