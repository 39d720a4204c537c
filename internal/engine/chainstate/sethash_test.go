package chainstate_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
)

// A set that is hashed in pieces of any size has the hash of the whole.
func TestSetHash(t *testing.T) {
	s := tell(t)
	e := open(t, t.TempDir(), s.network(t))
	for _, b := range s.blocks[:baseHeight] {
		must(t, e.Accept(b.raw))
	}
	must(t, chainstate.Rest(e))
	random := rand.New(rand.NewPCG(2, 5))
	for _, widths := range [][]uint32{
		{1 << 16},
		{1, 1 << 15},
		{1<<16 - 1, 1},
		{255, 256, 257, 1, 4000},
		{1 + random.Uint32N(9000), 1 + random.Uint32N(9000), 1 + random.Uint32N(9000)},
	} {
		if got, err := chainstate.HashSet(e, widths...); err != nil || got != s.known.Hash {
			t.Errorf("in pieces of %d: %v, %v, want %v", widths, got, err, s.known.Hash)
		}
	}
	must(t, e.Close())
}

// While the unspent outputs at the snapshot's block are compared with it blocks are connected and taken
// back; a node that ends meanwhile begins to compare anew.
func TestComparisonBeside(t *testing.T) {
	s := tell(t)
	dir := t.TempDir()
	e := openLoaded(t, s, dir)
	for _, b := range s.blocks[:baseHeight] {
		must(t, e.Accept(b.raw))
	}
	above := s.blocks[baseHeight:]
	pieces := 0 // since all blocks before the snapshot are validated
	for len(e.States()) == 2 {
		more, err := e.Background(context.Background(), time.Microsecond)
		must(t, err)
		if !more && len(e.States()) == 2 {
			t.Fatal("nothing more to do, and two states")
		}
		if a := chainview.AssumedOf(e.Reader()); a == nil || a.Validated != a.Base {
			continue
		}
		pieces++
		switch {
		case pieces == 3:
			must(t, e.Close())
			e = open(t, dir, s.network(t))
		case pieces == 5: // the comparison begins anew, which is no failure
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if more, err := e.Background(ended, time.Hour); more || err != nil {
				t.Errorf("ended: %v, %v", more, err)
			}
		case pieces%2 == 0 && len(above) > 0:
			must(t, e.Accept(above[0].raw))
			wantTip(t, e, "meanwhile", above[0])
			above = above[1:]
		case pieces == 7:
			must(t, e.Invalidate(&s.blocks[baseHeight].hash))
			wantTip(t, e, "taken back", s.base())
			must(t, e.Reconsider(&s.blocks[baseHeight].hash))
		}
	}
	if pieces < 8 {
		t.Errorf("compared in %d pieces", pieces)
	}
	for _, b := range above {
		must(t, e.Accept(b.raw))
	}
	must(t, settleBackground(e))
	checkWhole(t, e, s)
	must(t, e.Close())
}
