package zmqsink

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A thousand subscribers that come and go, stall, or send garbage delay neither the
// publisher nor a subscriber that reads.
func TestManySubscribers(t *testing.T) {
	const subscribers, messages, size, hwm = 1000, 400, 50_000, 50
	p := open(t, hwm, "x")
	addr := p.sockets[0].listener.Addr()
	reader := meet(t, dial(t, p))
	reader.subscribe("x")
	reader.synced()
	before := heap()

	var stop atomic.Bool
	var group sync.WaitGroup
	var stalled []*peer
	for range subscribers / 2 { // which never read again
		s := meet(t, dial(t, p))
		s.subscribe("")
		s.synced()
		stalled = append(stalled, s)
	}
	var visits atomic.Int64
	for i := range 20 { // visitors, which come again and again, 25 at a time each
		group.Go(func() {
			for !stop.Load() {
				var conns []net.Conn
				for range subscribers / 2 / 20 {
					conn, err := net.Dial(addr.Network(), addr.String())
					if err != nil {
						t.Error(err)
						return
					}
					conns = append(conns, conn)
					_, _ = conn.Write(visit(i)) // may be cut off
					visits.Add(1)
				}
				for _, conn := range conns {
					_ = conn.Close()
				}
			}
		})
	}
	body := make([]byte, size)
	slowest := time.Duration(0)
	for i := range messages {
		begun := time.Now()
		p.Publish("x", body)
		slowest = max(slowest, time.Since(begun))
		if m := reader.message(); m.number != uint32(i) {
			t.Fatalf("message %d, want %d", m.number, i)
		}
	}
	stop.Store(true)
	group.Wait()
	grown := heap() - before
	t.Logf("%d visits, slowest publish %v, heap grew by %d KiB", visits.Load(), slowest, grown>>10)
	if slowest > 2*time.Second {
		t.Errorf("publishing took %v", slowest)
	}
	// Stalled subscribers share the waiting messages; some are in the buffers of the
	// system.
	if used := p.sockets[0].budget.used.Load(); used > 3*hwm*size {
		t.Errorf("%d bytes wait", used)
	}
	if limit := int64(subscribers*40<<10 + 3*hwm*size); grown > limit { // connections have two goroutines
		t.Errorf("heap grew by %d bytes, want at most %d", grown, limit)
	}
	runtime.KeepAlive(stalled)
}

// visit is what a subscriber sends before it leaves.
func visit(kind int) []byte {
	switch kind % 4 {
	case 0:
		return bytes.Repeat([]byte{0xff, 0x17}, 500)
	case 1:
		return libzmqGreeting[:20]
	case 2:
		return nil
	}
	return fmt.Appendf(nil, "%s%s%s", libzmqGreeting, libzmqReady, command("SUBSCRIBE", nil))
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// A Unix socket that is left over is replaced. A socket in use and an ordinary file are
// not.
func TestLeftOver(t *testing.T) {
	path := t.TempDir() + "/s"
	topics := []Topic{{"x", "ipc://" + path, 1}}
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Topics: topics, Log: quiet()}); err == nil {
		t.Error("took an address that is in use")
	}
	old.SetUnlinkOnClose(false)
	_ = old.Close()
	p, err := Open(Config{Topics: topics, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, p)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Topics: topics, Log: quiet()}); err == nil {
		t.Error("took the place of a file")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
		t.Errorf("the file is %q, %v", data, err)
	}
}

// inMemory is a connection whose peer has said all that it will.
type inMemory struct {
	net.Conn
	io.Reader
	wrote int
}

func (c *inMemory) Read(b []byte) (int, error)  { return c.Reader.Read(b) }
func (c *inMemory) Write(b []byte) (int, error) { c.wrote += len(b); return len(b), nil }
func (*inMemory) Close() error                  { return nil }
func (*inMemory) SetDeadline(time.Time) error   { return nil }
