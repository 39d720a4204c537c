// Command trawl-cli calls one JSON-RPC method of a trawld, or of any node that
// speaks Bitcoin Core's JSON-RPC, and prints the result. It takes the options of
// bitcoin-cli and prints what that prints.
//
// The exit status is 0 for a result, the absolute value of the error's code
// (modulo 256) for an error of the server, and 1 for everything else.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/seed61375155/trawl/internal/options"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 {
		args = options.ProgramArgs(os.Args)
	}
	os.Exit(run(args, &world{
		stdin:      os.Stdin,
		stdout:     os.Stdout,
		stderr:     os.Stderr,
		home:       os.Getenv("HOME"),
		pause:      time.Sleep,
		colour:     term.IsTerminal(int(os.Stdout.Fd())),
		terminal:   term.IsTerminal(int(os.Stderr.Fd())),
		interrupts: interrupts,
	}))
}

func interrupts() (hits <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	// A closed terminal and a closed pipe end a program that is not notified, which would leave the search of a watch.
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	return c, func() { signal.Stop(c) }
}
