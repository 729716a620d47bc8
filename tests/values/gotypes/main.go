// SPDX-License-Identifier: MIT

// Functions that take and return interfaces of many types, and print what is to be shown of them, by
// reflect and fmt: live/values_go.sh compares.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type color uint8
type text string
type pair struct{ A, B int }
type own struct{ code int }
type box[T any] struct{ value T }

func (t text) String() string { return string(t) }
func (p *pair) String() string {
	if p == nil {
		return "none"
	}
	return "pair"
}
func (c color) String() string  { return "color" }
func (o own) Error() string     { return "own" }
func (b box[T]) Error() string  { return "box" }
func (t text) Error() string    { return string(t) }

// Text of which 64 bytes are read.
func quoted(s string) string {
	if len(s) > 64 {
		return strconv.Quote(s[:64]) + "..."
	}
	return strconv.Quote(s)
}

// In an interface of methods the text of strings is not read, for only an error is one as a rule.
func told(v any, texts bool) string {
	if v == nil {
		return "nil"
	}
	name := fmt.Sprintf("%T", v)
	r := reflect.ValueOf(v)
	if len(name) > 64 {
		name = name[:64] + "..."
	}
	switch r.Kind() {
	case reflect.String:
		if texts {
			return name + "(" + quoted(r.String()) + ")"
		}
	case reflect.Bool:
		return fmt.Sprintf("%s(%v)", name, r.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("%s(%d)", name, r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		return fmt.Sprintf("%s(%d)", name, r.Uint())
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("%s(%v)", name, r.Float())
	case reflect.Ptr:
		if r.IsNil() {
			return name + "(nil)"
		}
		switch name {
		case "*errors.errorString", "*fmt.wrapError", "*fmt.wrapErrors":
			return name + "(" + quoted(v.(error).Error()) + ")"
		}
	}
	return name + "(ADDRESS)"
}

var hole any
var holeError error
var holeStringer fmt.Stringer

// What calls another function asks for room on its stack, so its values are read.
//
//go:noinline
func sink(v any) { hole = v }

//go:noinline
func sinkError(e error) { holeError = e }

//go:noinline
func sinkStringer(s fmt.Stringer) { holeStringer = s }

//go:noinline
func takesAny(v any) any {
	sink(v)
	return v
}

//go:noinline
func takesError(e error) (int, error) {
	sinkError(e)
	return 1, e
}

//go:noinline
func takesStringer(s fmt.Stringer) fmt.Stringer {
	sinkStringer(s)
	return s
}

func main() {
	long := strings.Repeat("long text ", 20)
	_, path := os.Open("/nonexistent")
	var none *pair
	var lines []string
	for _, v := range []any{nil, true, false, 5, int8(-5), int16(-300), int32(70000), int64(-1) << 40,
		uint(7), uint8(200), uint16(60000), uint32(1) << 31, uint64(1) << 63, uintptr(4096),
		float32(1.5), -2.25, "", "text", long, color(3), text("own"), time.Duration(1000),
		pair{1, 2}, &pair{3, 4}, none, []int{1}, map[string]int{}, [2]string{"a", "b"},
		struct{}{}, func() {}, make(chan int), errors.New("as any"), box[map[string]pair]{map[string]pair{}}} {
		takesAny(v)
		lines = append(lines, fmt.Sprintf("main.takesAny(v=%s) = %s", told(v, true), told(v, true)))
	}
	// A type that is made at run time has no description where the others are.
	odd := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Odd", Type: reflect.TypeOf(0)}})).Elem().Interface()
	takesAny(odd)
	lines = append(lines, "main.takesAny(v=ADDRESS) = ADDRESS")
	for _, e := range []error{nil, errors.New("bad"), errors.New(""), errors.New(long), fs.ErrNotExist,
		fmt.Errorf("read: %w", errors.New("inner")), fmt.Errorf("plain %d", 5), path,
		syscall.ENOENT, own{3}, &own{4}, text("a text"), box[int]{}} {
		takesError(e)
		lines = append(lines, fmt.Sprintf("main.takesError(e=%s) = (1, %s)", told(e, true),
			told(e, true)))
	}
	for _, s := range []fmt.Stringer{nil, text("x"), &pair{1, 2}, none, color(9), time.Second} {
		takesStringer(s)
		lines = append(lines, fmt.Sprintf("main.takesStringer(s=%s) = %s", told(s, false),
			told(s, false)))
	}
	fmt.Println(strings.Join(lines, "\n"))
}
