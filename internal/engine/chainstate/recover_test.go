package chainstate_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/store/chaindb"
)

// tamper opens the database of a closed engine and writes the block that the stored
// unspent outputs are said to be at.
func tamper(tb testing.TB, dir string, mark []byte) {
	tb.Helper()
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
		Magic: network(tb, "regtest").Magic, XOR: true, FastPrune: true, Log: slog.New(slog.DiscardHandler),
	})
	must(tb, err)
	must(tb, db.BTCD().Update(func(tx database.Tx) error {
		return tx.Metadata().Put([]byte("utxostateconsistency"), mark)
	}))
	must(tb, db.Close())
}

// Unspent outputs of a block that is not known, as a failed write of an earlier
// program left them, are damage that can be built anew from the blocks.
func TestOutputsOfUnknownBlock(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	for _, b := range genesis(t).chainOn(5) {
		must(t, e.Accept(b.raw))
	}
	must(t, e.Close())
	for _, mark := range [][]byte{bytes.Repeat([]byte{7}, chainhash.HashSize), {1}} {
		tamper(t, dir, mark)
		net := network(t, "regtest")
		options := chaindb.Options{
			Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
			Magic: net.Magic, XOR: true, FastPrune: true, Log: slog.New(slog.DiscardHandler),
		}
		db, err := chaindb.Open(options)
		must(t, err)
		_, err = bitcoin.Open(bitcoin.Config{
			Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: slog.New(slog.DiscardHandler),
		})
		if !errors.Is(err, chaindb.ErrDamaged) {
			t.Errorf("mark of %d bytes: %v", len(mark), err)
		}
		must(t, chaindb.Rebuild(options)) // which it may, since Open has closed it
		e = open(t, dir, net)
		blocks, done := e.Unread()
		for record, err := range blocks {
			must(t, err)
			_ = answer(t, e.Accept(record.Block)) // the genesis block is known
		}
		must(t, done())
		if got := e.Reader().Active().Height(); got != 5 {
			t.Errorf("built anew to height %d", got)
		}
		must(t, e.Close())
	}
}

// Unspent outputs of a block that has left the chain are taken back to the tip.
func TestOutputsOfStaleBlock(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	main := genesis(t).chainOn(105)
	for _, b := range main {
		must(t, e.Accept(b.raw))
	}
	last := main[len(main)-1]
	stale := last.on([]*wire.MsgTx{spending(main[0].txs[0], trueScript, 1000)})
	more := stale.on([]*wire.MsgTx{spending(stale.txs[1], trueScript, 1000), spending(main[1].txs[0], trueScript, 5)})
	must(t, e.Accept(stale.raw))
	must(t, e.Accept(more.raw))
	must(t, chainstate.Rest(e)) // which writes them
	// From now on nothing of them is written.
	must(t, e.Close())
	e = open(t, dir, network(t, "regtest"))
	other := last.on([]*wire.MsgTx{spending(main[2].txs[0], trueScript, 1000)})
	branch := append([]*made{other}, other.chainOn(2)...)
	for _, b := range branch {
		must(t, e.Accept(b.raw))
	}
	// as a kill: nothing is flushed
	must(t, chainstate.FailWrites(e, 8<<20, func() error { return errors.New("the end") }))
	_ = e.Close()

	e = open(t, dir, network(t, "regtest"))
	defer func() { must(t, e.Close()) }()
	wantTip(t, e, "opened", branch[2])
	if got, want := unspent(t, e), recomputed(t, e); got != want {
		t.Errorf("unspent outputs are\n%s, want\n%s", got, want)
	}
}
