package chainstate

import (
	"context"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// FailWrites has before asked before each write of an engine that was just opened;
// the write fails with its error.
func FailWrites(e *Engine, limit int64, before func() error) error {
	store, err := e.db.CoinStore(chaindb.FirstCoins)
	if err != nil {
		return err
	}
	e.disk = failing{e.db, before}
	e.coins.Close()
	e.coins = coincache.New(failingCoins{store, before}, limit)
	return nil
}

type failing struct {
	disk
	before func() error
}

func (f failing) Commit(c *chaindb.Change) error {
	if err := f.before(); err != nil {
		return err
	}
	return f.disk.Commit(c)
}

func (f failing) Sync() error {
	if err := f.before(); err != nil {
		return err
	}
	return f.disk.Sync()
}

type failingCoins struct {
	coincache.Store
	before func() error
}

func (f failingCoins) WriteCoins(
	tip *chainhash.Hash, size int, changes func(func(key, value []byte) error) error,
) error {
	if err := f.before(); err != nil {
		return err
	}
	return f.Store.WriteCoins(tip, size, changes)
}

// ScriptFlags returns the rules of scripts in a block.
func ScriptFlags(e *Engine, at *chainview.Block) script.Flags { return e.kind.Scripts.Flags(at) }

// Idle makes the last move of the tip as old as it has to be for the cache to rest.
func Idle(e *Engine) { e.moved = e.moved.Add(-restAfter) }

// Stale makes the last write of unspent outputs as old as it has to be for the next one.
func Stale(e *Engine) { e.flushed = e.flushed.Add(-flushEvery) }

// CacheSize returns the memory of the cache.
func CacheSize(e *Engine) (bytes, pending int) {
	bytes, _ = e.coins.Size()
	return bytes, e.coins.Pending()
}

// Recover does the step of opening for unspent outputs that are of another block than
// the tip. It returns how much is left that could be taken back.
func Recover(e *Engine) (left int, err error) {
	err = loader{e}.recover()
	return int(e.coins.Mark()), err
}

// FailReads has before asked before each read of a stored unspent output, which fails
// with its error.
func FailReads(e *Engine, before func() error) error {
	return WatchReads(e, func([]byte) error { return before() })
}

// WatchReads is FailReads with the key that is read. The engine has no output in its cache.
func WatchReads(e *Engine, before func(key []byte) error) error {
	store, err := e.db.CoinStore(chaindb.FirstCoins)
	if err != nil {
		return err
	}
	e.coins.Close()
	e.coins = coincache.New(unreadable{store, before}, 8<<20)
	return nil
}

type unreadable struct {
	coincache.Store
	before func(key []byte) error
}

func (u unreadable) Coin(key []byte) ([]byte, error) {
	if err := u.before(key); err != nil {
		return nil, err
	}
	return u.Store.Coin(key)
}

// OnVerify has a function called for every input whose scripts are executed.
func OnVerify(e *Engine, called func(tx *wire.MsgTx, input int, spent []*wire.TxOut)) {
	e.kind.Scripts = watched{e.kind.Scripts, called}
}

type watched struct {
	Scripts
	called func(*wire.MsgTx, int, []*wire.TxOut)
}

func (w watched) Spend(tx *wire.MsgTx, spent []*wire.TxOut, at *chainview.Block) Spend {
	return watchedSpend{w, tx, spent, w.Scripts.Spend(tx, spent, at)}
}

type watchedSpend struct {
	watched
	tx    *wire.MsgTx
	spent []*wire.TxOut
	spend Spend
}

func (w watchedSpend) VerifyInput(i int, flags script.Flags) error {
	w.called(w.tx, i, w.spent)
	return w.spend.VerifyInput(i, flags)
}

// OddInMemory returns how many outputs that do not parse are to be stored.
func OddInMemory(e *Engine) int { return len(e.odd.fresh) }

// MinFetched is from how many inputs on a block's outputs are read at once.
const MinFetched = minFetched

// HashSet hashes the stored unspent outputs of an engine that is at a block in pieces of widths, the last of which
// counts for all that follow.
func HashSet(e *Engine, widths ...uint32) (sum chainhash.Hash, err error) {
	h, err := e.newSetHash(e.set, e.tip, nil)
	if err != nil {
		return sum, err
	}
	defer h.release()
	for !h.done() && err == nil {
		if h.width = widths[0]; len(widths) > 1 {
			widths = widths[1:]
		}
		err = h.next(context.Background())
	}
	return h.hash(), err
}

// HasOtherSet reports whether the set of unspent outputs that is not used has
// outputs. It deletes an output of that set.
func HasOtherSet(e *Engine) (bool, error) {
	store, err := e.db.CoinStore(e.set.Other())
	if err != nil {
		return false, err
	}
	return store.Erase(1)
}

// Spoil has an engine take another block for a block of its tree, the next time that it reads it: with another
// transaction in the second place.
func Spoil(e *Engine, hash *chainhash.Hash, tx *wire.MsgTx) error {
	b, err := e.fetch(e.tree.Lookup(hash))
	if err != nil {
		return err
	}
	b.List = slices.Clone(b.List)
	b.List[1] = tx
	e.pending.blocks = map[chainhash.Hash]*block{*hash: b}
	return nil
}

// PartsHeld returns how many of the two parts of a set, the stored outputs and the changes to them, can be read.
func PartsHeld(set messages.CoinSet) (parts int) {
	s := set.(*coinSet) //nolint:forcetypeassert // an engine's
	nothing := func(_, _ []byte) error { return nil }
	if s.stored.Visit(context.Background(), 0, 0xffff, nothing) == nil {
		parts++
	}
	none := func(func(key, value []byte) error) error { return nil }
	if s.changes.Merge(0, 0xffff, none, nothing) == nil {
		parts++
	}
	return parts
}

// GivePayloads has each header come with a payload from now on, which is refused with an error when it is checked
// again.
func GivePayloads(e *Engine, again error) { e.kind.Headers = withPayload{e.kind.Headers, again} }

type withPayload struct {
	Headers
	again error
}

func (w withPayload) Read(raw []byte) (*Header, int, error) {
	h, size, err := w.Headers.Read(raw)
	if err == nil {
		h.Payload = []byte{1}
	}
	return h, size, err
}

func (w withPayload) CheckAgain(*Header, int32) error { return w.again }

// ForgetData marks a block as pruned.
func ForgetData(e *Engine, hash *chainhash.Hash) {
	b := e.tree.Lookup(hash)
	e.mark(b, b.Status()|chainview.Pruned)
}
