package bitcoin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// AcceptHeaders makes headers part of the tree without their blocks, and
// returns the block of the last one and how many were new. What it adds is found
// again after a restart. The error is a [*messages.RejectError] for the first
// header that is refused; those before it stay.
func (e *Engine) AcceptHeaders(raw [][]byte) (last *chainview.Block, added int, err error) {
	var fresh []*chainview.Block
	for _, bytes := range raw {
		var b *chainview.Block
		var isNew bool
		if b, isNew, err = e.acceptHeader(bytes); err != nil {
			break
		}
		if last = b; isNew {
			fresh = append(fresh, b)
		}
	}
	if saved := e.saveHeaders(fresh); saved != nil {
		return nil, 0, saved
	}
	return last, len(fresh), err
}

// acceptHeader checks in Core's order (AcceptBlockHeader).
func (e *Engine) acceptHeader(raw []byte) (b *chainview.Block, isNew bool, err error) {
	header := new(wire.BlockHeader)
	if len(raw) != wire.MaxBlockHeaderPayload || header.Deserialize(bytes.NewReader(raw)) != nil {
		return nil, false, &messages.RejectError{Reason: "bad-header", Debug: "malformed header"}
	}
	hash := header.BlockHash()
	if b := e.tree.Lookup(&hash); b != nil {
		if b.Status().Invalid() {
			return nil, false, &messages.RejectError{
				Reason: "duplicate-invalid", Debug: fmt.Sprintf("block %v was previously marked invalid", hash),
			}
		}
		return b, false, nil
	}
	if err := e.checkHeader(&hash, header); err != nil {
		return nil, false, err
	}
	b, err = e.tree.Add(header, blockchain.CalcWork(header.Bits), 0)
	return b, true, err
}

// checkHeader checks a header that is not in the tree.
func (e *Engine) checkHeader(hash *chainhash.Hash, header *wire.BlockHeader) error {
	target := blockchain.CompactToBig(header.Bits)
	if target.Sign() <= 0 || target.Cmp(e.net.Params.PowLimit) > 0 || blockchain.HashToBig(hash).Cmp(target) > 0 {
		return e.headerError(blockchain.ErrHighHash, header)
	}
	parent := e.tree.Lookup(&header.PrevBlock)
	if parent == nil {
		return &messages.RejectError{Reason: ReasonNoParent}
	}
	if parent.Status().Invalid() {
		return e.headerError(blockchain.ErrInvalidAncestorBlock, header)
	}
	err := blockchain.CheckBlockHeaderContext(header, place{parent}, blockchain.BFNone, e.chain, true)
	var rule blockchain.RuleError
	if errors.As(err, &rule) && rule.ErrorCode == blockchain.ErrBlockVersionTooOld {
		// Core looks at the future before it looks at the version.
		if late := e.checkFuture(header); late != nil {
			return late
		}
	}
	switch {
	case errors.As(err, &rule):
		return e.reject(rule, &wire.MsgBlock{Header: *header})
	case err != nil:
		return fmt.Errorf("header %v: %w", hash, err)
	}
	return e.checkFuture(header)
}

func (e *Engine) checkFuture(header *wire.BlockHeader) error {
	if header.Timestamp.Unix() > e.clock.AdjustedTime().Unix()+blockchain.MaxTimeOffsetSeconds {
		return e.headerError(blockchain.ErrTimeTooNew, header)
	}
	return nil
}

func (e *Engine) headerError(code blockchain.ErrorCode, header *wire.BlockHeader) error {
	return e.reject(blockchain.RuleError{ErrorCode: code}, &wire.MsgBlock{Header: *header})
}

// place is a block of the tree as btcd's rules for headers see it.
type place struct{ b *chainview.Block }

// Height implements blockchain.HeaderCtx.
func (p place) Height() int32 { return p.b.Height }

// Bits implements blockchain.HeaderCtx.
func (p place) Bits() uint32 { return p.b.Header.Bits }

// Timestamp implements blockchain.HeaderCtx.
func (p place) Timestamp() int64 { return p.b.Header.Timestamp.Unix() }

// Parent implements blockchain.HeaderCtx.
func (p place) Parent() blockchain.HeaderCtx { return placed(p.b.Parent) }

// RelativeAncestorCtx implements blockchain.HeaderCtx.
func (p place) RelativeAncestorCtx(distance int32) blockchain.HeaderCtx {
	return placed(p.b.Ancestor(p.b.Height - distance))
}

