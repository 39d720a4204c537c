package chainrpc

import (
	"context"
	"errors"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// month is the window of getchaintxstats where none is given.
const month = 30 * 24 * time.Hour

// txStats is what getchaintxstats returns.
type txStats struct {
	Time     int64          `json:"time"`
	Count    *int64         `json:"txcount,omitempty"`
	Block    chainhash.Hash `json:"window_final_block_hash"`
	Height   int32          `json:"window_final_block_height"`
	Blocks   int32          `json:"window_block_count"`
	Interval *int64         `json:"window_interval,omitempty"`
	Txs      *int64         `json:"window_tx_count,omitempty"`
	Rate     *float64       `json:"txrate,omitempty"`
}

func getChainTxStats(d *Deps) command.Command {
	txs := new(txCounter)
	return command.Command{
		Name:     "getchaintxstats",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how many transactions the chain has, and how many there were in its last blocks.",
		Params: []command.Param{
			{Name: "nblocks", Type: command.Number, Default: "one month", Help: "how many blocks the window has"},
			{Name: "blockhash", Type: command.Hex, Default: "chain tip", Help: "hash of the last block of the window"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Timestamp, Key: "time", Help: "time of the last block"},
			{
				Type: command.Number, Key: "txcount", Optional: true,
				Help: "transactions of the chain up to it, where all blocks are known",
			},
			{Type: command.Hex, Key: "window_final_block_hash", Help: "hash of the last block"},
			{Type: command.Number, Key: "window_final_block_height", Help: "its height"},
			{Type: command.Number, Key: "window_block_count", Help: "blocks of the window"},
			{
				Type: command.Number, Key: "window_interval", Optional: true,
				Help: "seconds that the window took, by median times; absent without blocks",
			},
			{
				Type: command.Number, Key: "window_tx_count", Optional: true,
				Help: "transactions of the window; absent without blocks, and where they are not known",
			},
			{
				Type: command.Number, Key: "txrate", Optional: true,
				Help: "transactions in a second; absent where the window took no time",
			},
		}}},
		Examples: []string{`[]`, `[2016]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			reader, err := d.open()
			if err != nil {
				return nil, err
			}
			active := reader.Active()
			last := active.Tip()
			if a.Has(1) {
				if last, err = windowEnd(reader, active, a); err != nil {
					return nil, err
				}
			}
			blocks, err := d.window(last, a)
			if err != nil {
				return nil, err
			}
			return statsOf(reader, active, txs, last, blocks)
		},
	}
}

// windowEnd reads the block that the caller names.
func windowEnd(reader chainview.Reader, active *chainview.Chain, a *command.Args) (*chainview.Block, error) {
	hash, err := arg.Hash(a.Value(1), "blockhash")
	if err != nil {
		return nil, err
	}
	b, err := lookup(reader, &hash)
	if err == nil && !active.Contains(b) {
		err = command.Error{Code: command.InvalidParameter, Message: "Block is not in main chain"}
	}
	return b, err
}

// window reads how many blocks the window has, which ends in last.
func (d *Deps) window(last *chainview.Block, a *command.Args) (int32, error) {
	if !a.Has(0) {
		blocks := int32(month / d.Network.Params.TargetTimePerBlock)
		return max(0, min(blocks, last.Height-1)), nil
	}
	blocks, err := a.Int32(0)
	if err == nil && (blocks < 0 || blocks > 0 && blocks >= last.Height) {
		err = command.Error{
			Code:    command.InvalidParameter,
			Message: "Invalid block count: should be between 0 and the block's height - 1",
		}
	}
	return blocks, err
}

func statsOf(
	reader chainview.Reader, active *chainview.Chain, txs *txCounter, last *chainview.Block, blocks int32,
) (txStats, error) {
	first := last.Ancestor(last.Height - blocks)
	stats := txStats{Time: last.Time().Unix(), Block: last.Hash, Height: last.Height, Blocks: blocks}
	upTo, known, err := txs.upTo(reader, active, last)
	if err != nil {
		return stats, err
	}
	if known {
		stats.Count = &upTo
	}
	if blocks == 0 {
		return stats, nil
	}
	interval := last.MedianTimePast() - first.MedianTimePast()
	stats.Interval = &interval
	before, also, err := txs.upTo(reader, active, first)
	if err != nil || !known || !also {
		return stats, err
	}
	window := upTo - before
	if stats.Txs = &window; interval > 0 {
		rate := float64(window) / float64(interval)
		stats.Rate = &rate
	}
	return stats, nil
}

// sumTxs counts the transactions of the blocks above a height up to one.
func sumTxs(reader chainview.Reader, last *chainview.Block, height int32) (n int64, err error) {
	for b := range last.Above(height) {
		txs, err := b.TxCount(reader)
		if err != nil {
			return 0, err
		}
		n += int64(txs)
	}
	return n, nil
}

// upTo counts the transactions of the active chain up to a block of it. known is false
// where blocks are not here yet.
func (t *txCounter) upTo(
	reader chainview.Reader, active *chainview.Chain, last *chainview.Block,
) (n int64, known bool, err error) {
	if a := chainview.AssumedOf(reader); a != nil && last.Height < a.Base.Height {
		n, err = sumTxs(reader, last, -1)
	} else if n, err = t.count(reader, active); err == nil {
		var above int64
		above, err = sumTxs(reader, active.Tip(), last.Height)
		n -= above
	}
	if errors.Is(err, chainview.ErrNotYet) || errors.Is(err, chainview.ErrNotFound) {
		return 0, false, nil
	}
	return n, err == nil, err
}
