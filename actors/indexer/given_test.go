package indexer_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
)

// givenFilters is a chain that has the filters of some blocks, which cannot be read.
type givenFilters struct {
	*chaintest.Chain
	filters map[chainhash.Hash][]byte
}

var _ chainview.FilterReader = givenFilters{}

func (g givenFilters) Filter(hash *chainhash.Hash) (filter []byte, ok bool, err error) {
	filter, ok = g.filters[*hash]
	return filter, ok, nil
}

// Filters that the chain has are taken, and their blocks are not read.
func TestGivenFilters(t *testing.T) {
	chain := givenFilters{chaintest.New(&chaincfg.RegressionNetParams), map[chainhash.Hash][]byte{}}
	chain.MineN(20)
	var builder filters.Builder
	want := map[chainhash.Hash][]byte{}
	for h := range int32(21) {
		b := chain.Active().At(h)
		raw, _ := chain.Raw(&b.Hash)
		filter, err := builder.BuildBlock(&b.Hash, raw, filters.HeaderLen, nil)
		if err != nil {
			t.Fatal(err)
		}
		want[b.Hash] = filter
		if h%2 == 1 {
			chain.filters[b.Hash] = filter
			chain.Fail(b, errBroken)
		}
	}
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	for hash, filter := range want {
		if got, err := r.store.ByHash(&hash); err != nil || !bytes.Equal(got.Filter, filter) {
			t.Errorf("block %v: %x, want %x: %v", hash, got.Filter, filter, err)
		}
	}
	if failed := r.failures(); failed != nil {
		t.Error(failed)
	}
}
