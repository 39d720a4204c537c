package txs

import (
	"math"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

func pay(amount int64, n byte) *wire.TxOut { return wire.NewTxOut(amount, scriptOf(n)) }

// A transaction that a block is against stays in conflict, with all that descends
// from it, until the block has left the chain.
func TestConflict(t *testing.T) {
	r := newRig(0, scriptOf(1))
	parent := txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1))
	child := txOf(2, []wire.OutPoint{outOf(parent, 0)}, pay(4, 1))
	r.ConnectBlock(blockOf(0), 1)
	r.AddMempoolTx(parent, 1)
	r.AddMempoolTx(child, 1)
	against := txOf(3, []wire.OutPoint{foreign(1)}, pay(9, 7))
	block := blockOf(1, coinbaseOf(9), against)
	if synced := r.ConnectBlock(block, 1); synced.Changed || synced.Save {
		t.Errorf("a block of foreign transactions: %+v", synced)
	}
	r.ConnectBlock(blockOf(2), 1)
	for _, tx := range []*wire.MsgTx{parent, child} {
		if at := r.txs[tx.TxHash()]; at.state.kind != conflicted || r.at.depth(at) != -2 {
			t.Errorf("transaction %d: state %v, depth %d", tx.LockTime, at.state.kind, r.at.depth(at))
		}
	}
	if got := r.Unconfirmed(); len(got) > 0 {
		t.Errorf("%d may be mined yet", len(got))
	}
	if b := r.balances(0); b.Trusted+b.Pending != 0 {
		t.Errorf("balances %+v", b)
	}
	r.DisconnectBlock(blockOf(2), messages.Tip{Hash: block.Hash, Height: 1}, 1)
	r.DisconnectBlock(block, messages.Tip{}, 1)
	if got := r.Unconfirmed(); len(got) != 2 || got[0] != parent {
		t.Errorf("%d may be mined again, want 2", len(got))
	}
}

// A deeper conflict is not replaced by a conflict that is not as deep.
func TestDeeperConflict(t *testing.T) {
	r := newRig(0, scriptOf(1))
	tx := txOf(1, []wire.OutPoint{foreign(1), foreign(2)}, pay(5, 1))
	r.ConnectBlock(blockOf(0), 1)
	r.AddMempoolTx(tx, 1)
	first := blockOf(1, coinbaseOf(1), txOf(2, []wire.OutPoint{foreign(1)}, pay(1, 7)))
	second := blockOf(2, coinbaseOf(2), txOf(3, []wire.OutPoint{foreign(2)}, pay(1, 7)))
	r.ConnectBlock(first, 1)
	r.ConnectBlock(second, 1)
	if at := r.txs[tx.TxHash()]; at.state.block.Hash != first.Hash {
		t.Errorf("in conflict with the block at %d, want 1", at.state.block.Height)
	}
}

// Payments to a script from before it became the wallet's count from then on.
func TestOwned(t *testing.T) {
	r := newRig(0, scriptOf(1))
	r.ConnectBlock(blockOf(0), 1)
	tx := txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1), pay(3, 2))
	r.ConnectBlock(blockOf(1, tx), 1)
	if r.PaysTo(scriptOf(3)) || !r.PaysTo(scriptOf(2)) || len(r.owner.used) != 1 ||
		r.owner.used[0] != string(scriptOf(1)) {
		t.Errorf("used %q", r.owner.used)
	}
	r.book.SetLabel(scriptOf(2), "x", book.PurposeReceive)
	if b := r.balances(1); b.Trusted != 5 || len(r.book.Paid()) != 0 {
		t.Errorf("before: %+v", b)
	}
	r.owner.scripts = append(r.owner.scripts, scriptOf(2))
	r.Owned(scriptOf(2))
	r.Owned(scriptOf(4))
	if b := r.balances(1); b.Trusted != 8 || len(r.book.Paid()) != 1 {
		t.Errorf("after: %+v, %d paid", b, len(r.book.Paid()))
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

// Blocks from before the wallet's birth are not looked at, unless a transaction is
// older.
func TestBirth(t *testing.T) {
	for _, test := range []struct {
		owner int64
		want  bool
	}{{
		600 * 10, true,
	}, {600*10 + 2*timestampWindow, true}, {600*10 + 2*timestampWindow + 1, false}, {math.MaxInt64, false}} {
		r := newRig(0, scriptOf(1))
		r.owner.birth = test.owner
		synced := r.ConnectBlock(blockOf(10, txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1))), 1)
		if synced.Changed != test.want || r.Tip().Height != 10 {
			t.Errorf("born at %d: %+v, tip %d", test.owner, synced, r.Tip().Height)
		}
		if known := r.Birth() != noTime; known != test.want {
			t.Errorf("born at %d: birth %d", test.owner, r.Birth())
		}
	}
}

