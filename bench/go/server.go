// SPDX-License-Identifier: MIT
// An HTTP server as Go programs are: goroutines, channels, growing stacks.
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello %s\n", r.URL.Path)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], nil))
}
