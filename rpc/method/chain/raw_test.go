package chain_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chain"
)

// What is read as bytes is what the methods tell, of the active chain alone and not beyond its tip.
func TestReader(t *testing.T) {
	r := newRig(t, "regtest")
	first := r.chain.MineN(1)
	r.chain.MineN(5)
	stale := r.chain.MineOn(first, chaintest.Template{})
	read := r.table.Read(chain.Reader(r.deps)).Reader()
	for _, test := range []struct {
		from  chainhash.Hash
		count int
		want  []int32 // heights
	}{
		{first.Hash, 1, []int32{1}},
		{first.Hash, 3, []int32{1, 2, 3}},
		{first.Hash, 6, []int32{1, 2, 3, 4, 5, 6}},
		{first.Hash, 2000, []int32{1, 2, 3, 4, 5, 6}},
		{r.chain.Active().Tip().Hash, 5, []int32{6}},
		{r.chain.Active().At(0).Hash, 2, []int32{0, 1}},
		{stale.Hash, 5, nil},
		{chainhash.Hash{1}, 5, nil},
	} {
		var want strings.Builder
		for _, height := range test.want {
			text := r.call("getblockheader", `[`+quoted(r.chain.Active().At(height))+`,false]`)
			want.WriteString(strings.Trim(text, `"`))
		}
		got, err := read.Headers(&test.from, test.count)
		if err != nil || hex.EncodeToString(got) != want.String() {
			t.Errorf("%d from %v: %x, %v, want %s", test.count, test.from, got, err, want.String())
		}
	}
	genesis := r.chain.Active().At(0).Hash
	if filter, err := read.Filter(t.Context(), &genesis); err != nil || hex.EncodeToString(filter) != "014756c0" {
		t.Errorf("%x, %v", filter, err)
	}
}

// Errors are those of the methods, in words.
func TestReaderRefuses(t *testing.T) {
	r := newRig(t, "regtest")
	read := r.table.Read(chain.Reader(r.deps)).Reader()
	told := func(err error, code command.Code, text string) {
		t.Helper()
		if e, ok := errors.AsType[command.Error](err); !ok || e.Code != code || e.Message != text {
			t.Errorf("%v", err)
		}
	}
	_, err := read.Filter(t.Context(), &chainhash.Hash{1})
	told(err, command.InvalidAddressOrKey, "Block not found")
	r.deps.Chain.Set(nil)
	genesis := r.chain.Active().At(0).Hash
	_, err = read.Headers(&genesis, 1)
	told(err, command.InWarmup, "Loading block index…")
	r.deps.Index = nil
	_, err = chain.Reader(r.deps).Filter(t.Context(), &genesis)
	told(err, command.MiscError, "Index is not enabled for filtertype basic")
	r.build()
	if r.table.Reader() != nil {
		t.Error("a table that was given no reader has one")
	}
}
