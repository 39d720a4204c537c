package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A listener that fails ends the daemon, with the cause.
func TestFailingListenerEndsTheDaemon(t *testing.T) {
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var stderr bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- run([]string{
			"-datadir=" + dir, "-regtest", "-listen=0", "-connect=0", "-printtoconsole=0",
			"-rpcallowip=127.0.0.1", "-rpcbind=127.0.0.1:" + strconv.Itoa(port),
		}, streams{&bytes.Buffer{}, &stderr, dir}, startNode)
	}()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		log, _ := os.ReadFile(filepath.Join(dir, "regtest", "debug.log"))
		if bytes.Contains(log, []byte("Done loading")) {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("does not start:\n%s", log)
		}
	}
	breakListener(t, port)
	select {
	case got := <-status:
		if got != exitFailure || !strings.Contains(stderr.String(), "Error: RPC server: accept tcp 127.0.0.1:"+
			strconv.Itoa(port)) {
			t.Errorf("ended with %d: %s", got, stderr.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("goes on without its listener")
	}
}

// breakListener makes the process's socket that listens on a port fail.
func breakListener(t *testing.T, port int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		listens, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
		if err != nil || listens == 0 {
			continue
		}
		addr, err := syscall.Getsockname(fd)
		if inet, ok := addr.(*syscall.SockaddrInet4); err == nil && ok && inet.Port == port {
			if err := syscall.Shutdown(fd, syscall.SHUT_RDWR); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("nobody listens")
}
