package spend

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// Unconfirmed coins of version 3 go with transactions of version 3, and others with others; confirmed coins go
// with any.
func TestCheckVersion(t *testing.T) {
	for _, c := range []struct {
		depth         int32
		coin, version int32
		want          string
	}{
		{0, 3, 3, ""},
		{0, 2, 2, ""},
		{0, 1, 2, ""},
		{1, 3, 2, ""},
		{1, 2, 3, ""},
		{0, 3, 2, "Can't spend unconfirmed version 3 pre-selected input with a version 2 tx"},
		{0, 2, 3, "Can't spend unconfirmed version 2 pre-selected input with a version 3 tx"},
		{0, 1, 3, "Can't spend unconfirmed version 1 pre-selected input with a version 3 tx"},
	} {
		err := CheckVersion(txs.Spendable{Depth: c.depth, Version: c.coin}, c.version)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("depth %d, version %d for %d: %v", c.depth, c.coin, c.version, err)
		case c.want != "":
			wantError(t, err, -8, c.want)
		}
		p := paymentOf([]messages.Payment{fixed(9, 30_000)})
		p.Request.Version = c.version
		one := coinOf(1, 100_000)
		one.Depth, one.Version = c.depth, c.coin
		give(p, make([]messages.SpendInput, 1), one)
		if _, err := Build(p); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("depth %d, version %d for %d, built: %v", c.depth, c.coin, c.version, err)
		}
	}
}

// unconfirmedOf is an own coin that is in no block, of a transaction of some version.
func unconfirmedOf(n byte, index uint32, amount int64, version int32) Coin {
	c := coinOf(n, amount)
	c.At.Index, c.Depth, c.Version, c.Own = index, 0, version, true
	return c
}

// A transaction of version 3 spends any confirmed coins, and the unconfirmed coins of a single transaction of
// version 3, that with the greatest value. A transaction of another version spends no unconfirmed coin of version 3.
func TestCoinsThatMayJoin(t *testing.T) {
	coins := []Coin{
		unconfirmedOf(1, 0, 50_000, 3),
		unconfirmedOf(2, 0, 30_000, 3), unconfirmedOf(2, 1, 30_000, 3),
		unconfirmedOf(3, 0, 70_000, 2),
		coinOf(4, 1000), // confirmed
		unconfirmedOf(5, 0, 59_999, 3),
	}
	for _, c := range []struct {
		name    string
		version int32
		pool    []messages.ClusterTx
		want    []byte // the first bytes of the identifiers
	}{
		{"version 2", 2, nil, []byte{3, 4}},
		{"version 3", 3, nil, []byte{2, 2, 4}},
		{
			"version 3, the greatest has a child", 3,
			[]messages.ClusterTx{{ID: chainhash.Hash{2}}, {ID: chainhash.Hash{8}, Depends: []chainhash.Hash{{2}}}},
			[]byte{4, 5},
		},
		{
			"version 3, the greatest has a parent", 3,
			[]messages.ClusterTx{{ID: chainhash.Hash{8}}, {ID: chainhash.Hash{2}, Depends: []chainhash.Hash{{8}}}},
			[]byte{4, 5},
		},
	} {
		p := paymentOf(nil, coins...)
		p.Request.Version, p.Pool.Txs = c.version, c.pool
		b := &builder{Plan: p}
		var got []byte
		for _, coin := range b.mayJoin(b.cluster()) {
			got = append(got, coin.At.Hash[0])
		}
		if string(got) != string(c.want) {
			t.Errorf("%s: coins of %v, want %v", c.name, got, c.want)
		}
	}
}

// Candidates have their depth and owner. Unconfirmed candidates also have their ancestors and the fee that
// the ancestors lack.
func TestCandidates(t *testing.T) {
	old, foreign, change := coinOf(1, 10_000), coinOf(2, 20_000), unconfirmedOf(3, 0, 30_000, 2)
	foreign.Depth, foreign.Known = 2, false
	p := paymentOf(nil, old, foreign, change)
	p.Pool.Txs = []messages.ClusterTx{
		{ID: chainhash.Hash{9}, VSize: 100, ModifiedFee: 50},
		{ID: chainhash.Hash{3}, VSize: 200, ModifiedFee: 150, Depends: []chainhash.Hash{{9}}},
		{ID: chainhash.Hash{8}, VSize: 100, ModifiedFee: 50, Depends: []chainhash.Hash{{9}}},
		{ID: chainhash.Hash{1}, VSize: 100}, // is confirmed
	}
	b := &builder{Plan: p, coins: make(map[wire.OutPoint]*Coin)}
	b.params.Rate = 1000
	got := b.candidates()
	if len(got) != 3 {
		t.Fatalf("%d candidates", len(got))
	}
	for i, want := range []struct {
		size, ancestors, descendants int
		depth                        int32
		own                          bool
		bump                         int64
	}{
		{size: 68, depth: 6},
		{size: -1, depth: 2},
		{size: 68, own: true, ancestors: 2, descendants: 3, bump: 300 - 200},
	} {
		c := got[i]
		if c.Size != want.size || c.Ancestors != want.ancestors || c.Descendants != want.descendants ||
			c.Depth != want.depth || c.Own != want.own || c.Bump != want.bump ||
			c.At != p.Coins[i].At || c.Value != int64(p.Coins[i].Amount) {
			t.Errorf("candidate %d: got %+v, want %+v", i, c, want)
		}
	}
	if together, ok := b.params.Combined([]wire.OutPoint{change.At}); together != 100 || !ok {
		t.Errorf("together %d, %v", together, ok)
	}
	p.Pool.TooMany = true
	b.candidates()
	if _, ok := b.params.Combined([]wire.OutPoint{change.At}); ok {
		t.Error("too many transactions are told of")
	}
}
