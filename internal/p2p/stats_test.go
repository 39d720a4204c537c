package p2p_test

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

const header = 24 // bytes of a message of v1

// The numbers of a session are those of its messages; names that nobody knows are counted together.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 1 << 20
		var totals p2p.Totals
		totals.Uploads.Limit = limit
		ours, theirs := net.Pipe()
		began := time.Now()
		n := start(t, ours, p2p.Config{Totals: &totals})
		if st := n.Stats(); !st.LastSent.IsZero() || !st.LastReceived.IsZero() || st.Sent+st.Received != 0 {
			t.Errorf("before anything: %+v", st)
		}
		n.Want(100)
		r := &raw{t, theirs}
		r.shakeHandsReading()
		r.ping()
		time.Sleep(time.Second)
		_ = r.write(frame("xyzzy", make([]byte, 10)))
		_ = r.write(frame("plugh", make([]byte, 20)))
		_ = r.write(frame("inv", []byte{0}))
		synctest.Wait()
		received := time.Now()
		time.Sleep(time.Second)
		_ = n.SendRaw("odd", make([]byte, 5))
		synctest.Wait()
		before := limit - totals.Uploads.State(time.Now()).Left
		r.read()
		synctest.Wait()
		st := n.Stats()
		if !st.Connected.Equal(began) || !st.LastReceived.Equal(received) ||
			!st.LastSent.Equal(received.Add(time.Second)) {
			t.Errorf("connected %v, received %v, sent %v", st.Connected, st.LastReceived, st.LastSent)
		}
		in, out := uint64(0), uint64(0)
		for _, n := range st.ReceivedPerMessage {
			in += n
		}
		for _, n := range st.SentPerMessage {
			out += n
		}
		if st.ReceivedPerMessage["*other*"] != 2*header+30 || st.ReceivedPerMessage["inv"] != header+1 ||
			st.SentPerMessage["*other*"] != header+5 || st.SentPerMessage["ping"] != header+8 ||
			st.ReceivedPerMessage["xyzzy"] != 0 {
			t.Errorf("got %+v", st)
		}
		if st.Received != in || st.Sent != out || totals.Received.Load() != in || totals.Sent.Load() != out {
			t.Errorf("%d and %d bytes, %d and %d in all, of messages with %d and %d",
				st.Received, st.Sent, totals.Received.Load(), totals.Sent.Load(), in, out)
		}
		if left := limit - totals.Uploads.State(time.Now()).Left; left != before || before < header+5 {
			t.Errorf("%d bytes count against the limit, %d while some were queued", left, before)
		}
		theirs.Close()
	})
}

// A brokenConn takes some bytes, and then fails.
type brokenConn struct {
	net.Conn
	takes int
}

func (c *brokenConn) Write(b []byte) (int, error) {
	n := min(c.takes, len(b))
	c.takes -= n
	return n, io.ErrClosedPipe
}

// Bytes that were written count, one too; an attempt that wrote none does not.
func TestSentBytesOfAFailedWrite(t *testing.T) {
	for _, takes := range []int{0, 1, 30} {
		var totals p2p.Totals
		ours, theirs := net.Pipe()
		n := start(t, &brokenConn{ours, takes}, p2p.Config{Type: p2p.Manual, Totals: &totals})
		endsWith(t, n, io.ErrClosedPipe)
		st := n.Stats()
		want := uint64(takes)
		if st.Sent != want || totals.Sent.Load() != want || st.LastSent.IsZero() != (takes == 0) ||
			st.SentPerMessage["version"] != want {
			t.Errorf("%d bytes: %+v", takes, st)
		}
		theirs.Close()
	}
}

// A pong counts with the time that it took, none too; the least of all is kept. It counts for nothing where the clock
// was set back.
func TestPongTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lines
		var back atomic.Int64 // how far the clock was set back
		ours, theirs := net.Pipe()
		now := func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
		n := start(t, ours, p2p.Config{ID: 5, Log: log.add, Now: now})
		n.Want(100)
		r := &raw{t, theirs}
		r.shakeHandsReading()
		answer := func(nonce uint64, after time.Duration) {
			time.Sleep(after)
			_ = r.send(wire.NewMsgPong(nonce))
			synctest.Wait()
		}
		for i, step := range []struct{ took, least time.Duration }{
			{3 * time.Millisecond, 3 * time.Millisecond},
			{5 * time.Millisecond, 3 * time.Millisecond},
			{2 * time.Millisecond, 2 * time.Millisecond},
			{0, 0},
			{time.Millisecond, 0},
		} {
			if i > 0 {
				n.Ping()
			}
			answer(r.ping(), step.took)
			if st := n.Stats(); !st.Pinged || st.Ping != step.took || st.MinPing != step.least || st.PingWait != 0 {
				t.Errorf("pong %d: %+v", i, st)
			}
		}
		n.Ping()
		nonce := r.ping()
		back.Store(int64(time.Second))
		answer(nonce, 0)
		st := n.Stats()
		if st.Ping != time.Millisecond || st.PingWait != 0 || !strings.Contains(log.String(), "Timing mishap") {
			t.Errorf("a clock set back: %+v\n%s", st, log.String())
		}
		theirs.Close()
	})
}

