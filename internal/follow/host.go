package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// hostBatch is how many blocks a step of a [Host] connects at most, and how many it
// disconnects.
const hostBatch = 100

// A Host follows and reads the chain in the goroutine of its caller, which is no actor.
// Its methods are safe for concurrent use.
type Host struct {
	Chain *chainview.Current // open
	Tip   *ask.Feed[messages.TipChanged]
	Fetch chainview.Fetch

	Ended <-chan struct{} // closed when the program ends
	Err   func() error    // why it has ended, nil while it has not
}

// A Header is a block's header and what is known of the block.
type Header struct {
	messages.BlockID
	wire.BlockHeader

	Active bool // the block is part of the active chain
	Stored bool // the block can be read
}

// Last returns the last block of the active chain.
func (h *Host) Last() messages.BlockID { return ID(h.Chain.Open().Active().Tip()) }

// At returns the block of the active chain at a height, or [messages.ErrBlockNotFound].
func (h *Host) At(height int32) (messages.BlockID, error) {
	if block := h.Chain.Open().Active().At(height); block != nil {
		return ID(block), nil
	}
	return messages.BlockID{}, fmt.Errorf("height %d: %w", height, messages.ErrBlockNotFound)
}

// Header returns the header of a block of any branch, or [messages.ErrBlockNotFound].
func (h *Host) Header(hash *chainhash.Hash) (Header, error) {
	reader := h.Chain.Open()
	block := reader.Lookup(hash)
	if block == nil {
		return Header{}, fmt.Errorf("block %v: %w", *hash, messages.ErrBlockNotFound)
	}
	return Header{
		BlockID: ID(block), BlockHeader: block.Header(), Active: reader.Active().Contains(block),
		Stored: block.Status()&(chainview.HasData|chainview.Pruned) == chainview.HasData,
	}, nil
}

// Follow calls f with steps that lead from a block to the active tip, and on whenever that
// changes. It returns the error of f, of ctx, of [Host.Err], or
// [messages.ErrBlockNotFound].
func (h *Host) Follow(ctx context.Context, from messages.BlockID, f func(messages.ChainStep) error) error {
	changed, stop := h.Tip.Watch()
	defer stop()
	for at := from; ; {
		step, err := h.step(at)
		if err == nil {
			err = h.running(ctx)
		}
		if err == nil && step.Last == at {
			err = h.wait(ctx, changed)
		} else if err == nil {
			err = f(step)
		}
		if err != nil {
			return err
		}
		at = step.Last
	}
}

// step returns the way from a position to the active tip, or its first part.
func (h *Host) step(from messages.BlockID) (messages.ChainStep, error) {
	reader := h.Chain.Open()
	step := messages.ChainStep{Last: from}
	var at *chainview.Block
	if from.Hash != (chainhash.Hash{}) {
		if at = reader.Lookup(&from.Hash); at == nil {
			return step, fmt.Errorf("block %v: %w", from.Hash, messages.ErrBlockNotFound)
		}
	}
	active := reader.Active()
	disconnect, connect := Plan(active, at, hostBatch)
	connect = present(reader, active, connect)
	for _, b := range disconnect {
		step.Disconnected, step.Last = append(step.Disconnected, ID(b)), ID(b.Parent)
	}
	for _, b := range connect {
		step.Connected, step.Last = append(step.Connected, ID(b)), ID(b)
	}
	return step, nil
}

// ID returns the name of a block.
func ID(b *chainview.Block) messages.BlockID {
	return messages.BlockID{Hash: b.Hash, Height: b.Height}
}

// Read returns a block of any branch. While the chain is being opened again it waits.
func (h *Host) Read(ctx context.Context, hash *chainhash.Hash) (*wire.MsgBlock, error) {
	changed, stop := h.Tip.Watch()
	defer stop()
	for {
		if err := h.running(ctx); err != nil {
			return nil, err
		}
		reader := h.Chain.Open()
		block, err := h.Fetch.Block(ctx, reader, hash)
		if !errors.Is(err, chainview.ErrClosed) {
			return block, readError(err, reader.Lookup(hash) != nil)
		}
		if err := h.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// readError says what an error of a reader is in words of package messages. known says
// whether the header of the block is known.
func readError(err error, known bool) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chainview.ErrPruned):
		return fmt.Errorf("%w: %w", messages.ErrBlockPruned, err)
	case errors.Is(err, chainview.ErrNotYet), errors.Is(err, chainview.ErrNotFound) && known:
		return fmt.Errorf("%w: %w", messages.ErrBlockNotYet, err)
	case errors.Is(err, chainview.ErrNotFound):
		return fmt.Errorf("%w: %w", messages.ErrBlockNotFound, err)
	}
	return err
}

// running is an error when the caller has gone or the program has ended.
func (h *Host) running(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return h.Err()
}

// wait returns nil when the chain has changed, or an error when it cannot change any more.
func (h *Host) wait(ctx context.Context, changed <-chan messages.TipChanged) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
	case <-h.Ended:
	}
	return h.running(ctx)
}
