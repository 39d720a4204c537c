package replay

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// pollEvery is how often a state is asked for that is waited for.
const pollEvery = 20 * time.Millisecond

// WaitTip waits until the node's tip is the block tip at height and, with
// index, the filter index has reached it. If ctx ends first, the error tells
// the node's tip or index.
func WaitTip(ctx context.Context, client *jsonrpc.Client, tip string, height int32, index bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var why error
	for {
		err := atTip(ctx, client, tip, height, index)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			why = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the node did not reach block %s: %w", tip, why)
		case <-tick.C:
		}
	}
}

func atTip(ctx context.Context, client *jsonrpc.Client, tip string, height int32, index bool) error {
	var best string
	if err := client.Call(ctx, &best, "getbestblockhash"); err != nil {
		return err
	}
	if best != tip {
		return fmt.Errorf("the best block is %s", best)
	}
	if !index {
		return nil
	}
	var indexes map[string]struct {
		Synced bool  `json:"synced"`
		Height int32 `json:"best_block_height"`
	}
	if err := client.Call(ctx, &indexes, "getindexinfo"); err != nil {
		return err
	}
	for _, state := range indexes {
		if state.Synced && state.Height == height {
			return nil
		}
	}
	return fmt.Errorf("the indexes are at %v", indexes)
}

func (p *Player) waitTip(ctx context.Context, c *Case) Outcome {
	ctx, cancel := context.WithTimeout(ctx, stateLimit)
	defer cancel()
	if err := WaitTip(ctx, p.Client, c.Tip, c.Height, c.Index); err != nil {
		return failed(Precondition, "%v", err)
	}
	return Outcome{}
}

func (p *Player) loadBlocks(ctx context.Context, c *Case) Outcome {
	blocks, err := ReadBlocks(filepath.Join(p.Folder, c.File))
	if err != nil {
		return failed(Precondition, "%v", err)
	}
	var best string
	if err := p.Client.Call(ctx, &best, "getbestblockhash"); err != nil {
		return failed(Precondition, "%v", err)
	}
	if best != c.Tip {
		for _, block := range blocks {
			if err := p.Client.Call(ctx, nil, "submitblock", hex.EncodeToString(block)); err != nil {
				return failed(Precondition, "submitblock: %v", err)
			}
		}
	}
	return p.waitTip(ctx, c)
}
