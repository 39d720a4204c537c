package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/load"
)

// An attack is many clients of bad will. Other clients call getblockcount
// meanwhile.
type attack struct {
	name    string
	clients int           // in the benchmark
	sample  int           // in the test
	lasts   time.Duration // in the benchmark

	// client is one of the attackers, until ctx ends. It returns how often it
	// was answered.
	client func(ctx context.Context, v *victim) (answered int)
}

var attacks = []attack{
	{"bad-logins", 128, 16, 10 * time.Second, badLogins},
	{"bad-logins-reconnecting", 128, 16, 10 * time.Second, badLoginsReconnecting},
	{"slowloris", 5_000, 200, 30 * time.Second, slowHead},
	{"huge-batches", 8, 1, 10 * time.Second, hugeBatches},
	{"endless-bodies", 8, 1, 10 * time.Second, endlessBodies},
	{"huge-heads", 64, 4, 5 * time.Second, hugeHeads},
}

const (
	validCallers = 16
	validRate    = 500 // calls per second

	// sampleCallers is how many there are in the test. Each logs in once, and beside guessers the logins take
	// turns of 60 ms and are refused after five seconds: on a busy machine 16 of them can be too many.
	sampleCallers = 4
)

// BenchmarkAttack measures how an attack slows down callers of getblockcount,
// and how much of the node's memory it takes.
func BenchmarkAttack(b *testing.B) {
	for name, binary := range victims(b) {
		for _, a := range attacks {
			b.Run("attack="+a.name+"/node="+name, func(b *testing.B) {
				v := newVictim(b, binary)
				var all load.Histogram
				var failed uint64
				var answered int
				v.resetPeak()
				for b.Loop() {
					valid, answers := a.run(b, v, validCallers, a.clients, a.lasts)
					all.Merge(valid.Rows[0].Times)
					failed += refused(valid)
					answered += answers
				}
				b.ReportMetric(milliseconds(all.Quantile(0.5)), "p50-ms")
				b.ReportMetric(milliseconds(all.Quantile(0.99)), "p99-ms")
				b.ReportMetric(milliseconds(all.Max()), "max-ms")
				b.ReportMetric(float64(failed), "refused")
				b.ReportMetric(float64(answered)/b.Elapsed().Seconds(), "attacks/s")
				b.ReportMetric(v.peakMemory()/1e6, "peak-MB")
				reportLoad(b)
			})
		}
	}
}

// In none of the attacks, made small, is a valid call refused, and afterwards
// the node answers as before.
func TestAttacks(t *testing.T) {
	v := newVictim(t, trawld(t))
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			valid, answered := a.run(t, v, sampleCallers, a.sample, 300*time.Millisecond)
			times := valid.Rows[0].Times
			if refused(valid) > 0 || times.Count() == 0 {
				t.Errorf("%d calls were answered", times.Count())
				for _, row := range valid.Rows {
					t.Logf("%s: %d valid calls", row.Outcome, row.Times.Count())
				}
			}
			t.Logf("valid p99 %v, attackers answered %d times", times.Quantile(0.99), answered)
			v.height(t)
		})
	}
}

// run lets the attackers go while others call getblockcount.
func (a *attack) run(
	tb testing.TB, v *victim, callers, clients int, d time.Duration,
) (valid *load.Result, answered int) {
	tb.Helper()
	calls := v.calls(tb, "getblockcount", callers, validRate, d)
	ctx, cancel := context.WithCancel(tb.Context())
	var group sync.WaitGroup
	var answers atomic.Int64
	for range clients {
		group.Go(func() {
			for ctx.Err() == nil {
				answers.Add(int64(a.client(ctx, v)))
			}
		})
	}
	valid = finish(tb, calls)
	cancel()
	group.Wait()
	return valid, int(answers.Load())
}

