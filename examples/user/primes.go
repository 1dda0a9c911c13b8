// SPDX-License-Identifier: GPL-2.0-only OR MIT

// A Go program with events of its own, by libfkt-user.so (fkt/user_library.h): goroutines look for primes.
//
//	go build primes.go      (CGO_CFLAGS=-I... CGO_LDFLAGS=-L... where FKT is not installed)
//	fkt_record --user-only ./primes 4 100000 && fkt_print
//
// primes GOROUTINES LIMIT: prints how many primes are below LIMIT. Each is an event, in its goroutine's span.
package main

/*
#cgo LDFLAGS: -lfkt-user
#include <stdlib.h>
#include <fkt/user_library.h>
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Event is an event with a name. It is made once, and never freed; any goroutine may write it.
type Event struct{ event *C.struct_fkt_library_event }

// NewEvent makes one. fields: "key:u64 path:text".
func NewEvent(kind, name, fields string) Event {
	k, n, f := C.CString(kind), C.CString(name), C.CString(fields)
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(n))
	defer C.free(unsafe.Pointer(f))
	event := C.fkt_library_event(k, n, f)
	if event == nil {
		panic("no event: " + name)
	}
	return Event{event}
}

// Write has as many values as the event has fields, one at least.
func (e Event) Write(values ...int64) {
	C.fkt_library_write(e.event, (*C.int64_t)(&values[0]))
}

// Begin begins a span, and returns what ends it. A span belongs to a thread, so the goroutine stays on its own until
// then.
func (e Event) Begin(values ...int64) func() {
	runtime.LockOSThread()
	e.Write(values...)
	return func() {
		C.fkt_library_end(e.event)
		runtime.UnlockOSThread()
	}
}

func isPrime(number int64) bool {
	for d := int64(2); d*d <= number; d++ {
		if number%d == 0 {
			return false
		}
	}
	return number > 1
}

func argument(at int, otherwise int64) int64 {
	if len(os.Args) <= at {
		return otherwise
	}
	number, err := strconv.ParseInt(os.Args[at], 10, 64)
	if err != nil || number < 1 {
		fmt.Fprintln(os.Stderr, "usage: primes [GOROUTINES [LIMIT]]")
		os.Exit(2)
	}
	return number
}

func main() {
	routines, limit := argument(1, 2), argument(2, 1000)
	search := NewEvent("span", "search", "from:u64 step:u32")
	prime := NewEvent("point", "prime", "number:u64")
	var found int64
	var all sync.WaitGroup
	for first := int64(0); first < routines; first++ {
		all.Add(1)
		go func(first int64) {
			defer all.Done()
			defer search.Begin(first, routines)()
			for number := first; number < limit; number += routines {
				if isPrime(number) {
					prime.Write(number)
					atomic.AddInt64(&found, 1)
				}
			}
		}(first)
	}
	all.Wait()
	C.fkt_library_probe(0x30, 1, (*C.int64_t)(unsafe.Pointer(&found)))
	fmt.Println(found)
}
