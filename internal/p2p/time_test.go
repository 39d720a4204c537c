package p2p_test

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// says waits for a session to end with an error of that text.
func says(t *testing.T, n *node, want string) {
	t.Helper()
	err := <-n.ended
	if !errors.Is(err, p2p.ErrTimeout) || err.Error() != want {
		t.Errorf("ended with %v, want %s", err, want)
	}
}

// noPong is a pong without its nonce, which ends the wait for one.
var noPong = &codec.Raw{Name: "pong"}

func TestTimeouts(t *testing.T) {
	tests := []struct {
		name  string
		cfg   p2p.Config
		speak func(r *raw)
		after time.Duration // at which the session ends, but for a tick
		want  string
	}{
		{
			"a silent peer",
			p2p.Config{Type: p2p.Inbound, PeerTimeout: 3 * time.Second},
			func(*raw) {}, 3 * time.Second,
			"socket no message in first 3 seconds, never received from peer, never sent to peer",
		},
		{
			"a silent peer of ours",
			p2p.Config{Type: p2p.Manual},
			func(r *raw) { r.readAll() }, time.Minute,
			"socket no message in first 60 seconds, never received from peer",
		},
		{
			"no verack",
			p2p.Config{Type: p2p.Inbound},
			func(r *raw) {
				r.readAll()
				_ = r.send(&codec.Version{Protocol: 70016})
			}, time.Minute, "version handshake timeout",
		},
		{
			"half a key",
			p2p.Config{Type: p2p.Inbound, V2: true},
			func(r *raw) {
				r.readAll()
				_ = r.write(make([]byte, 20))
			}, time.Minute, "V2 handshake timeout",
		},
		{
			"slow bytes",
			p2p.Config{Type: p2p.Inbound},
			func(r *raw) {
				r.readAll()
				_ = r.send(&codec.Version{Protocol: 70016})
				go r.trickle(frame("block", make([]byte, 100)))
			}, time.Minute, "version handshake timeout",
		},
		{
			"silence after the handshake",
			p2p.Config{Type: p2p.Inbound},
			func(r *raw) {
				r.readAll()
				r.shakeHands()
			}, 20 * time.Minute, "ping timeout: 1200.500000s",
		},
		{
			"silence after a pong",
			p2p.Config{Type: p2p.Inbound},
			func(r *raw) {
				r.readAll()
				r.shakeHands()
				_ = r.send(noPong)
			}, 20 * time.Minute, "socket receive timeout: 1201s",
		},
		{
			"no pong",
			p2p.Config{Type: p2p.Inbound},
			func(r *raw) {
				r.readAll()
				r.shakeHands()
				go r.repeat(wire.NewMsgPing(1))
			}, 20 * time.Minute, "ping timeout: 1200.500000s",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ours, theirs := net.Pipe()
				n := start(t, ours, test.cfg)
				n.Want(1000)
				test.speak(&raw{t, theirs})
				says(t, n, test.want)
				if took := time.Since(begun); took < test.after || took > test.after+2*time.Second {
					t.Errorf("took %v, want %v", took, test.after)
				}
				theirs.Close()
				time.Sleep(2 * time.Minute) // until whoever speaks has noticed
			})
		})
	}
}

// A peer that takes nothing is left after 20 minutes, although a write is stuck.
func TestAPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{Type: p2p.Inbound})
		n.Want(1000)
		r := &raw{t, theirs}
		r.shakeHandsReading()
		_ = r.send(noPong)
		go r.repeat(wire.NewMsgSendHeaders())
		_ = n.Send(&codec.Raw{Name: "block", Payload: make([]byte, 1000)})
		says(t, n, "socket sending timeout: 1201s")
		theirs.Close()
		time.Sleep(2 * time.Minute)
	})
}

func TestPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{Type: p2p.Inbound})
		n.Want(10)
		r := &raw{t, theirs}
		r.shakeHandsReading()
		first := r.ping()
		time.Sleep(30 * time.Millisecond)
		if st := n.Stats(); st.PingWait != 30*time.Millisecond || st.Ping != 0 {
			t.Errorf("got %v, %v", st.PingWait, st.Ping)
		}
		_ = r.send(wire.NewMsgPong(first + 1)) // counts for nothing
		_ = r.send(wire.NewMsgPong(first))
		synctest.Wait()
		if st := n.Stats(); st.PingWait != 0 || st.Ping != 30*time.Millisecond || st.MinPing != st.Ping {
			t.Errorf("got %v, %v, %v", st.PingWait, st.Ping, st.MinPing)
		}
		begun := time.Now()
		second := r.ping()
		if wait := time.Since(begun); wait < 119*time.Second || wait > 121*time.Second {
			t.Errorf("the next ping came after %v", wait)
		}
		time.Sleep(10 * time.Millisecond)
		_ = r.send(wire.NewMsgPong(second))
		synctest.Wait()
		if st := n.Stats(); st.Ping != 10*time.Millisecond || st.MinPing != 10*time.Millisecond {
			t.Errorf("got %v, %v", st.Ping, st.MinPing)
		}
		n.Ping()
		r.ping()
		_ = r.send(noPong)
		synctest.Wait()
		if st := n.Stats(); st.PingWait != 0 || st.Ping != 10*time.Millisecond {
			t.Errorf("got %v, %v", st.PingWait, st.Ping)
		}
		theirs.Close()
	})
}

// A clock that is set counts at the next look.
func TestAClockThatJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jump time.Duration
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{Type: p2p.Inbound, Now: func() time.Time { return time.Now().Add(jump) }})
		r := &raw{t, theirs}
		_ = r.send(&codec.Version{Protocol: 70016})
		r.readAll()
		synctest.Wait()
		jump = 61 * time.Second
		if err := n.Tick(); !errors.Is(err, p2p.ErrTimeout) {
			t.Errorf("got %v", err)
		}
		says(t, n, "version handshake timeout")
		theirs.Close()
	})
}
