package eventstream

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// A stream goes on when the chain is opened again: its new tree has other blocks in memory, with
// the same hashes.
func TestChainOpenedAgain(t *testing.T) {
	r := newRig(t)
	r.chain.MineN(3)
	s, err := r.src.Open(t.Context(), "topics=tip", "", anything)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := chaintest.New(&chaincfg.RegressionNetParams)
	again.MineN(2)
	fork := again.Active().Tip()
	again.MineN(1)
	if again.Active().Tip().Hash != r.chain.Active().Tip().Hash {
		t.Fatal("the chains differ")
	}
	old := r.chain.Active().Tip()
	b := again.MineOn(fork, chaintest.Template{Version: 0x20000004})
	c := again.MineOn(b, chaintest.Template{})
	r.src.Chain.Set(again)
	r.feed.news = []messages.News{messages.TipChanged{}}
	for _, want := range []string{tip(b, old), tip(c)} {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.want([]string{e.ID[:8] + " " + e.Name + " " + string(e.Data)}, want)
	}
}

// A chain that shares no block with the one before, as that of another network: the stream tells
// of the whole of both.
func TestChainWithoutCommonBlock(t *testing.T) {
	r := newRig(t)
	s, err := r.src.Open(t.Context(), "topics=tip", "", anything)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := chaintest.New(&chaincfg.SigNetParams)
	r.src.Chain.Set(other)
	r.feed.news = []messages.News{messages.TipChanged{}}
	e, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.want([]string{e.ID[:8] + " " + e.Name + " " + string(e.Data)},
		tip(other.Active().Tip(), r.chain.Active().Tip()))
}
