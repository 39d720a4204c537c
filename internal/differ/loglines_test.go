package differ_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
)

// TestLogLines has both take the same blocks, of their own and of a peer, with reorganisations, and compares
// the lines that other programs read from the logs: those about new tips, and those about new headers.
func TestLogLines(t *testing.T) {
	p := differ.Start(t, differ.Config{Peers: true})
	logs := []func() string{p.Trawl.Log, func() string {
		text, err := os.ReadFile(filepath.Join(p.CoreDir, "regtest", "debug.log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}}
	m := newMiner(t, p)
	m.generate(20)
	for range 5 {
		m.reorganise()
	}
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
	for _, line := range []*regexp.Regexp{
		regexp.MustCompile(`UpdateTip: new best=.* height=.* version=.* log2_work=.* tx=\d+ date='[^']*'`),
		regexp.MustCompile(`Saw new (?:cmpctblock )?(header hash=[0-9a-f]{64} height=\d+)`),
	} {
		var found [2][]string
		for i, log := range logs {
			for _, match := range line.FindAllStringSubmatch(log(), -1) {
				found[i] = append(found[i], match[len(match)-1])
			}
		}
		ours, theirs := strings.Join(found[0], "\n"), strings.Join(found[1], "\n")
		if len(found[0]) < 10 || ours != theirs {
			t.Errorf("%v: got\n%s\nCore has\n%s", line, ours, theirs)
		}
	}
	p.Alive()
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
