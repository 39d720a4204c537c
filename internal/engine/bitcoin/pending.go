package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/store/chaindb"
)

// pending is what the next commit writes, but for the tip.
type pending struct {
	change chaindb.Change
	size   int                         // of blocks and undo data, in bytes
	rows   map[*chainview.Block]bool   // whose status is new; true: had a row as a bare header
	blocks map[chainhash.Hash]*block   // to be stored
	undo   map[chainhash.Hash]struct{} // in change
}

// touch has the row of a block written.
func (p *pending) touch(b *chainview.Block) {
	if p.rows == nil {
		p.rows = map[*chainview.Block]bool{}
	}
	if _, ok := p.rows[b]; !ok {
		p.rows[b] = false
	}
}

// link has the row of a block written among those whose chains are whole. bare says
// that it may have one among the others.
func (p *pending) link(b *chainview.Block, bare bool) {
	p.touch(b)
	p.rows[b] = p.rows[b] || bare
}

func (p *pending) store(b *block) {
	p.change.Blocks = append(p.change.Blocks, chaindb.NewBlock{Hash: b.hash, Raw: b.raw})
	p.size += len(b.raw)
	if p.blocks == nil {
		p.blocks = map[chainhash.Hash]*block{}
	}
	p.blocks[b.hash] = b
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

func (p *pending) put(bucket string, key, value []byte) {
	p.change.Rows = append(p.change.Rows, chaindb.Row{Bucket: bucket, Key: key, Value: value})
}

// mark changes what is known of a block.
func (e *Engine) mark(b *chainview.Block, s chainview.Status) {
	if b.Status() != s {
		e.tree.SetStatus(b, s)
		e.pending.touch(b)
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
	p := &e.pending
	for b, wasBare := range p.rows {
		bucket := headersBucket
		if forkchoice.Linked(b) {
			bucket = indexBucket
		}
		p.put(bucket, indexKey(b), indexRow(b))
		if wasBare && bucket == indexBucket {
			p.put(headersBucket, indexKey(b), nil)
		}
	}
	e.putMoves()
	e.putOdd()
	if len(p.change.Blocks)+len(p.change.Undo)+len(p.change.Rows) > 0 {
		if err := e.guard(e.disk.Commit(&p.change)); err != nil {
			return fmt.Errorf("commit change of the chain: %w", err)
		}
	}
	e.coins.Forget()
	e.pending, e.steps = pending{}, e.steps[:0]
	return nil
}

// putMoves adds the rows that a move of the tip changes.
func (e *Engine) putMoves() {
	if len(e.steps) == 0 {
		return
	}
	p := &e.pending
	for _, s := range e.steps {
		hash := s.block.Hash[:]
		if s.back {
			p.put(hashBucket, hash, nil)
			p.put(journalBucket, hash, nil)
			p.put(heightBucket, heightRow(s.block.Height), nil)
			continue
		}
		p.put(hashBucket, hash, heightRow(s.block.Height))
		p.put(journalBucket, hash, []byte{})
		p.put(heightBucket, heightRow(s.block.Height), hash)
	}
	p.put("", []byte(stateKey), e.stateRow())
}
