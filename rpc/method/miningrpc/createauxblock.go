package miningrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// auxBlock is a block for merged mining.
type auxBlock struct {
	Hash    chainhash.Hash `json:"hash"`
	ChainID uint16         `json:"chainid"`
	Parent  chainhash.Hash `json:"previousblockhash"`
	Value   int64          `json:"coinbasevalue"`
	Bits    string         `json:"bits"`
	Height  int32          `json:"height"`
	scheduledRules
	Order     string `json:"commitmentorder"`
	OrderFrom int32  `json:"commitmentactivationheight"`
	Target    string `json:"target"`
}

func createAuxBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "createauxblock",
		Category: command.Mining,
		About:    command.State,
		Summary: "Makes a block that is mined together with those of another chain, whose coins go to an address.\n" +
			"It is kept for submitauxblock while its parent is the tip: for -auxpowtemplateexpiry, and while " +
			"there are no more than -auxpowtemplatecachelimit.",
		Params: []command.Param{
			{Name: "payout_address", Type: command.String, Help: "the address, of a P2MR output"},
		},
		Results: []command.Result{{Type: command.Object, Inner: append([]command.Result{
			{Type: command.Hex, Key: "hash", Help: "hash of the block, which a block of the other chain commits to"},
			{Type: command.Number, Key: "chainid", Help: "number of this chain among those that are mined together"},
			{Type: command.Hex, Key: "previousblockhash", Help: "hash of the tip"},
			{Type: command.Number, Key: "coinbasevalue", Help: "what the coinbase pays, fees included, in satoshis"},
			{Type: command.Hex, Key: "bits", Help: "target in compact form"},
			{Type: command.Number, Key: "height", Help: "height of the block"},
		}, append(scheduledResults(false),
			command.Result{
				Type: command.String, Key: "commitmentorder",
				Help: "how the commitment writes the hash: \"display\", as it is shown, or \"internal\", " +
					"as it is hashed",
			},
			command.Result{
				Type: command.Number, Key: "commitmentactivationheight",
				Help: "first block named as hashes are shown",
			},
			command.Result{
				Type: command.Hex, Key: "target",
				Help: "number that the hash of the other chain's block must not exceed",
			},
		)...)}},
		Examples: []string{`["myaddress"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			address, err := a.String(0)
			if err != nil {
				return nil, err
			}
			return d.createAuxBlock(ctx, address)
		},
	}
}

func (d *Deps) createAuxBlock(ctx context.Context, address string) (any, error) {
	script, err := d.addressScript(address, "Error: Invalid address")
	if err != nil {
		return nil, err
	}
	if err := d.mayMine(ctx); err != nil {
		return nil, err
	}
	if err := d.mayEarn(script, true); err != nil {
		return nil, err
	}
	for {
		best, err := ask.Ask(ctx, d.Pool, d.selection())
		if err != nil {
			return nil, err
		}
		order := messages.CreateAuxBlock{
			Script: script, Fees: best.Fees, On: best.Tip.Hash, Txs: allSerialized(best.Txs),
		}
		made, err := ask.Ask(ctx, d.Actor, order)
		reject, rejected := errors.AsType[*messages.RejectError](err)
		switch {
		case errors.Is(err, messages.ErrTipMoved):
			continue
		case errors.Is(err, messages.ErrNotMergeMined):
			return nil, command.Errorf(command.MiscError,
				"createauxblock is not available because cadence is inactive at height %d", best.Tip.Height+1)
		case rejected:
			return nil, invalidTemplate(reject)
		case err != nil:
			return nil, err
		}
		return d.auxReply(&made), nil
	}
}

func (d *Deps) auxReply(made *messages.AuxBlock) *auxBlock {
	merged := d.Network.MergedMining
	b := &auxBlock{
		Hash: made.Hash, ChainID: merged.ChainID, Parent: made.Parent, Value: made.Value, Bits: txjson.Bits(made.Bits),
		Height: made.Height, scheduledRules: scheduledFor(d.Network.Scheduled, made.Height), Order: "internal",
		OrderFrom: merged.DisplayOrder, Target: txjson.Target(made.Bits),
	}
	if made.Height >= merged.DisplayOrder {
		b.Order = "display"
	}
	return b
}
