// Command trawl-load makes a node answer many callers at once that start, poll
// and abort scans. It says how long the answers took and whether they can be
// true. The node is a trawld, or any other that speaks Bitcoin Core's JSON-RPC.
//
// It finds the node and its credentials as trawl-cli does. It needs the node's
// scans to itself, and leaves a node on another machine alone unless
// -allowremote is given.
//
// The exit status is 0 when all replies are consistent, 1 when they are not,
// and 2 when nothing could be measured.
package main

//go:generate go test -run ^TestManual$ . -update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"

	"github.com/seed61375155/trawl/internal/load"
)

const (
	exitInconsistent = 1
	exitFailure      = 2
)

// streams are where the program writes to. The line that shows how far it is
// goes to stderr, where that is a terminal.
type streams struct {
	stdout, stderr io.Writer
	terminal       bool
	home           string
}

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, release) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], streams{
		stdout: os.Stdout, stderr: os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		home:     os.Getenv("HOME"),
	}))
}

// run is the program; it returns the exit status.
func run(ctx context.Context, args []string, std streams) int {
	p, err := parse(args, std)
	switch {
	case errors.Is(err, errAnswered):
		return 0
	case err != nil:
		fmt.Fprintln(std.stderr, "Error:", err)
		return exitFailure
	}
	r, err := measure(ctx, p, std)
	if err == nil {
		err = errors.Join(
			r.WriteText(std.stdout),
			save(p.jsonFile, r.WriteJSON), save(p.htmlFile, r.WriteHTML),
		)
	}
	switch {
	case err != nil:
		fmt.Fprintln(std.stderr, "Error:", err)
		return exitFailure
	case !r.Consistent():
		return exitInconsistent
	default:
		return 0
	}
}

// measure makes the calls.
func measure(ctx context.Context, p *plan, std streams) (*load.Report, error) {
	raised, err := allowFiles(p.load.Callers)
	if err != nil {
		return nil, err
	}
	if raised != "" {
		fmt.Fprintln(std.stderr, raised)
	}
	r, err := load.Prepare(ctx, p.load)
	if err != nil {
		return nil, err
	}
	if std.terminal {
		defer showProgress(std.stderr, r.Progress)()
	}
	result, err := r.Go(ctx)
	if err != nil {
		return nil, err
	}
	return &load.Report{Config: &p.load, Result: result}, nil
}

// save writes a file; there is none to write where path is empty.
func save(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
