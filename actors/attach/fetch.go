package attach

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

const (
	fetchWithin = 20 * time.Second       // how long one peer may take to give a block
	firstPoll   = 10 * time.Millisecond  // when the other node is asked first whether it has
	fetchPoll   = 200 * time.Millisecond // how often it is asked after a while
)

// fetch has the other node get a block again that it has pruned: from one of its peers
// after the other. It stays there until the node prunes the next time.
func (a *Attach) fetch(ctx context.Context, hash chainhash.Hash) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(a.ctx, cancel) //nolint:contextcheck // it ends with the actor, too
	defer stop()
	if raw := a.block(ctx, hash); raw != nil {
		return raw, nil
	}
	var peers []struct {
		ID int64 `json:"id"`
	}
	if err := a.cfg.Node.Call(ctx, &peers, "getpeerinfo"); err != nil {
		a.cfg.Log.Warn("Cannot ask for a pruned block", "block", hash, "err", err)
		return nil, nodemsg.ErrNoSource
	}
	for _, peer := range peers {
		if err := a.cfg.Node.Call(ctx, nil, "getblockfrompeer", hash.String(), peer.ID); err != nil {
			continue // not this one
		}
		wait := firstPoll
		for began := time.Now(); time.Since(began) < fetchWithin; {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(wait):
			}
			wait = min(2*wait, fetchPoll)
			if raw := a.block(ctx, hash); raw != nil {
				return raw, nil
			}
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, nodemsg.ErrNoSource
}

// block returns a block that the other node has, nil where it has not, or not the whole
// block of that hash.
func (a *Attach) block(ctx context.Context, hash chainhash.Hash) []byte {
	var text string
	if err := a.cfg.Node.Call(ctx, &text, "getblock", hash.String(), 0); err != nil {
		return nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil
	}
	block, size, err := a.cfg.Network.ReadBlock(raw)
	if err != nil || size != len(raw) || block.BlockHash() != hash {
		return nil
	}
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	if root, repeated := consensus.MerkleRoot(ids); repeated || root != block.Header.MerkleRoot {
		return nil
	}
	return raw
}
