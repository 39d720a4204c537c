package chainstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Nothing is kept of a recovery that could be taken back, whichever way it led.
func TestRecoveryForgets(t *testing.T) {
	chain := genesis(t).chainOn(5)
	e := opened(t, quick(t), chain...)
	check := func(what string) {
		t.Helper()
		if left, err := chainstate.Recover(e); err != nil || left != 0 {
			t.Errorf("%s: %d bytes are left, %v", what, left, err)
		}
		if got, want := unspent(t, e), recomputed(t, e); got != want {
			t.Errorf("%s: other unspent outputs", what)
		}
	}
	check("forward")
	must(t, chainstate.Rest(e))
	must(t, e.Invalidate(&chain[3].hash))
	check("back")
}

// put changes an item of a closed chain's database, or a row of a bucket.
func put(tb testing.TB, dir, bucket string, key, value []byte) {
	tb.Helper()
	db, err := chaindb.Open(options(tb, dir))
	must(tb, err)
	must(tb, db.BTCD().Update(func(tx database.Tx) error {
		of := tx.Metadata()
		if bucket != "" {
			of = of.Bucket([]byte(bucket))
		}
		if value == nil {
			return of.Delete(key)
		}
		return of.Put(key, value)
	}))
	must(tb, db.Close())
}

func options(tb testing.TB, dir string) chaindb.Options {
	tb.Helper()
	return chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
		Magic: network(tb, "regtest").Magic, XOR: true, FastPrune: true, Log: slog.New(slog.DiscardHandler),
	}
}

// Rows that cannot be read, and a tip that is not among the blocks, are damage; what an
// older program did not write is not.
func TestDamagedRows(t *testing.T) {
	const tip, coinsTip = "chainstate", "utxostateconsistency"
	chain := genesis(t).chainOn(3)
	state := func(hash chainhash.Hash, height uint32, txs uint64) []byte {
		row := binary.LittleEndian.AppendUint32(bytes.Clone(hash[:]), height)
		return binary.LittleEndian.AppendUint64(row, txs)
	}
	last := chain[2].hash
	far := append([]byte{0xff, 0, 0, 0}, last[:]...)
	orphan := append(bytes.Clone(chain[2].on(nil).on(nil).raw[:80]), 0)
	for _, test := range []struct {
		name, bucket, key string
		value             []byte
		want              error
		txs               uint64
	}{
		{"the tip", "", tip, state(last, 3, 4), nil, 4},
		{"another count", "", tip, state(last, 3, 77), nil, 77},
		{"a short tip", "", tip, state(last, 3, 4)[:43], chainstate.ErrRow, 0},
		{"an unknown tip", "", tip, state(chainhash.Hash{1}, 3, 4), chaindb.ErrDamaged, 0},
		{"no tip but that of the outputs", "", tip, nil, nil, 0},
		{"no tip of the outputs", "", coinsTip, nil, nil, 4},
		{"a short one", "", coinsTip, last[:31], chainstate.ErrRow, 0},
		{"a short row", "blockheaderidx", string(far), orphan[:80], chainstate.ErrRow, 0},
		{"a long row", "blockheaderidx", string(far), append(bytes.Clone(orphan), 0), chainstate.ErrRow, 0},
		{"a row without its parent", "blockheaderidx", string(far), orphan, chaindb.ErrDamaged, 0},
		{"a short row of a header", "trawl-headers", string(far), orphan[:80], chainstate.ErrRow, 0},
		{"a header without its parent", "trawl-headers", string(far), orphan, nil, 4},
	} {
		dir, net := t.TempDir(), quick(t)
		e := open(t, dir, net)
		for _, b := range chain {
			must(t, e.Accept(b.raw))
		}
		want := unspent(t, e)
		must(t, e.Close())
		put(t, dir, test.bucket, []byte(test.key), test.value)
		db, err := chaindb.Open(options(t, dir))
		must(t, err)
		e, err = bitcoin.Open(bitcoin.Config{
			Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: slog.New(slog.DiscardHandler),
		})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil {
			continue
		}
		wantTip(t, e, test.name, chain[2])
		if got := e.Totals().Txs; got != test.txs || unspent(t, e) != want {
			t.Errorf("%s: %d transactions, or other unspent outputs", test.name, got)
		}
		must(t, e.Close())
	}
}
