package searches_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// peers give the blocks that were pruned, when they are there.
type peers struct {
	mu    sync.Mutex
	there bool
	has   map[chainhash.Hash]chainview.Fetched
	given int
}

func (p *peers) fetch(_ context.Context, hash *chainhash.Hash) (chainview.Fetched, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.there {
		return chainview.Fetched{}, nodemsg.ErrNoSource
	}
	p.given++
	return p.has[*hash], nil
}

func (p *peers) come() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.there, p.given = true, 0
}

func (p *peers) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given
}

// prune deletes blocks from a height on up to the tip, which only peers have then.
func (r *rig) prune(p *peers, from int32) {
	do(r.t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := from; h <= r.chain.Active().Height(); h++ {
		b := r.chain.Active().At(h)
		raw, _ := r.chain.Raw(&b.Hash)
		block, _ := r.chain.Block(&b.Hash)
		p.has[b.Hash] = chainview.Fetched{Raw: raw, Block: block}
		r.chain.Fail(b, chainview.ErrPruned)
	}
}

// Searches for which no peer gives a block pause, report the lack, and go on by themselves when a peer gives it,
// together as before. A peer may come later than a search, and leave before the search ends.
func TestNoPeerGives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 41)
		r.grow(10, 0)
		var scripts [][]byte
		for n := range 8 { // one of them in each block
			scripts = append(scripts, script(n))
		}
		p, free := &peers{has: map[chainhash.Hash]chainview.Fetched{}}, new(atomic.Uint64)
		free.Store(1 << 40)
		r.fetch = p.fetch
		r.room = func() (uint64, uint64, error) { return free.Load(), 1 << 40, nil }
		r.prune(p, 1)
		r.start()
		var all []*reader
		for range 2 {
			q := messages.CreateSearch{Objects: objects(scripts), Follow: true}
			all = append(all, r.reader(do(t, r.ref, q).ID))
		}
		for _, a := range all {
			if got := a.wait(messages.SearchPaused); !strings.HasSuffix(got.Error, "(pruned data): no peer has given it") {
				t.Errorf("it pauses: %q", got.Error)
			}
		}
		r.restart()
		all[0].wait(messages.SearchPaused)
		all[1].wait(messages.SearchPaused)
		do(t, r.ref, messages.PauseSearch{ID: all[0].id})
		if got := all[0].all(); got.Error != "" {
			t.Errorf("by hand it pauses as %q", got.Error)
		}
		do(t, r.ref, messages.ResumeSearch{ID: all[0].id})
		p.come()
		for _, a := range all {
			got := a.wait(messages.SearchFollowing)
			if got.Error != "" {
				t.Errorf("it follows: %q", got.Error)
			}
		}

		free.Store(0) // all wait for each other
		time.Sleep(2 * time.Second)
		for range 3 {
			r.chain.Mine(chaintest.Template{Script: script(1)})
		}
		r.tip.Publish(messages.TipChanged{})
		all[0].wait(messages.SearchPaused)
		r.prune(p, 11)
		p.come()
		free.Store(1 << 40)
		for _, a := range all {
			a.wait(messages.SearchFollowing)
		}
		if n := p.count(); n != 3 {
			t.Errorf("three blocks were fetched %d times", n)
		}
	})
}
