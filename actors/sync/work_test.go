package sync

import (
	"errors"
	"math/big"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
)

// Where the network says so, a peer is asked for a block of a chain with the least work alone.
func TestFetchWork(t *testing.T) {
	const least = 8 // blocks, the first one included
	b := newBench(t, 3)
	cfg := b.chain.cfg
	net := *cfg.Network
	cfg.Network, cfg.MinimumWork = &net, new(big.Int).Mul(b.node.Active().At(0).Work(), big.NewInt(least))
	s := &Sync{cfg: cfg, chain: b.chain, peers: b.peers, download: b.download}
	_, w := b.join(p2p.OutboundFullRelay)
	wanted := b.node.AddHeader(b.node.Active().At(1)) // at height 2, with the work of three
	ask := func() error {
		b.download.dropAll(wanted.Hash)
		return s.fetchFrom(nodemsg.FetchBlockFrom{Hash: wanted.Hash, Peer: 1})
	}
	check := func(when string, want error) {
		t.Helper()
		if err := ask(); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", when, err, want)
		}
		if sent := b.asked(w); (len(sent) == 1) != (want == nil) {
			t.Errorf("%s: asked for %v", when, sent)
		}
	}
	check("where any work will do", nil)
	net.FetchWork = true
	check("alone", nodemsg.ErrLittleWork)
	b.extend(9)
	check("with work on another branch", nodemsg.ErrLittleWork)
	at := wanted
	for range least - 4 {
		at = b.node.AddHeader(at)
	}
	check("just below", nodemsg.ErrLittleWork)
	last := b.node.AddHeader(at)
	check("on a branch with enough", nil)
	b.node.SetStatus(last, chainview.Failed)
	check("with an invalid end", nodemsg.ErrLittleWork)
	b.node.AddHeader(at)
	check("with another end", nil)
	cfg.MinimumWork = b.node.Active().At(0).Work()
	b.node.SetStatus(wanted, chainview.Failed)
	check("with the work itself", nil)
}
