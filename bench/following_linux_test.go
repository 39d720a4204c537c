package bench

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// followers are searches that follow, or readers of events, while a block comes each
	// second.
	followers     = 1000
	followBlocks  = 20
	readersALogin = 50
)

// minedTo is nobody's address.
const minedTo = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"

// BenchmarkFollowing measures the cost of 1,000 searches for 100 scripts each that
// follow the chain while a block comes each second. It also measures their delay: the
// time from the call that mines a block until a search has the block.
func BenchmarkFollowing(b *testing.B) {
	binary := buildDaemon(b)
	objects := searchObjects(followers, searchScripts)
	for _, searches := range []int{0, followers} {
		b.Run(fmt.Sprintf("searches=%d", searches), func(b *testing.B) {
			figures := map[string][]float64{}
			for b.Loop() {
				v := startVictim(b, binary, b.TempDir(), "-blockfilterindex=1", "-searchroom=1")
				s := &searcher{b, &v.peer}
				s.call(nil, "generatetoaddress", 101, minedTo)
				ids := s.create(objects[:searches], map[string]any{"follow": true})
				for _, id := range ids {
					s.wait(id, func(p *searchPage, _ int) bool { return p.State == "following" })
				}
				before, _ := processUse(v.pid)
				began := time.Now()
				var late []time.Duration
				everySecond(func() {
					mined := time.Now()
					var hashes []string
					s.call(&hashes, "generatetoaddress", 1, minedTo)
					if len(ids) > 0 {
						has := func(p *searchPage, _ int) bool { return p.BlockHash == hashes[0] }
						s.wait(ids[len(late)%len(ids)], has)
						late = append(late, time.Since(mined))
					}
				})
				after, peak := processUse(v.pid)
				note := func(name string, value float64) { figures[name] = append(figures[name], value) }
				note("cpu-ms/s", milliseconds(after-before)/time.Since(began).Seconds())
				note("peak-MB", float64(peak)/1e6)
				if len(late) > 0 {
					note("late-ms", milliseconds(median(late)))
				}
				v.stop()
			}
			reportFigures(b, figures)
		})
	}
}

// everySecond does something once a second.
func everySecond(do func()) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for range followBlocks {
		<-ticker.C
		do()
	}
}

// BenchmarkEventReaders asks how late 1,000 readers of the event stream have a block that
// was mined: the time from the call that mines it.
func BenchmarkEventReaders(b *testing.B) {
	binary := buildDaemon(b)
	dir := b.TempDir()
	var lines strings.Builder
	lines.WriteString("regtest=1\n[regtest]\n")
	for n := range followers / readersALogin {
		fmt.Fprintf(&lines, "rpcauth=%s\n", rpcAuth(n))
	}
	if err := os.WriteFile(filepath.Join(dir, "bitcoin.conf"), []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	v := startVictim(b, binary, dir, "-blockfilterindex=1")
	s := &searcher{b, &v.peer}
	s.call(nil, "generatetoaddress", 101, minedTo)
	var times []time.Duration
	for b.Loop() {
		r := &eventReaders{got: make(chan time.Time, followers)}
		ctx, stop := context.WithCancel(b.Context())
		r.start(ctx, b, v.addr)
		before, _ := processUse(v.pid)
		began := time.Now()
		everySecond(func() {
			mined := time.Now()
			s.call(nil, "generatetoaddress", 1, minedTo)
			for range followers {
				select {
				case at := <-r.got:
					times = append(times, at.Sub(mined))
				case <-time.After(patience):
					b.Fatal("a reader has not heard of the block")
				}
			}
		})
		after, peak := processUse(v.pid)
		b.ReportMetric(milliseconds(after-before)/time.Since(began).Seconds(), "cpu-ms/s")
		b.ReportMetric(float64(peak)/1e6, "peak-MB")
		stop()
		r.group.Wait()
	}
	reportTimes(b, "", times)
	b.ReportMetric(0, "ns/op")
	reportLoad(b)
}

// rpcAuth is the login of one of the readers, whose password is "bench".
func rpcAuth(n int) string {
	sum := hmac.New(sha256.New, []byte("00"))
	sum.Write([]byte("bench"))
	return fmt.Sprintf("reader%d:00$%s", n, hex.EncodeToString(sum.Sum(nil)))
}

// eventReaders hold streams open and say when a tip has come.
type eventReaders struct {
	group sync.WaitGroup
	got   chan time.Time
}

func (r *eventReaders) start(ctx context.Context, b *testing.B, addr string) {
	b.Helper()
	open := make(chan error, followers)
	for n := range followers {
		r.group.Go(func() {
			const path = "/events?topics=tip"
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, http.NoBody)
			if err != nil {
				open <- err
				return
			}
			request.SetBasicAuth(fmt.Sprintf("reader%d", n/readersALogin), "bench")
			reply, err := http.DefaultTransport.RoundTrip(request)
			if err == nil && reply.StatusCode != http.StatusOK {
				_ = reply.Body.Close()
				err = fmt.Errorf("%w: %s", errWrongAnswer, reply.Status)
			}
			if open <- err; err != nil {
				return
			}
			defer reply.Body.Close()
			for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
				if lines.Text() == "event: tip" {
					r.got <- time.Now()
				}
			}
		})
	}
	for range followers {
		if err := <-open; err != nil {
			b.Fatal(err)
		}
	}
}
