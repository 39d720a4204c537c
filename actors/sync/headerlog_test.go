package sync_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// Each new header is logged once, by whom it came and how; in the initial
// download only at the debug level.
func TestLogsNewHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		var log bytes.Buffer
		r := newRig(t, net, func(c *sync.Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))
		})
		remote := r.remote()
		grow(remote, 285) // up to the time of the clock
		source := r.join(p2p.OutboundFullRelay, func(i *peerhandle.Info) {
			i.LogAddr = p2p.AddrSuffix("192.0.2.1:8333", false)
		})
		source.serve(remote)
		if text := log.String(); strings.Contains(text, "Saw new") {
			t.Errorf("in the initial download: %s", text)
		}
		if text := log.String(); !strings.Contains(text, "Synchronizing blockheaders, height: 285 (~") {
			t.Errorf("nothing says how far the headers are: %s", text)
		}
		if got := r.height(); got != 285 {
			t.Fatalf("height %d", got)
		}
		source.say(&codec.SendCmpct{Version: codec.CmpctVersion})
		other := r.join(p2p.Inbound)

		expect := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for line := range strings.Lines(log.String()) {
				if _, text, found := strings.Cut(line, `"Saw new `); found {
					got = append(got, strings.TrimSuffix(text, "\"\n"))
				}
			}
			log.Reset()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		}
		log.Reset()
		next := remote.Mine(chaintest.Template{Solved: true})
		source.sayHeaders(remote, 286, 286)
		expect("a header", fmt.Sprintf("header hash=%v height=286 peer=%d peeraddr=192.0.2.1:8333", next.Hash, source.info.ID))
		other.sayHeaders(remote, 286, 286)
		expect("the same by another peer")

		source.sayBlock(remote, 286)
		next = remote.Mine(chaintest.Template{Solved: true})
		source.say(codec.NewCmpctBlock(blockAt(t, remote, 287), nil))
		expect("a compact block", fmt.Sprintf("cmpctblock header hash=%v height=287 peer=%d peeraddr=192.0.2.1:8333", next.Hash, source.info.ID))
	})
}

// Blocks that a peer has just announced are asked for at once; the log says so of more than one.
func TestLogsAnnouncedBlocks(t *testing.T) {
	var log bytes.Buffer
	bubbleWith(t, func(c *sync.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, func(r *rig) {
		remote, source := r.upToDate()
		for _, n := range []int32{1, 2} {
			log.Reset()
			tip := grow(remote, int(n))
			source.sayHeaders(remote, tip.Height-n+1, tip.Height)
			if got := strings.Count(log.String(), "Downloading blocks toward "+tip.Hash.String()); got != int(n)-1 {
				t.Errorf("%d blocks: told %d times", n, got)
			}
			if got := len(source.asked(remote)); got != int(n) {
				t.Errorf("asked for %d of %d blocks", got, n)
			}
			for h := tip.Height - n + 1; h <= tip.Height; h++ {
				source.sayBlock(remote, h)
			}
		}
	})
}
