package chainstate

import (
	"fmt"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/store/chaindb"
)

// pending is what the next commit writes, but for the tip.
type pending struct {
	change chaindb.Change
	size   int                         // of blocks and undo data, in bytes
	rows   map[*chainview.Block]bool   // whose status is new; true: may have a row of a header alone
	blocks map[chainhash.Hash]*block   // to be stored
	undo   map[chainhash.Hash]struct{} // in change
}

// markDirty has the row of a block written.
func (p *pending) markDirty(b *chainview.Block) {
	if p.rows == nil {
		p.rows = map[*chainview.Block]bool{}
	}
	if _, ok := p.rows[b]; !ok {
		p.rows[b] = false
	}
}

// link has the row of a block written among those whose chains are whole. wasHeaderOnly
// says that it may have one among the others.
func (p *pending) link(b *chainview.Block, wasHeaderOnly bool) {
	p.markDirty(b)
	p.rows[b] = p.rows[b] || wasHeaderOnly
}

func (p *pending) store(b *block) {
	p.change.Blocks = append(p.change.Blocks, chaindb.NewBlock{Hash: b.Hash, Raw: b.raw})
	p.size += len(b.raw)
	if p.blocks == nil {
		p.blocks = map[chainhash.Hash]*block{}
	}
	p.blocks[b.Hash] = b
}

func (p *pending) addUndo(hash *chainhash.Hash, undo []byte) {
	if _, ok := p.undo[*hash]; ok {
		return
	}
	if p.undo == nil {
		p.undo = map[chainhash.Hash]struct{}{}
	}
	p.undo[*hash] = struct{}{}
	p.change.Undo = append(p.change.Undo, chaindb.BlockUndo{Hash: *hash, Data: undo})
	p.size += len(undo)
}

func (p *pending) put(rows ...chaindb.Row) { p.change.Rows = append(p.change.Rows, rows...) }

// mark changes what is known of a block.
func (e *Engine) mark(b *chainview.Block, s chainview.Status) {
	if b.Status() != s {
		e.tree.SetStatus(b, s)
		e.pending.markDirty(b)
	}
}

// commit writes what is pending and makes the tip that of the active chain.
func (e *Engine) commit() error {
	if err := e.save(); err != nil {
		return err
	}
	if from := e.tree.Active().Tip(); e.tip != from {
		e.MoveLocksBack(from, e.tip)
		e.tree.SetActive(e.tip)
		e.strips.Want()
	}
	if e.coins.Full() {
		return e.flush()
	}
	return nil
}

// save writes what is pending, with the tip as it is: readers do not see it yet.
func (e *Engine) save() error {
	if e.broken != nil {
		return e.broken
	}
	p, assumed := &e.pending, e.tree.Assumed()
	for b, wasHeaderOnly := range p.rows {
		linked := forkchoice.Linked(b) && !assumed.Bears(b)
		p.put(e.kind.Rows.Status(b, linked, wasHeaderOnly)...)
	}
	for _, s := range e.steps {
		if !e.hidden {
			p.put(e.kind.Rows.Move(s.block, s.back)...)
		}
	}
	if len(e.steps) > 0 && !e.hidden {
		e.moved = time.Now()
		p.put(chaindb.Row{Key: []byte(stateKey), Value: stateRow(e.tip, e.txs.n)})
	}
	e.odd.put(&e.pending)
	if len(p.change.Blocks)+len(p.change.Undo)+len(p.change.Rows) > 0 {
		if err := e.guard(e.disk.Commit(&p.change)); err != nil {
			return fmt.Errorf("commit change of the chain: %w", err)
		}
	}
	e.coins.Forget()
	e.pending, e.steps = pending{}, e.steps[:0]
	e.trail.save()
	return nil
}