// dial connects to the victim; the connection ends with ctx. It is nil when
// that was refused.
func (v *victim) dial(ctx context.Context) (conn net.Conn, hangUp func()) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", v.addr)
	if err != nil {
		return nil, func() {}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() {
		stop()
		_ = conn.Close()
	}
}

// head is that of a POST, up to the empty line and without it.
func head(user string, length string) string {
	return "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " +
		base64.StdEncoding.EncodeToString([]byte(user)) + "\r\n" + length + "\r\n"
}

const oneCall = `{"method":"getblockcount","id":1}`

var (
	wrongLogin   = head("bench:guess", fmt.Sprint("Content-Length: ", len(oneCall))) + "\r\n" + oneCall
	foreignLogin = head("other:guess", fmt.Sprint("Content-Length: ", len(oneCall))) + "\r\n" + oneCall
)

// badLogins guesses passwords on one connection.
func badLogins(ctx context.Context, v *victim) (answered int) {
	conn, hangUp := v.dial(ctx)
	defer hangUp()
	if conn == nil {
		return 0
	}
	r := bufio.NewReader(conn)
	for {
		if _, err := io.WriteString(conn, wrongLogin); err != nil {
			return answered
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return answered
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		answered++
	}
}

// badLoginsReconnecting guesses passwords of another user without waiting for answers. Guesses for the
// caller's own user, from the same address and each on a new connection, would differ from the caller's
// logins by the password alone. Then the logins would wait for their turns among the guesses.
func badLoginsReconnecting(ctx context.Context, v *victim) (sent int) {
	conn, hangUp := v.dial(ctx)
	defer hangUp()
	if conn == nil {
		return 0
	}
	_, _ = io.WriteString(conn, foreignLogin)
	return 1
}

// slowHead sends a head that never ends.
func slowHead(ctx context.Context, v *victim) (answered int) {
	conn, hangUp := v.dial(ctx)
	defer hangUp()
	if conn == nil {
		return 0
	}
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nX: ")
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(conn, "x"); err != nil {
			return 0
		}
	}
	return 0
}

// hugeBatch is a body just below the limit of 32 MiB.
var hugeBatch = sync.OnceValue(func() []byte {
	const limit = 0x02000000
	calls := limit/(len(oneCall)+1) - 1
	return []byte("[" + strings.Repeat(oneCall+",", calls-1) + oneCall + "]")
})

// hugeBatches knows the password, and asks for as much as there is room for.
func hugeBatches(ctx context.Context, v *victim) (answered int) {
	conn, hangUp := v.dial(ctx)
	defer hangUp()
	if conn == nil {
		return 0
	}
	body := hugeBatch()
	_, err := (&net.Buffers{
		[]byte(head(login, fmt.Sprint("Content-Length: ", len(body))) + "\r\n"), body,
	}).WriteTo(conn)
	if err != nil {
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return 0
	}
	return 1
}

// endlessBodies knows the password, and sends a body without a length that
// goes on until the node has had enough.
func endlessBodies(ctx context.Context, v *victim) (answered int) {
	conn, hangUp := v.dial(ctx)
	defer hangUp()
	if conn == nil {
		return 0
	}
	piece := bytes.Repeat([]byte(" "), 1<<20)
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(piece), piece)
	if _, err := io.WriteString(conn, head(login, "Transfer-Encoding: chunked")+"\r\n"); err != nil {
		return 0
	}
	for {
		if _, err := conn.Write(chunk); err != nil {
			return 1
		}
	}
}

// hugeHeads sends headers without an end as fast as it can.
func hugeHeads(ctx context.Context, v *victim) (answered int) {
	conn, hangUp := v.dial(ctx)
	defer hangUp()
	if conn == nil {
		return 0
	}
	header := bytes.Repeat([]byte("X: "+strings.Repeat("x", 1000)+"\r\n"), 16)
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"); err != nil {
		return 0
	}
	for {
		if _, err := conn.Write(header); err != nil {
			return 1
		}
	}
}
