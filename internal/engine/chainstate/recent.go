package chainstate

import (
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/blockfile"
)

// recentBlocks is how far from the tip blocks are kept in memory: all that follow the chain read a new block
// within the same moment.
const recentBlocks = 3

// Recent keeps the last blocks of the active chain in memory, so that each is read and parsed once for all that
// follow the chain. There are 2*recentBlocks at most, of one chain or of two branches. The zero value is ready. It
// is safe for concurrent use.
type Recent struct {
	mu     sync.Mutex
	kept   map[chainhash.Hash]*recent
	closed bool
}

// Close drops all blocks and keeps none from now on: a reader that outlives the chain gets the store's ErrClosed. A nil
// Recent has nothing to drop.
func (c *Recent) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept, c.closed = nil, true
}

// A recent is one block. Each of its parts is made by the first that asks for it; the others wait. The parts may
// not be written to.
type recent struct {
	height int32
	raw    func() ([]byte, error)
	block  func() (*wire.MsgBlock, error)
	spent  func() ([][]chainview.Coin, error)
}

// Add keeps a block that was just connected: as it is serialized, parsed, and with its undo data. None of them may be
// written to afterwards. A nil Recent keeps nothing.
func (c *Recent) Add(at *chainview.Block, raw []byte, block *wire.MsgBlock, undo []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(at.Hash, at.Height, &recent{
		height: at.Height,
		raw:    func() ([]byte, error) { return raw, nil },
		block:  func() (*wire.MsgBlock, error) { return block, nil },
		spent: sync.OnceValues(func() ([][]chainview.Coin, error) {
			coins, err := blockfile.ParseUndo(undo)
			return spentCoins(coins), err
		}),
	})
}

// recent returns a block near the tip, nil for others.
func (r Reader) recent(hash *chainhash.Hash) *recent {
	at := r.Lookup(hash)
	if r.Recent == nil || at == nil {
		return nil
	}
	tip := r.Active().Height()
	if at.Height <= tip-recentBlocks {
		return nil
	}
	r.Recent.mu.Lock()
	known := r.Recent.kept[*hash]
	r.Recent.mu.Unlock()
	if known != nil {
		return known
	}
	return r.Recent.keep(*hash, tip, r.newRecent(*hash, at.Height))
}

// newRecent returns a block whose parts are read when they are asked for. If a part cannot be read the block is
// forgotten, so that the next reader tries again.
func (r Reader) newRecent(hash chainhash.Hash, height int32) *recent {
	e := &recent{height: height}
	e.raw = once(r.Recent, &hash, e, func() ([]byte, error) { return r.readRaw(&hash) })
	e.block = once(r.Recent, &hash, e, func() (*wire.MsgBlock, error) {
		raw, err := e.raw()
		if err != nil {
			return nil, err
		}
		return r.parse(&hash, raw)
	})
	e.spent = once(r.Recent, &hash, e, func() ([][]chainview.Coin, error) { return r.readSpent(&hash) })
	return e
}

// once has a part of a block read by the first that asks for it, and the block forgotten if that fails.
func once[T any](c *Recent, hash *chainhash.Hash, e *recent, read func() (T, error)) func() (T, error) {
	return sync.OnceValues(func() (T, error) {
		value, err := read()
		if err != nil {
			c.forget(hash, e)
		}
		return value, err
	})
}

// keep keeps a block, unless another caller has just kept the block, and returns the kept block.
func (c *Recent) keep(hash chainhash.Hash, tip int32, e *recent) *recent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.kept[hash]; known != nil {
		return known
	}
	c.put(hash, tip, e)
	return e
}

// put keeps a block, and lets those go that are far from the tip. The lock is held.
func (c *Recent) put(hash chainhash.Hash, tip int32, e *recent) {
	if c.closed {
		return
	}
	if c.kept == nil {
		c.kept = make(map[chainhash.Hash]*recent, 2*recentBlocks)
	}
	for old, at := range c.kept {
		if at.height <= tip-recentBlocks || len(c.kept) >= 2*recentBlocks {
			delete(c.kept, old)
		}
	}
	c.kept[hash] = e
}

func (c *Recent) forget(hash *chainhash.Hash, e *recent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[*hash] == e {
		delete(c.kept, *hash)
	}
}
