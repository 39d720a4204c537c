package chainstate_test

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/enginetest"
)

// wide adds outputs to a coinbase, so that the unspent outputs take memory.
func wide(b *wire.MsgBlock) {
	for range 7000 {
		b.Transactions[0].AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_DATA_75}, make([]byte, 75)...)))
	}
}

// A sync writes the unspent outputs if the last write was long ago, and makes all
// writes durable each time. A sync that fails returns the error.
func TestSyncAfterWrite(t *testing.T) {
	e := open(t, t.TempDir(), quick(t))
	calls, fails := 0, -1
	broken := errors.New("input/output error")
	must(t, chainstate.FailWrites(e, 8<<20, func() error {
		if calls++; calls == fails {
			return broken
		}
		return nil
	}))
	chain := genesis(t).chainOn(3)
	sync := func(stale bool, fail int) (writes int, err error) {
		if stale {
			chainstate.Stale(e)
		}
		calls, fails = 0, fail
		err = e.Sync()
		return calls, err
	}
	must(t, e.Accept(chain[0].raw))
	plain, err := sync(false, -1)
	must(t, err)
	must(t, e.Accept(chain[1].raw))
	written, err := sync(true, -1)
	must(t, err)
	if _, pending := chainstate.CacheSize(e); pending != 0 || written <= plain || plain == 0 {
		t.Errorf("%d pending after %d writes, %d without unspent outputs", pending, written, plain)
	}
	must(t, e.Accept(chain[2].raw))
	if _, err := sync(true, 1); !errors.Is(err, broken) {
		t.Errorf("the first write fails: %v", err)
	}
	must(t, e.Close())
}

// A node that ends by chance while it writes unspent outputs does not write them at rest.
func TestNoIdleWrites(t *testing.T) {
	e := openWith(t, t.TempDir(), quick(t), func(cfg *chainstate.Config) { cfg.NoIdle = true })
	must(t, e.Accept(genesis(t).on(nil).raw))
	chainstate.Idle(e)
	chainstate.Stale(e)
	must(t, e.Sync())
	if _, pending := chainstate.CacheSize(e); pending == 0 {
		t.Error("written at rest")
	}
	must(t, e.Close())
}

// When the tip has not moved for a while a sync writes the unspent outputs and gives
// their memory back; before it does not.
func TestIdleCache(t *testing.T) {
	enginetest.SkipUnderRace(t)
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
