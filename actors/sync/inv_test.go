package sync_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
)

// A block that is announced while headers are asked for is asked for again when those
// that come end before it; and once for each announcement, whatever is announced.
func TestInvWhileHeadersAreAsked(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 5)
		p := r.join(p2p.OutboundFullRelay)
		inv := func(hash chainhash.Hash) {
			m := wire.NewMsgInv()
			_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &hash)) // one fits
			p.say(m)
		}
		asked := func() int { return len(take[*wire.MsgGetHeaders](p)) }
		if n := asked(); n != 1 {
			t.Fatalf("asked %d times for headers", n)
		}
		inv(remote.Active().At(4).Hash)
		inv(remote.Active().At(5).Hash)
		if n := asked(); n != 0 {
			t.Fatalf("asked %d times more before the answer", n)
		}
		p.sayHeaders(remote, 1, 3) // they were looked up before the announcements
		p.serve(remote)
		if r.height() != 5 {
			t.Errorf("at height %d", r.height())
		}
		if n := asked(); n != 0 {
			t.Errorf("asked %d times for what is known", n)
		}

		inv(chainhash.Hash{1})
		inv(chainhash.Hash{2})
		if n := asked(); n != 1 {
			t.Fatalf("asked %d times for a block that nobody has", n)
		}
		for i := range 4 {
			p.sayHeaders(remote, 5, 5)
			want := 0
			if i == 0 { // for the second announcement
				want = 1
			}
			if n := asked(); n != want {
				t.Fatalf("asked %d times after answer %d, want %d", n, i, want)
			}
		}
	})
}
