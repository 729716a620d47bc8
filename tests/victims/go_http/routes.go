// SPDX-License-Identifier: MIT
//
// What the server is asked for, and what the right answer is: each kind of request
// leaves calls in another way.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"
)

// The path says the kind, and a number.
var kinds = []string{"order", "deep", "crowd", "own", "fault", "divide", "index", "again",
	"instead", "abort", "exit", "thread", "late", "pieces", "chan", "spin", "collect", "mute"}

type order struct {
	Name  string           `json:"name"`
	Parts map[string][]int `json:"parts"`
	Next  *order           `json:"next,omitempty"`
}

// What cannot be sent.
type pipe struct{ Wait chan int }

func makeOrder(n int) *order {
	var o *order

	for i := 0; i < 3; i++ {
		o = &order{fmt.Sprint("order ", n+i), map[string][]int{"a": {n, i}, "b": nil}, o}
	}
	return o
}

// What was asked for comes back, its first part changed.
//
//go:noinline
func answerOrder(w io.Writer, body io.Reader) {
	var o order

	madeOrder.returns()
	if err := json.NewDecoder(body).Decode(&o); err != nil {
		fmt.Fprint(w, err)
		return
	}
	o.Parts["a"][0]++
	json.NewEncoder(w).Encode(&o)
}

func rightOrder(n int) string {
	var right bytes.Buffer

	o := makeOrder(n)
	o.Parts["a"][0]++
	json.NewEncoder(&right).Encode(o)
	return right.String()
}

// It cannot be told before it is late.
func late(r *http.Request) string {
	ctx, cancel := context.WithTimeout(r.Context(), time.Millisecond)
	defer cancel()

	select {
	case <-ctx.Done():
		time.Sleep(time.Millisecond)
		return ctx.Err().Error()
	case <-time.After(time.Hour):
		return "in time"
	}
}

func pieces(w http.ResponseWriter) {
	for i := 0; i < 8; i++ {
		fmt.Fprint(w, strings.Repeat(fmt.Sprint(i), 3000))
		w.(http.Flusher).Flush()
	}
}

func rightPieces() (right string) {
	for i := 0; i < 8; i++ {
		right += strings.Repeat(fmt.Sprint(i), 3000)
	}
	return right
}

// Its own description fails.
type mute struct{ n int }

//go:noinline
func (m mute) String() string {
	madeMute.leaves()
	because(mutes)
	panic("mute")
}

func collect() string {
	keep := make([][]byte, 50)

	for i := range keep {
		keep[i] = make([]byte, 3000+i)
	}
	runtime.GC()
	return fmt.Sprint(len(keep[49]))
}

func marshalChan() string {
	because(chans)
	_, err := json.Marshal([]*pipe{{make(chan int)}})
	return err.Error()
}

//go:noinline
func answer(w http.ResponseWriter, r *http.Request, kind string) {
	madeAnswer.returns()
	switch kind {
	case "order":
		answerOrder(w, r.Body)
	case "deep":
		fmt.Fprint(w, grow())
	case "crowd":
		fmt.Fprint(w, crowd())
	case "own", "fault", "divide", "index":
		fmt.Fprint(w, catch(fall, kind))
	case "again":
		fmt.Fprint(w, catch(again, "own"))
	case "instead":
		fmt.Fprint(w, catch(instead, "fault"))
	case "exit", "thread":
		fmt.Fprint(w, end(kind == "thread"))
	case "late":
		fmt.Fprint(w, late(r))
	case "pieces":
		pieces(w)
	case "chan":
		fmt.Fprint(w, marshalChan())
	case "spin":
		fmt.Fprint(w, spin(3000000))
	case "collect":
		fmt.Fprint(w, collect())
	case "mute":
		fmt.Fprint(w, mute{1})
	}
}

//go:noinline
func handle(w http.ResponseWriter, r *http.Request) {
	kind := strings.Split(r.URL.Path, "/")[1]

	if kind == "abort" {
		madeHandle.leaves()
		because(aborts)
		panic(http.ErrAbortHandler)
	}
	madeHandle.returns()
	answer(w, r, kind)
}

func routes() http.Handler {
	mux := http.NewServeMux()
	for _, kind := range kinds {
		mux.HandleFunc("/"+kind+"/", handle)
	}
	return mux
}

func right(kind string, n int) string {
	switch kind {
	case "order":
		return rightOrder(n)
	case "deep":
		return "1"
	case "crowd":
		return fmt.Sprint(crowdSize)
	case "own", "again":
		return "own"
	case "fault":
		return "runtime error: invalid memory address or nil pointer dereference"
	case "divide":
		return "runtime error: integer divide by zero"
	case "index":
		n := len(kinds)
		return fmt.Sprintf("runtime error: index out of range [%d] with length %d", n, n)
	case "instead":
		return "instead"
	case "exit", "thread":
		return "ended"
	case "late":
		return context.DeadlineExceeded.Error()
	case "pieces":
		return rightPieces()
	case "chan":
		return "json: unsupported type: chan int"
	case "spin":
		return fmt.Sprint(spin(3000000))
	case "collect":
		return "3049"
	case "mute":
		return "%!v(PANIC=String method: mute)"
	}
	return ""
}

// One request. Of one that fails there is no answer.
//
//go:noinline
func ask(c *http.Client, url, kind string, n int) {
	madeAsk.returns()
	body, _ := json.Marshal(makeOrder(n))
	r, err := c.Post(fmt.Sprintf("%s/%s/%d", url, kind, n), "application/json", bytes.NewReader(body))
	if kind == "abort" {
		check(err != nil, "abort")
		return
	}
	if err != nil {
		check(false, kind, err)
		return
	}
	said, err := io.ReadAll(r.Body)
	r.Body.Close()
	check(err == nil && string(said) == right(kind, n), kind, ": ", string(said), err)
}
