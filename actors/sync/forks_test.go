package sync_test

import (
	"testing"
	"testing/synctest"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/p2p"
)

// Headers that leave the chain far back are kept only with as much work as our chain
// had 144 blocks ago. The work that headers take thus bounds how many are kept.
func TestForksOfHeaders(t *testing.T) {
	bubble(t, func(r *rig) {
		const height, from = 200, 20
		ours := r.remote()
		grow(ours, height)
		r.join(p2p.OutboundFullRelay).serve(ours)
		if r.height() != height {
			t.Fatalf("at height %d", r.height())
		}
		p := r.join(p2p.Inbound)
		for _, test := range []struct {
			last int32
			kept bool
		}{{from + 1, false}, {height - 144 - 1, false}, {height - 144, true}, {height - 144 + 1, true}} {
			fork := r.remote()
			grow(fork, from)
			if fork.Active().Tip().Hash != ours.Active().At(from).Hash {
				t.Fatal("the chains have nothing in common")
			}
			for fork.Active().Height() < test.last {
				fork.Mine(chaintest.Template{Solved: true, Script: []byte{0x51, byte(test.last)}})
			}
			p.sayHeaders(fork, from+1, test.last)
			synctest.Wait()
			for h := int32(from + 1); h <= test.last; h++ {
				if kept := r.chain.Lookup(&fork.Active().At(h).Hash) != nil; kept != test.kept {
					t.Errorf("fork up to height %d: header %d kept: %v", test.last, h, kept)
					break
				}
			}
		}
		if p.gone != "" {
			t.Errorf("left for %q", p.gone)
		}
	})
}