// A session reads on while the owner has no more bytes than it may, and stops with one more.
func TestReceiveLimitToTheByte(t *testing.T) {
	for over, reads := range map[int]bool{0: true, 1: false} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			n := start(t, ours, p2p.Config{
				ReceiveLimit: 1000, Make: func(command string) wire.Message { return &codec.Raw{Name: command} },
			})
			n.Want(100)
			r := &raw{t, theirs}
			r.readAll()
			r.shakeHands()
			_ = r.write(frame("block", make([]byte, 600)))
			_ = r.write(frame("block", make([]byte, 400+over)))
			go func() { _ = r.write(frame("block", make([]byte, 100_000))) }()
			synctest.Wait()
			want := 2
			if reads {
				want = 3
			}
			if got := len(n.received); got != want {
				t.Errorf("%d over the limit: the owner has %d messages, want %d", over, got, want)
			}
			n.Want(-5) // nothing
			n.Want(0)
			synctest.Wait()
			if got := len(n.received); got != want {
				t.Errorf("%d over the limit: the owner has %d messages without a word", over, got)
			}
			n.Want(1)
			synctest.Wait()
			if got := len(n.received); got != 3 {
				t.Errorf("%d over the limit: %d messages after the first was handled", over, got)
			}
			theirs.Close()
		})
	}
}

// A queue is full with a byte more than its limit, and takes 9 MB beyond it; each message counts with 64 bytes besides.
func TestSendLimits(t *testing.T) {
	const overhead, slack = 64, 2*codec.MaxPayload + 1_000_000
	for over := range 2 {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			n := start(t, ours, p2p.Config{SendLimit: 10_000})
			r := &raw{t, theirs}
			r.shakeHandsReading()
			r.ping()
			synctest.Wait()
			_ = n.SendRaw("odd", make([]byte, 10_000-overhead+over))
			if got := n.CanWrite(); got != (over == 0) {
				t.Errorf("%d over the limit: can write: %v", over, got)
			}
			left := slack - over
			for _, size := range []int{codec.MaxPayload, codec.MaxPayload} {
				if err := n.SendRaw("odd", make([]byte, size-overhead)); err != nil {
					t.Fatal(err)
				}
				left -= size
			}
			err := n.SendRaw("odd", make([]byte, left-overhead+over))
			if (err == nil) != (over == 0) {
				t.Errorf("%d over the slack: %v", over, err)
			}
			theirs.Close()
		})
	}
}

// Finish ends the session after its time where the peer takes nothing, and no earlier.
func TestFinishInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{})
		r := &raw{t, theirs}
		r.shakeHandsReading() // the ping is never read
		synctest.Wait()       // it is being written
		began := time.Now()
		n.Finish(nil, 3*time.Second)
		endsWith(t, n, p2p.ErrClosed)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		theirs.Close()
	})
}

// A feeler says goodbye within a second, also where the peer takes nothing.
func TestFeelerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{Type: p2p.Feeler})
		r := &raw{t, theirs}
		r.read()
		_ = r.send(&codec.Version{Protocol: 70016})
		began := time.Now()
		endsWith(t, n, p2p.ErrFeeler)
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
		theirs.Close()
	})
}

// The time offset of a peer is that of its clock, in whole seconds.
func TestTimeOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond)
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{})
		r := &raw{t, theirs}
		r.readAll()
		_ = r.send(&codec.Version{Protocol: 70016, Time: time.Now().Unix() - 77})
		_ = r.send(wire.NewMsgVerAck())
		if got := next(t, n.established).TimeOffset; got != -77*time.Second {
			t.Errorf("got %v", got)
		}
		theirs.Close()
	})
}
