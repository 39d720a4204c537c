// Package cores runs work in parallel. It says how many goroutines are worth starting
// for work that takes the processor, and keeps such work from holding up everything else.
//
// As long as every processor that Go may use computes, Go polls the
// network every 10 ms only, however often the computing goroutines yield. With
// more processors than cores ([AddHeadroom]) one of them is always free to listen,
// and the operating system gives it a core at once.
package cores

import "runtime"

// atStart is Go's own choice: the number of cores that the process may run on,
// less if its share of them is limited, or the value of the environment variable
// GOMAXPROCS.
var atStart = runtime.GOMAXPROCS(0)

// Count returns how many goroutines can compute at a time without taking turns.
func Count() int { return min(atStart, runtime.GOMAXPROCS(0)) }

// AddHeadroom lets Go run twice as many goroutines at a time as there are cores.
// It is for programs, at their start: the number is that of the whole process.
// Work for all cores takes [Count] goroutines afterwards as before.
func AddHeadroom() { runtime.GOMAXPROCS(2 * atStart) }
