package e2e_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A service manager is told when calls are answered and not before, that the node lives, and
// that it stops.
func TestServiceManager(t *testing.T) {
	address := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", address)
	t.Setenv("WATCHDOG_USEC", "400000")
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex"}})
	var heard []string
	hear := func(want string) {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 1000)
		for {
			n, err := conn.Read(text)
			if err != nil {
				t.Fatalf("%q did not come: %v; heard %q", want, err, heard)
			}
			heard = append(heard, string(text[:n]))
			if strings.Split(string(text[:n]), "\n")[0] == want {
				return
			}
		}
	}
	hear("READY=1")
	if len(heard) < 3 || heard[0] != "STATUS=Loading block index…" {
		t.Errorf("before it was ready: %q", heard)
	}
	hear("WATCHDOG=1")
	hear("WATCHDOG=1")
	d.Get(nil, "stop")
	hear("STOPPING=1")
	d.WantCleanEnd()
}
