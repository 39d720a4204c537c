package differ_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
)

// TestLogLines has both take the same blocks, of their own and of a peer, and compares the lines that other
// programs read from the logs. These are a line for each new tip, by a connected or disconnected block, and the
// lines about new headers.
func TestLogLines(t *testing.T) {
	p := differ.Start(t, differ.Config{Peers: true})
	logs := [2]func() string{p.Trawl.Log, func() string {
		text, err := os.ReadFile(filepath.Join(p.CoreDir, "regtest", "debug.log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}}
	m := newMiner(t, p)
	m.generate(20)
	compare(t, found(logs, tipLine), [2][]string{})
	for range 5 {
		m.reorganise()
	}
	compare(t, found(logs, tipLine), [2][]string{})
	began := found(logs, tipLine)
	p.Trawl.Get(nil, "setmocktime", 0)
	if err := p.Core.Call(t.Context(), nil, "setmocktime", 0); err != nil {
		t.Fatal(err)
	}

	source := e2e.Start(t, e2e.Config{Chain: "regtest", P2P: e2e.FreeAddr(t)})
	m.share(source)
	p.Trawl.Get(nil, "addnode", source.P2P, "add")
	if err := p.Core.Call(t.Context(), nil, "addnode", source.P2P, "add"); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, time.Minute, "both are connected", func() bool {
		var peers []struct {
			Height int `json:"startingheight"`
		}
		source.Get(&peers, "getpeerinfo")
		return len(peers) == 2
	})
	for range 10 {
		var mined []string
		source.Get(&mined, "generatetodescriptor", 1, openOutput)
		e2e.Eventually(t, time.Minute, "both have the block", func() bool {
			var best string
			if err := p.Core.Call(t.Context(), &best, "getbestblockhash"); err != nil || best != mined[0] {
				return false
			}
			p.Trawl.Get(&best, "getbestblockhash")
			return best == mined[0]
		})
	}
	compare(t, found(logs, tipLine), began)
	compare(t, found(logs, headerLine), [2][]string{})
	p.Alive()
}

// The lines, without what they tell of the node itself. The last group counts.
var (
	tipLine    = regexp.MustCompile(`(UpdateTip: new best=.* height=.* version=.* log2_work=.* tx=\d+ date='[^']*')`)
	headerLine = regexp.MustCompile(`Saw new (?:cmpctblock )?(header hash=[0-9a-f]{64} height=\d+)`)
)

// found is what an expression finds in both logs.
func found(logs [2]func() string, line *regexp.Regexp) (found [2][]string) {
	for i, log := range logs {
		for _, match := range line.FindAllStringSubmatch(log(), -1) {
			found[i] = append(found[i], match[len(match)-1])
		}
	}
	return found
}

// compare compares what both have, behind what is known.
func compare(t *testing.T, all, known [2][]string) {
	t.Helper()
	ours, theirs := all[0][len(known[0]):], all[1][len(known[1]):]
	if len(ours) >= 10 && slices.Equal(ours, theirs) {
		return
	}
	same := 0
	for same < min(len(ours), len(theirs)) && ours[same] == theirs[same] {
		same++
	}
	from := max(same-2, 0)
	t.Errorf("%d lines, Core has %d; from %d on\n%s\nCore has\n%s", len(ours), len(theirs), from,
		lines(ours[from:min(same+6, len(ours))]), lines(theirs[from:min(same+6, len(theirs))]))
}

// share gives a third node the blocks of the active chain.
func (m *miner) share(to *e2e.Daemon) {
	m.t.Helper()
	var height int
	m.p.Get(&height, "getblockcount")
	for h := 1; h <= height; h++ {
		var hash, block string
		m.p.Get(&hash, "getblockhash", h)
		m.p.Get(&block, "getblock", hash, 0)
		var refused any
		if to.Get(&refused, "submitblock", block); refused != nil {
			m.t.Fatal(fmt.Sprint(refused))
		}
	}
}
