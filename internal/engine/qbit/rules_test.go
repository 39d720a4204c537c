package qbit

import (
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

// Of a version every bit is free but those on top, the mark of merge-mined blocks and the reserved bits.
func TestBitsOfVersions(t *testing.T) {
	net := regtest(t, dialect.Choices{})
	r := &rules{P2MR: net.P2MR, net: net}
	check := func(version uint32, kind string) {
		t.Helper()
		want := ""
		if kind != "" {
			want = fmt.Sprintf("bad-version%s(0x%08x)", kind, version)
		}
		h := &pow.Header{BlockHeader: wire.BlockHeader{Version: int32(version)}}
		if got := reason(t, r.checkVersion(h, 5)); got != want {
			t.Errorf("version %08x: %q, want %q", version, got, want)
		}
	}
	const top = 0x20000000
	check(top, "")
	for bit := range 29 {
		kind := ""
		if bit >= 9 && bit < 13 {
			kind = "-reserved"
		}
		if bit != 8 {
			check(top|1<<bit, kind)
		}
	}
	for _, plain := range []uint32{4, 5, 0x7f, 0xff} { // of signals alone
		check(plain, "")
	}
	check(4|1<<9, "-topbits")
	check(4|1<<13, "-topbits")
	check(top|1<<30, "-topbits")
	check(1<<30, "-topbits")
}

// A block is later than the median of those before it.
func TestTimeOfBlocks(t *testing.T) {
	t.Parallel()
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	at := b.chain(e.tree.Active().Tip(), 14)
	for more, want := range map[int64]string{-1: "time-too-old", 0: "time-too-old", 1: ""} {
		raw := b.build(at, nil, func(b *block) { b.Timestamp = time.Unix(at.MedianTimePast()+more, 0) })
		if got := reason(t, e.Accept(raw)); got != want {
			t.Errorf("%d s after the median: %q, want %q", more, got, want)
		}
	}
}

// P2MR scripts are executed from a height on, and satisfied by anything before it.
func TestWhenSpendsAreChecked(t *testing.T) {
	net := regtest(t, dialect.Choices{})
	net.P2MR.Spends = 10
	r := &rules{P2MR: net.P2MR, net: net}
	spent := []*wire.TxOut{wire.NewTxOut(1000, anyoneScript())}
	tx := spend(wire.OutPoint{Hash: chainhash.Hash{1}}, 1000)
	tx.TxIn[0].Witness[0][0]++ // another script than the output names
	for height := int32(8); height < 13; height++ {
		at := &chainview.Block{Height: height}
		if err := r.Spend(tx, spent, at).VerifyInput(0, r.Flags(at)); (err != nil) != (height >= 10) {
			t.Errorf("at height %d: %v", height, err)
		}
	}
}

// A spend is checked by the rules of its block's height.
func TestRulesOfHeights(t *testing.T) {
	net := regtest(t, dialect.Choices{Activation: map[string]int32{"cltv": 20, "csv": 30}})
	net.P2MR.WeightV2 = 10
	r := &rules{P2MR: net.P2MR, net: net}
	spent := []*wire.TxOut{wire.NewTxOut(1000, anyoneScript())}
	tx := spend(wire.OutPoint{Hash: chainhash.Hash{1}}, 1000)
	for height := int32(8); height < 33; height++ {
		at := &chainview.Block{Height: height}
		got := r.Spend(tx, spent, at).(*spending).rules //nolint:forcetypeassert // its own
		if want := (vm.Rules{WeightV1: height < 10, NoCheckLock: height < 20, NoCheckSeq: height < 30}); got != want {
			t.Errorf("at height %d: %+v, want %+v", height, got, want)
		}
	}
}
