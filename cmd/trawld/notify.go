package main

import (
	"errors"
	"log/slog"
	"os/exec"
	"sync"

	"github.com/seed61375155/trawl/internal/corelog"
)

// runCommands runs shell commands at the same time and waits for their ends.
func (s *session) runCommands(commands []string) {
	var wg sync.WaitGroup
	for _, command := range commands {
		if command == "" {
			continue
		}
		wg.Go(func() {
			err := exec.Command("/bin/sh", "-c", command).Run()
			if err == nil {
				return
			}
			status := -1
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				status = exit.ExitCode()
			}
			corelog.Printf(s.log, slog.LevelError, "runCommand error: system(%s) returned %d", command, status)
		})
	}
	wg.Wait()
}