func TestSave(t *testing.T) {
	r := newRig(0, scriptOf(1))
	for height := range int32(300) {
		if synced := r.ConnectBlock(blockOf(height), 1); synced.Save != (height%144 == 0) {
			t.Errorf("empty block %d is saved: %v", height, synced.Save)
		}
	}
	tx := txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1))
	block := blockOf(301, tx)
	if synced := r.ConnectBlock(block, 1); !synced.Save || len(synced.Same) > 0 {
		t.Errorf("a block with a transaction: %+v", synced)
	}
	if synced := r.ConnectBlock(block, 1); !synced.Save || !slices.Equal(synced.Same, []chainhash.Hash{tx.TxHash()}) {
		t.Errorf("the same again: %+v", synced)
	}
	if at, ok := r.BlockOf(tx.TxHash()); !ok || at.Hash != block.Hash {
		t.Errorf("block of the transaction: %v, %v", at, ok)
	}
	if _, ok := r.BlockOf(chainhash.Hash{}); ok {
		t.Error("an unknown transaction is in a block")
	}
}

// A coinbase that left the chain is given up, with what spends it.
func TestAbandoned(t *testing.T) {
	r := newRig(0, scriptOf(1))
	coinbase := coinbaseOf(1, pay(50, 1))
	spender := txOf(2, []wire.OutPoint{outOf(coinbase, 0)}, pay(40, 1))
	first := blockOf(1, coinbase)
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(first, 1)
	r.AddMempoolTx(spender, 1)
	r.DisconnectBlock(first, messages.Tip{}, 1)
	for _, tx := range []*wire.MsgTx{coinbase, spender} {
		if kind := r.txs[tx.TxHash()].state.kind; kind != abandoned {
			t.Errorf("transaction %d: state %v", tx.LockTime, kind)
		}
	}
	if got := r.Unconfirmed(); len(got) > 0 {
		t.Errorf("%d may be mined yet", len(got))
	}
	if len(r.states.byBlock) > 0 || len(r.states.pool) > 0 {
		t.Errorf("%d blocks and %d transactions are remembered", len(r.states.byBlock), len(r.states.pool))
	}
}

func TestLocks(t *testing.T) {
	r := newRig(0, scriptOf(1))
	coin, other := foreign(1), foreign(2)
	k := r.Locks()
	k.Lock(other, false)
	k.Lock(coin, false)
	if got := k.List(); !slices.Equal(got, []wire.OutPoint{coin, other}) || len(r.log.Take()) > 0 {
		t.Errorf("locked: %v", got)
	}
	k.Lock(coin, true)
	k.Lock(coin, false)
	if changes := r.log.Take(); len(changes) != 1 || changes[0].Delete {
		t.Errorf("%d records of a lock that is kept", len(changes))
	}
	k.Unlock(other)
	if k.Has(other) || !k.Has(coin) || len(r.log.Take()) > 0 {
		t.Error("a lock in memory is written, or left")
	}
	r.ConnectBlock(blockOf(0, txOf(1, []wire.OutPoint{coin}, pay(1, 1))), 1)
	if k.Has(coin) {
		t.Error("a coin that is spent stays locked")
	}
	removed := slices.ContainsFunc(r.log.Take(), func(c walletChange) bool {
		return c.Delete && string(c.Key) == string(walletfile.LockedOutput(coin).Key())
	})
	if !removed {
		t.Error("the lock of a spent coin stays in the file")
	}
}

