package main

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
)

// notifyGrace is how long commands that run when the node stops may hold that up.
const notifyGrace = 5 * time.Second

// runCommands runs shell commands at the same time and waits for their ends, even
// when ctx ends before them.
func (s *session) runCommands(ctx context.Context, commands []string) {
	var wg sync.WaitGroup
	for _, command := range commands {
		if command != "" {
			wg.Go(func() { s.runCommand(context.WithoutCancel(ctx), command) })
		}
	}
	wg.Wait()
}

// runCommand runs a shell command, which has none of this program's files, and
// waits for its end. Once ctx has ended it waits no longer than notifyGrace; the
// command runs on then.
func (s *session) runCommand(ctx context.Context, command string) {
	cmd := exec.Command("/bin/sh", "-c", command)
	detach(cmd)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	select {
	case err := <-ended:
		s.commandEnded(command, err)
		return
	case <-ctx.Done():
	}
	late := time.NewTimer(notifyGrace)
	defer late.Stop()
	select {
	case err := <-ended:
		s.commandEnded(command, err)
	case <-late.C:
		corelog.Printf(s.log, slog.LevelWarn, "runCommand: system(%s) still runs", command)
	}
}

// commandEnded logs a command that failed.
func (s *session) commandEnded(command string, err error) {
	if err == nil {
		return
	}
	status := -1
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status = exit.ExitCode()
	}
	corelog.Printf(s.log, slog.LevelError, "runCommand error: system(%s) returned %d", command, status)
}

// notifyConfig reads the commands that the node is to run; nil when there are none.
func (s *session) notifyConfig(o *options.Settings) *trawl.NotifyConfig {
	c := &trawl.NotifyConfig{
		Block: o.String("blocknotify", ""), Wallet: o.String("walletnotify", ""), Alert: o.String("alertnotify", ""),
		Run: s.runCommand,
	}
	for _, option := range []struct {
		name    string
		command *string
	}{{"blocknotify", &c.Block}, {"walletnotify", &c.Wallet}, {"alertnotify", &c.Alert}} {
		if o.IsNegated(option.name) {
			*option.command = ""
		}
	}
	if s.publisher != nil {
		c.Publisher = s.publisher
	}
	if c.Block == "" && c.Wallet == "" && c.Alert == "" && c.Publisher == nil {
		return nil
	}
	return c
}
