package chainrpc

import (
	"context"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

const waitNote = "Returns the tip as it is when the time is over or the node stops.\n" +
	"Let the client wait that long. The wait ends with its connection."

var waitResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{Type: command.Hex, Key: "hash", Help: "hash of the tip"},
	{Type: command.Number, Key: "height", Help: "its height"},
}}}

func timeoutParam() command.Param {
	return command.Param{
		Name: "timeout", Type: command.Number, Default: "0", Help: "milliseconds to wait at most; 0 for ever",
	}
}

func waitForNewBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "waitfornewblock",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Tip,
		Summary: "Waits until the active chain has another tip.\n" + waitNote,
		Params: []command.Param{
			timeoutParam(),
			{
				Name: "current_tip", Type: command.Hex, Optional: true,
				Help: "tip to differ from, instead of the present one",
			},
		},
		Results:  waitResults,
		Waits:    always,
		Examples: []string{`[1000]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			timeout, err := waitTime(a, 0)
			if err != nil {
				return nil, err
			}
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			old := active.Tip().Hash
			if a.Has(1) {
				if old, err = arg.Hash(a.Value(1), "current_tip"); err != nil {
					return nil, err
				}
			}
			return d.waitTip(ctx, timeout, messages.WaitTip{Not: &old})
		},
	}
}

func waitForBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "waitforblock",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads,
		Summary: "Waits until a block is the tip of the active chain.\n" + waitNote,
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
			timeoutParam(),
		},
		Results:  waitResults,
		Waits:    always,
		Examples: []string{`["0000000000079f8ef3d2c688c244eb7a4570b24c9ed7b4a8c619eb02596f8862", 1000]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			hash, err := arg.Hash(a.Value(0), "blockhash")
			if err != nil {
				return nil, err
			}
			timeout, err := waitTime(a, 1)
			if err != nil {
				return nil, err
			}
			return d.waitTip(ctx, timeout, messages.WaitTip{Is: &hash})
		},
	}
}

func waitForBlockHeight(d *Deps) command.Command {
	return command.Command{
		Name:     "waitforblockheight",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Tip,
		Summary: "Waits until the active chain has reached a height.\n" + waitNote,
		Params: []command.Param{
			{Name: "height", Type: command.Number, Help: "height to wait for"},
			timeoutParam(),
		},
		Results:  waitResults,
		Waits:    always,
		Examples: []string{`[100, 1000]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			height, err := a.Int32(0)
			if err != nil {
				return nil, err
			}
			timeout, err := waitTime(a, 1)
			if err != nil {
				return nil, err
			}
			return d.waitTip(ctx, timeout, messages.WaitTip{Height: &height})
		},
	}
}

// waitTime reads how long to wait at most; 0 is for ever.
func waitTime(a *command.Args, at int) (time.Duration, error) {
	ms, err := a.Int32Or(at, 0)
	if err != nil {
		return 0, err
	}
	if ms < 0 {
		return 0, command.Error{Code: command.MiscError, Message: "Negative timeout"}
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// waitTip waits for a tip, and answers the present one when that takes too long.
func (d *Deps) waitTip(ctx context.Context, timeout time.Duration, wanted messages.WaitTip) (any, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	tip, err := ask.Wait(ctx, d.Actor, wanted)
	if err != nil {
		active, notOpen := d.active()
		if notOpen != nil {
			return nil, notOpen
		}
		tip = messages.Tip{Hash: active.Tip().Hash, Height: active.Height()}
	}
	return struct {
		Hash   chainhash.Hash `json:"hash"`
		Height int32          `json:"height"`
	}{tip.Hash, tip.Height}, nil
}
