// Command trawld runs a node as a service. It takes Bitcoin Core's options and
// configuration files, lays its data directory out as Core does and logs in
// Core's form.
//
// It runs in the foreground until SIGINT, SIGTERM or the method stop. The exit
// status is 0 after a clean stop and 1 after an error, which is on the standard
// error stream and, as far as there was one yet, in the log.
package main

//go:generate go test -run ^(TestGenerated|TestCoreDocs)$ . -update

import (
	"context"
	"io"
	"os"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/options"
)

// streams are the program's standard streams and its user's home.
type streams struct {
	stdout, stderr io.Writer
	home           string
}

// starter runs the node of a session until ctx ends or the node stops by itself.
// It calls s.ready once the node serves, and s.stopping as soon as it
// knows that it will stop. The text of its error is shown to the user.
type starter func(ctx context.Context, s *session) error

func main() {
	restrictNewFiles()
	noCoreDumps()
	cores.AddHeadroom()
	os.Exit(run(options.ProgramArgs(os.Args), streams{os.Stdout, os.Stderr, os.Getenv("HOME")}, startNode))
}

// run is the program; it returns the exit status.
func run(args []string, std streams, start starter) int {
	s, status := setup(args, std)
	if s == nil {
		return status
	}
	ctx, release := s.watchSignals()
	defer release()
	defer keepMemorySmall(s.settings, s.log)()
	if err := start(ctx, s); err != nil {
		s.fail(err)
		status = exitFailure
	}
	s.close(ctx)
	return status
}
