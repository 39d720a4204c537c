package chainstate_test

import (
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
)

// wide adds outputs to a coinbase, so that the unspent outputs take memory.
func wide(b *wire.MsgBlock) {
	for range 7000 {
		b.Transactions[0].AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_DATA_75}, make([]byte, 75)...)))
	}
}

// When the tip has not moved for a while a sync writes the unspent outputs and gives
// their memory back; before it does not.
func TestIdleCache(t *testing.T) {
	e := open(t, t.TempDir(), network(t, "regtest"))
	must(t, chainstate.FailWrites(e, 64<<20, func() error { return nil })) // a larger cache
	at := genesis(t)
	for range 25 {
		at = at.on(nil, remake(wide))
		must(t, e.Accept(at.raw))
	}
	must(t, e.Sync())
	before, pending := chainstate.CacheSize(e)
	if pending == 0 || before < 20<<20 {
		t.Fatalf("%d bytes, %d pending", before, pending)
	}
	chainstate.Idle(e)
	must(t, e.Sync())
	if after, pending := chainstate.CacheSize(e); pending != 0 || after > before/2 {
		t.Errorf("%d bytes after %d, %d pending", after, before, pending)
	}
	next := at.on(nil)
	must(t, e.Accept(next.raw))
	must(t, e.Sync())
	if _, pending := chainstate.CacheSize(e); pending == 0 {
		t.Error("written although the tip has just moved")
	}
	set, err := e.Coins()
	must(t, err)
	if total, _ := sum(t, set, coinstats.Count); total.Outputs != 25*(1+7000)+1 || total.Txs != 26 {
		t.Errorf("%d unspent outputs of %d transactions", total.Outputs, total.Txs)
	}
	set.Release()
	must(t, e.Close())
}
