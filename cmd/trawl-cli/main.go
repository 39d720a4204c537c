// Command trawl-cli calls one JSON-RPC method of a trawld, or of any node that
// speaks Bitcoin Core's JSON-RPC, and prints the result. It takes the options of
// bitcoin-cli and prints what that prints.
//
// The exit status is 0 for a result, the absolute value of the error's code
// (modulo 256) for an error of the server, and 1 for everything else.
package main

import (
	"os"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], &world{
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		home:   os.Getenv("HOME"),
		pause:  time.Sleep,
	}))
}
