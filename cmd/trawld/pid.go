package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed61375155/trawl/internal/options"
)

// writePID writes the number of this process to the file of -pid and returns the file's path, which is empty
// with -nopid. The default name is the reference node's: tools that watch a node know that name.
func writePID(s *options.Settings) (string, error) {
	if s.IsNegated("pid") {
		return "", nil
	}
	path := s.BelowNetDir(s.Path("pid", options.NamesOf(s.Dialect()).Reference+".pid"))
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return "", refuse("Unable to create the PID file '%s': it is a pipe", path) // to open it waits for a reader
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return "", refuse("Unable to create the PID file '%s': %s", path, systemWords(err))
	}
	return path, nil
}

// systemWords says a failure of the system as Core does, with its number.
func systemWords(err error) string {
	code, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return err.Error()
	}
	words := code.Error()
	return fmt.Sprintf("%s%s (%d)", strings.ToUpper(words[:1]), words[1:], int(code))
}