// The texts and the time of a transaction go to a transaction that differs in its
// signatures alone.
func TestCopyNotes(t *testing.T) {
	r := newRig(0, scriptOf(1))
	first := txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1))
	r.AddMempoolTx(first, 100)
	r.txs[first.TxHash()].record.Values["comment"] = "x"
	signed := first.Copy()
	signed.TxIn[0].SignatureScript = []byte{1}
	other := txOf(2, []wire.OutPoint{foreign(1)}, pay(5, 1))
	r.AddMempoolTx(signed, 200)
	r.AddMempoolTx(other, 300)
	if got := r.txs[signed.TxHash()]; got.record.Values["comment"] != "x" || got.time() != 100 {
		t.Errorf("signed again: %v at %d", got.record.Values, got.time())
	}
	if got := r.txs[other.TxHash()]; got.record.Values["comment"] != "" || got.time() != 300 {
		t.Errorf("another one: %v at %d", got.record.Values, got.time())
	}
}

// A coinbase that the wallet comes to know when its block leaves the chain is given
// up at once.
func TestLateCoinbase(t *testing.T) {
	r := newRig(0)
	coinbase := coinbaseOf(1, pay(50, 1))
	block := blockOf(1, coinbase)
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(block, 1)
	r.owner.scripts = append(r.owner.scripts, scriptOf(1))
	if synced := r.DisconnectBlock(block, messages.Tip{}, 1); !synced.Changed || !synced.Save {
		t.Errorf("synced %+v", synced)
	}
	if at := r.txs[coinbase.TxHash()]; at == nil || at.state.kind != abandoned {
		t.Errorf("the coinbase is %+v", at)
	}
}

// A witness that comes later is taken over.
func TestLateWitness(t *testing.T) {
	r := newRig(0, scriptOf(1))
	bare := txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1))
	full := bare.Copy()
	full.TxIn[0].Witness = wire.TxWitness{{1}}
	r.AddMempoolTx(bare, 1)
	r.log.Take()
	if synced := r.AddMempoolTx(full, 1); !synced.Changed || len(r.log.Take()) != 1 {
		t.Errorf("synced %+v", synced)
	}
	r.AddMempoolTx(bare, 1)
	if got := r.txs[bare.TxHash()].record.Tx; got != full || len(r.log.Take()) > 0 {
		t.Error("the witness is not taken over, or lost again")
	}
}

// Coins that the file says are locked are unlocked there too.
func TestLoadedLocks(t *testing.T) {
	r := newRig(0, scriptOf(1))
	r.Load(&walletfile.Wallet{Locked: []wire.OutPoint{foreign(1)}}, nil)
	r.log.Take()
	if !r.Locks().Has(foreign(1)) || r.Locks().Has(foreign(2)) {
		t.Errorf("locked: %v", r.Locks().List())
	}
	r.Locks().Lock(foreign(2), false)
	r.Locks().Unlock(foreign(2))
	if changes := r.log.Take(); len(changes) != 0 {
		t.Errorf("%d records of a lock that is not kept", len(changes))
	}
	r.Locks().Unlock(foreign(1))
	changes := r.log.Take()
	key := string(walletfile.LockedOutput(foreign(1)).Key())
	if len(changes) != 1 || !changes[0].Delete || string(changes[0].Key) != key {
		t.Errorf("unlocked: %v", changes)
	}
	if r.Locks().Has(foreign(1)) || len(r.Locks().List()) > 0 {
		t.Error("still locked")
	}
}
