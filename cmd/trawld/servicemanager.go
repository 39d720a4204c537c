package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/messages"
)

// notifyTime is how long the service manager may leave a message in the queue.
const notifyTime = time.Second

// A serviceManager is systemd, or another program that has started this one and is notified of it
// by the protocol of sd_notify(3). The zero value stands for none.
type serviceManager struct {
	socket   string        // a path, or @ and an abstract name
	watchdog time.Duration // how long it waits for a sign of life; zero: for ever
}

// findServiceManager reads the environment, and takes out of it what is not for the
// commands that are run from here.
func findServiceManager() serviceManager {
	m := serviceManager{socket: os.Getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	pid := os.Getenv("WATCHDOG_PID")
	if err == nil && usec > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.watchdog = time.Duration(usec) * time.Microsecond
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name)
	}
	return m
}

// notify sends a message: lines of a name, an equals sign and a value.
func (m serviceManager) notify(message string) error {
	if m.socket == "" {
		return nil
	}
	conn, err := net.DialTimeout("unixgram", m.socket, notifyTime)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(notifyTime)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(message))
	return err
}

// notifyManager notifies the service manager; its silence is no reason to end.
func (s *session) notifyManager(message string) {
	if err := s.manager.notify(message); err != nil {
		s.log.Warn("the service manager (NOTIFY_SOCKET) does not hear", "err", err)
	}
}

// keepAlive gives a sign of life, twice in the time that the service manager waits for one,
// as long as alive returns nil in that time.
func (s *session) keepAlive(ctx context.Context, alive func(context.Context) error) {
	if s.manager.socket == "" || s.manager.watchdog == 0 {
		return
	}
	turn := s.manager.watchdog / 2
	next := time.NewTicker(turn)
	defer next.Stop()
	for {
		limited, cancel := context.WithTimeout(ctx, turn)
		err := alive(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Warn("the watchdog gets no sign of life: the chain does not answer", "err", err)
		default:
			s.notifyManager("WATCHDOG=1")
		}
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
	}
}

// chainAnswers returns when the actor that owns the chain has answered. Its answer proves more
// than a timer of this process that runs.
func (d *daemon) chainAnswers(ctx context.Context) error {
	_, err := trawl.Ask(ctx, d.node.Chain(), messages.GetImportStatus{})
	return err
}

// say notifies the log and the service manager of what the node is doing.
func (s *session) say(text string) {
	corelog.Printf(s.log, slog.LevelInfo, "init message: %s", text)
	s.notifyManager("STATUS=" + text)
}