// placed returns a nil interface for no block, as btcd's rules expect.
func placed(b *chainview.Block) blockchain.HeaderCtx {
	if b == nil {
		return nil
	}
	return place{b}
}

// Headers whose blocks are not there lie in a bucket of their own, beside those of
// btcd, which does not know them. The rows are like btcd's: the key is the height,
// big-endian, and the hash; the value the header and one byte of status flags.
var headersBucket = []byte("trawl-headers")

// saveHeaders notes headers, or their changed status.
func (e *Engine) saveHeaders(blocks []*chainview.Block) error {
	if len(blocks) == 0 {
		return nil
	}
	err := e.db.BTCD().Update(func(tx database.Tx) error { return putHeaders(tx, blocks) })
	if err != nil {
		return fmt.Errorf("store headers: %w", err)
	}
	return nil
}

func putHeaders(tx database.Tx, blocks []*chainview.Block) error {
	bucket, err := tx.Metadata().CreateBucketIfNotExists(headersBucket)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		row := bytes.NewBuffer(make([]byte, 0, indexRowSize))
		_ = b.Header.Serialize(row) // to memory
		flags := byte(0)
		if b.Status()&chainview.Failed != 0 {
			flags |= statusValidateFailed
		}
		if b.Status()&chainview.HasData != 0 {
			flags |= statusDataStored // parked
		}
		row.WriteByte(flags)
		if err := bucket.Put(indexKey(b), row.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// dropHeader forgets the row of a header whose block has come.
func (e *Engine) dropHeader(b *chainview.Block) error {
	return e.group.Update(func(tx database.Tx) error {
		bucket := tx.Metadata().Bucket(headersBucket)
		if bucket == nil {
			return nil
		}
		return bucket.Delete(indexKey(b))
	})
}

// loadHeaders puts the headers without blocks into a tree that holds the blocks.
// One that lacks its parent, which a loss of power may cause, is left out: peers
// give it again.
func loadHeaders(db database.DB, tree *chainview.Tree) error {
	return db.View(func(tx database.Tx) error {
		bucket := tx.Metadata().Bucket(headersBucket)
		if bucket == nil {
			return nil
		}
		return bucket.ForEach(func(_, row []byte) error {
			header, status, err := parseIndexRow(row)
			if err != nil {
				return err
			}
			parent := tree.Lookup(&header.PrevBlock)
			if parent == nil {
				return nil
			}
			if status&chainview.HasData != 0 {
				hash := header.BlockHash()
				if has, err := tx.HasBlock(&hash); err != nil || !has {
					status &^= chainview.HasData
				}
			}
			if parent.Status().Invalid() {
				status |= chainview.FailedAncestor
			}
			_, err = tree.Add(header, blockchain.CalcWork(header.Bits), status)
			return err
		})
	})
}

// fail marks a block whose header is known, and that breaks a rule, as one to be
// refused from now on.
func (e *Engine) fail(b *chainview.Block) error {
	e.tree.SetStatus(b, b.Status()|chainview.Failed)
	e.spread()
	return e.saveHeaders([]*chainview.Block{b})
}

// spread carries invalidity from blocks to the headers without blocks that build
// on them, and takes it back where its cause is gone.
func (e *Engine) spread() {
	for _, tip := range e.tree.Tips() {
		var branch []*chainview.Block // headers without blocks, last first
		for b := tip; b != nil && e.isBare(b); b = b.Parent {
			branch = append(branch, b)
		}
		for i := len(branch) - 1; i >= 0; i-- {
			b := branch[i]
			status := b.Status() &^ chainview.FailedAncestor
			if b.Parent.Status().Invalid() {
				status |= chainview.FailedAncestor
			}
			e.setStatus(b, status)
		}
	}
}

// clear takes back what fail did, for the headers without blocks among a block, its
// ancestors and its descendants.
func (e *Engine) clear(b *chainview.Block) error {
	var cleared []*chainview.Block
	take := func(at *chainview.Block) {
		if at.Status()&chainview.Failed != 0 && e.isBare(at) {
			e.tree.SetStatus(at, at.Status()&^chainview.Failed)
			cleared = append(cleared, at)
		}
	}
	for at := b; at != nil && e.isBare(at); at = at.Parent {
		take(at)
	}
	for _, tip := range e.tree.Tips() {
		if tip.Ancestor(b.Height) != b {
			continue
		}
		for at := tip; at != b && e.isBare(at); at = at.Parent {
			take(at)
		}
	}
	return e.saveHeaders(cleared)
}
