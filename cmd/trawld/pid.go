package main

import (
	"os"
	"strconv"

	"github.com/seed61375155/trawl/internal/options"
)

// pidFile has the number of the process: Core's name, since tools that watch a node know it.
const pidFile = "bitcoind.pid"

// writePID writes the number of this process to the file of -pid and returns the
// file's path, which is empty with -nopid.
func writePID(s *options.Settings) (string, error) {
	if s.IsNegated("pid") {
		return "", nil
	}
	path := s.BelowNetDir(s.Path("pid", pidFile))
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return "", refuse("Unable to create the PID file '%s': %v", path, err)
	}
	return path, nil
}
