package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// watchSignals returns a context that SIGINT and SIGTERM end. SIGHUP opens the log file
// anew and has the options read again that may change; SIGPIPE is ignored, so that a reader of
// our output may leave. The function it returns ends the watch.
func (s *session) watchSignals() (context.Context, func()) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, release := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	forget := context.AfterFunc(ctx, func() { s.stopping(ctx) })
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hangups {
			if err := s.output.Reopen(); err != nil {
				s.log.Error("cannot open the log file anew", "err", err)
			}
			s.reload()
		}
	}()
	return ctx, func() {
		forget()
		release()
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}
