package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listenAsManager returns a socket to which programs send their state.
func listenAsManager(t *testing.T, address string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestServiceManagerIsNotified(t *testing.T) {
	address := filepath.Join(t.TempDir(), "notify")
	conn := listenAsManager(t, address)
	t.Setenv("NOTIFY_SOCKET", address)
	t.Setenv("WATCHDOG_USEC", "1500000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	m := findServiceManager()
	if m.watchdog != 1500*time.Millisecond {
		t.Errorf("got a watchdog of %v", m.watchdog)
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		if _, ok := os.LookupEnv(name); ok {
			t.Errorf("commands would see %s", name)
		}
	}
	if err := m.notify("READY=1\nSTATUS=x"); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	n, err := conn.Read(text)
	if err != nil || string(text[:n]) != "READY=1\nSTATUS=x" {
		t.Errorf("got %q, %v", text[:n], err)
	}
}

func TestNoServiceManager(t *testing.T) {
	for name, value := range map[string]string{"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1", "NOTIFY_SOCKET": ""} {
		t.Setenv(name, value)
	}
	m := findServiceManager()
	if err := m.notify("READY=1"); err != nil || m != (serviceManager{}) {
		t.Errorf("got %v, %+v", err, m)
	}
}

// A service manager that has gone is logged and holds nothing up.
func TestServiceManagerIsGone(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	node := func(ctx context.Context, s *session) error {
		s.ready(ctx)
		return nil
	}
	status, stderr, log := startWith(t, node)
	if status != 0 || stderr != "" || !strings.Contains(log, "NOTIFY_SOCKET") {
		t.Errorf("got %d, %q, %q", status, stderr, log)
	}
}

// Signs of life are given as often as they are asked for, and only while there is life.
func TestKeepAlive(t *testing.T) {
	address := filepath.Join(t.TempDir(), "notify")
	conn := listenAsManager(t, address)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Second)
		defer cancel()
		var log bytes.Buffer
		s := &session{
			manager: serviceManager{socket: address, watchdog: 20 * time.Second},
			log:     slog.New(slog.NewTextHandler(&log, nil)),
		}
		asked := 0
		s.keepAlive(ctx, func(ctx context.Context) error {
			asked++
			switch {
			case asked == 3:
				return errors.New("stopped")
			case asked > 6:
				<-ctx.Done() // an actor that has got stuck
				return ctx.Err()
			}
			return nil
		})
		if asked < 8 || asked > 10 {
			t.Errorf("asked %d times in 95 s", asked)
		}
		if got := strings.Count(log.String(), "no sign of life"); got < 2 || strings.Contains(log.String(), "hear") {
			t.Errorf("got log %s", log.String())
		}
	})
	if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	signs, text := 0, make([]byte, 100)
	for {
		n, err := conn.Read(text)
		if err != nil {
			break
		}
		if signs++; string(text[:n]) != "WATCHDOG=1" {
			t.Errorf("got %q", text[:n])
		}
	}
	if signs != 5 {
		t.Errorf("got %d signs of life", signs)
	}
}
