package follower

import (
	"errors"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/attachdb"
)

// reader implements [chainview.Reader].
type reader struct {
	*chainview.Tree
	e *Engine
}

var (
	_ chainview.FilterAuditor = reader{}
	_ chainview.RawIntoReader = reader{}
)

// Raw implements chainview.Reader.
func (r reader) Raw(hash *chainhash.Hash) ([]byte, error) {
	raw, _, err := r.e.source.block(nil, hash)
	return raw, err
}

// RawInto implements chainview.RawIntoReader.
func (r reader) RawInto(buf *[]byte, hash *chainhash.Hash) ([]byte, error) {
	raw, _, err := r.e.source.block(buf, hash)
	return raw, err
}

// Block implements chainview.Reader.
func (r reader) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	raw, err := r.Raw(hash)
	if err != nil {
		return nil, err
	}
	block, _, err := r.e.net.ReadBlock(raw)
	if err != nil {
		return nil, fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
	}
	return block, nil
}

// Size implements chainview.Reader. The size of a block that was pruned before it was
// read here is 0.
func (r reader) Size(hash *chainhash.Hash) (size, txs int, err error) {
	e := r.e
	b := e.tree.Lookup(hash)
	if b == nil {
		return 0, 0, fmt.Errorf("block %v: %w", hash, chainview.ErrNotFound)
	}
	if known, ok := e.source.learned.get(b); ok {
		return int(known.size), int(known.txs), nil
	}
	if n := e.number(b); n != 0 && n <= e.store.Count() {
		switch stored, err := e.store.Block(n); {
		case err == nil && stored.Txs > 0 && (stored.Size > 0 || b.Status()&chainview.Pruned != 0):
			return int(stored.Size), int(stored.Txs), nil
		case err != nil && !errors.Is(err, attachdb.ErrNotFound):
			return 0, 0, fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
		}
	}
	raw, shape, err := e.source.block(nil, hash)
	if errors.Is(err, chainview.ErrPruned) {
		if txs, err = e.source.countTxs(b); err != nil {
			return 0, 0, err
		}
		return 0, txs, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return len(raw), len(shape), nil
}

// SpentScripts implements chainview.Reader.
func (r reader) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	e := r.e
	if e.source.genesis(hash) {
		return nil, nil
	}
	scripts, err := e.source.spentScripts(hash)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", chainview.ErrUndo, err)
	}
	return scripts, nil
}

// Spent implements chainview.Reader.
func (r reader) Spent(hash *chainhash.Hash) ([][]chainview.Coin, error) {
	e := r.e
	if e.source.genesis(hash) {
		return nil, nil
	}
	coins, err := e.source.spentCoins(hash)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", chainview.ErrUndo, err)
	}
	return coins, nil
}

// Filter implements chainview.FilterReader. Core's own filter is taken if its files have
// it, which costs less than building the filter. Core is asked for the filter if the block
// was pruned, or if its spent outputs can only be had as text, which costs more than all
// else. The origin of the filter is noted before the filter is handed out.
func (r reader) Filter(hash *chainhash.Hash) (filter []byte, ok bool, err error) {
	e := r.e
	b := e.tree.Lookup(hash)
	if b == nil || b.Parent == nil {
		return nil, false, nil
	}
	if b.Height < e.from {
		if err := e.noteFirst(); err != nil {
			return nil, false, fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
		}
		return []byte{0}, true, nil // of no elements
	}
	if e.refused.Load() || !e.source.filters.Load() {
		return nil, false, e.noFilter(b)
	}
	if filter, ok := e.filters.filter(b); ok {
		return filter, true, nil
	}
	if (e.source.spentREST.Load() || e.source.inFiles(hash)) && b.Status()&chainview.Pruned == 0 {
		return nil, false, nil
	}
	filter, source, err := e.source.coreFilter(hash)
	if err != nil {
		return nil, false, err
	}
	switch err := e.noteFilters(source, b); {
	case errors.Is(err, errNotStored):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
	}
	return filter, true, nil
}

// noFilter says why there is no filter of a block that Core has pruned, where that keeps
// none either; nil: the filter can be built. At the beginning of the chain there is
// nothing to go on with, which is for the operator. Later what is here is served on: Core
// may keep an index from some time on.
func (e *Engine) noFilter(b *chainview.Block) error {
	e.state.mu.Lock()
	from := e.state.now.Node.PruneHeight
	e.state.mu.Unlock()
	if from == nil || b.Height >= *from || e.source.inFiles(&b.Hash) {
		return nil
	}
	err := fmt.Errorf("%s has pruned its blocks below height %d, and keeps no filter index to take filters of "+
		"them from: set blockfilterindex=1 there, which downloads all blocks once more, or -attachfrom=%d here, to "+
		"search from that block on", "Bitcoin Core", *from, *from)
	if b.Height == 1 {
		return err
	}
	return fmt.Errorf("filter of block %v: %w: %w", &b.Hash, chainview.ErrNotYet, err)
}

// blockSize is what is learned of a block when it is read.
type blockSize struct{ size, txs uint32 }

// learned is what was learned by readers, until it is stored.
type learned struct {
	mu     sync.Mutex
	blocks map[*chainview.Block]blockSize
}

// maxLearned bounds what waits to be stored: what is beyond is learned again.
const maxLearned = 1 << 16

func (l *learned) set(b *chainview.Block, s blockSize) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blocks == nil {
		l.blocks = map[*chainview.Block]blockSize{}
	}
	if len(l.blocks) < maxLearned {
		l.blocks[b] = s
	}
}

func (l *learned) get(b *chainview.Block) (blockSize, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.blocks[b]
	return s, ok && (s.size > 0 || b.Status()&chainview.Pruned != 0)
}

func (l *learned) take() map[*chainview.Block]blockSize {
	l.mu.Lock()
	defer l.mu.Unlock()
	blocks := l.blocks
	l.blocks = nil
	return blocks
}

// setLearned puts what readers have learned into a change.
func (e *Engine) setLearned(change *attachdb.Change) error {
	count := e.store.Count()
	for b, s := range e.source.learned.take() {
		n := uint32(b.Order)
		switch {
		case n == 0:
		case n > count:
			if i := int(n - count - 1); i < len(change.Add) {
				change.Add[i].Txs, change.Add[i].Size = s.txs, max(s.size, change.Add[i].Size)
			}
		default:
			stored, err := e.store.Block(n)
			if err != nil {
				return err
			}
			if stored.Txs == s.txs && stored.Size >= s.size {
				continue
			}
			if change.Set == nil {
				change.Set = map[uint32]attachdb.Block{}
			}
			stored.Txs, stored.Size = s.txs, max(s.size, stored.Size)
			change.Set[n] = stored
		}
	}
	return nil
}
