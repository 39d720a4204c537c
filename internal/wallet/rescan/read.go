package rescan

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/txs"
)

// batchBytes bounds what is read at once.
const batchBytes = 4 << 20

// An UnreadableError reports a block that a wallet has to see.
type UnreadableError struct {
	Block *chainview.Block // nil: reading was ended
	Err   error
}

// Error implements error.
func (u *UnreadableError) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *UnreadableError) Unwrap() error { return u.Err }

// Behind says that a wallet cannot follow the chain past a block; nil for no error.
func Behind(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, chainview.ErrNotYet) {
		return codes.Errorf(codes.Wallet, "Error: wallet is behind: it has to see blocks before the loaded snapshot, "+
			"which are still being downloaded and validated. Check getchainstates and try again later.")
	}
	if u, ok := errors.AsType[*UnreadableError](err); ok && u.Block != nil {
		return codes.Errorf(codes.Wallet, "Error: wallet is behind: block %v (height %d) cannot be read",
			u.Block.Hash, u.Block.Height)
	}
	return codes.Errorf(codes.Wallet, "Error: wallet is behind: blocks cannot be read")
}

// ReadLeft reads the blocks that have left the chain, as far as that can be done. The last
// one has no transactions if it could not be read.
func ReadLeft(reader chainview.Reader, left []*chainview.Block) (read []*txs.Block, err error) {
	for _, b := range left {
		block := &txs.Block{BlockRef: BlockRef(b)}
		read = append(read, block)
		msg, err := reader.Block(&b.Hash) // peers do not have it any more
		if err != nil {
			return read, err
		}
		block.Txs = msg.Transactions
	}
	return read, nil
}

// Read reads blocks from the first one on, as many as fit a batch. With an error it returns the blocks before.
func Read(
	ctx context.Context, fetch chainview.Fetch, reader chainview.Reader, wanted []*chainview.Block,
) ([]*txs.Block, error) {
	var blocks []*txs.Block
	size := 0
	for _, b := range wanted {
		select {
		case <-ctx.Done():
			return blocks, context.Cause(ctx)
		default:
		}
		if size > batchBytes {
			break
		}
		if !reader.Active().Contains(b) {
			blocks = append(blocks, readStale(reader, b))
			continue
		}
		msg, err := fetch.Block(ctx, reader, &b.Hash)
		if err != nil {
			return blocks, err
		}
		size += msg.SerializeSize()
		blocks = append(blocks, &txs.Block{BlockRef: BlockRef(b), Txs: msg.Transactions})
	}
	return blocks, nil
}

// readStale reads a block that has left the chain before the wallet has seen it. Where it
// cannot be read it has no transactions: peers do not have it any more, and the wallet is
// about to take it back.
func readStale(reader chainview.Reader, b *chainview.Block) *txs.Block {
	block := &txs.Block{BlockRef: BlockRef(b)}
	if msg, err := reader.Block(&b.Hash); err == nil {
		block.Txs = msg.Transactions
	}
	return block
}
