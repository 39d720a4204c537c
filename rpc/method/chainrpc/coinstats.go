package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// statsBlock returns the block that gettxoutsetinfo is asked about.
func (d *Deps) statsBlock(a *command.Args, hash messages.CoinHash, indexed bool) (*chainview.Block, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	if !a.Has(1) {
		return reader.Active().Tip(), nil
	}
	var message string
	switch {
	case d.CoinStats == nil:
		message = "Querying specific block heights requires coinstatsindex"
	case hash == messages.HashSerialized:
		message = "hash_serialized_3 hash type cannot be queried for a specific block"
	case !indexed:
		message = "Cannot set use_index to false when querying for a specific block"
	default:
		return hashOrHeight(reader, a.Value(1))
	}
	return nil, command.Error{Code: command.InvalidParameter, Message: message}
}

// waitStats waits for the index, if it was once in step with the chain, or refuses a
// block that it has not reached.
func (d *Deps) waitStats(ctx context.Context, block *chainview.Block) error {
	height, synced, err := d.CoinStats.Height(ctx)
	if err != nil || synced || block.Height <= height {
		return err
	}
	return command.Errorf(command.InternalError,
		"Unable to get data because coinstatsindex is still syncing. Current height: %d", height)
}

// indexedSetInfo is what gettxoutsetinfo returns from the index.
type indexedSetInfo struct {
	Height      int32           `json:"height"`
	BestBlock   chainhash.Hash  `json:"bestblock"`
	Outputs     uint64          `json:"txouts"`
	BogoSize    uint64          `json:"bogosize"`
	MuHash      *chainhash.Hash `json:"muhash,omitempty"`
	Total       jsontree.Amount `json:"total_amount"`
	Unspendable jsontree.Amount `json:"total_unspendable_amount"`
	Block       blockAmounts    `json:"block_info"`
}

// blockAmounts is what one block did.
type blockAmounts struct {
	Spent       jsontree.Amount    `json:"prevout_spent"`
	Coinbase    jsontree.Amount    `json:"coinbase"`
	Others      jsontree.Amount    `json:"new_outputs_ex_coinbase"`
	Unspendable jsontree.Amount    `json:"unspendable"`
	Kinds       unspendableAmounts `json:"unspendables"`
}

type unspendableAmounts struct {
	Genesis   jsontree.Amount `json:"genesis_block"`
	BIP30     jsontree.Amount `json:"bip30"`
	Scripts   jsontree.Amount `json:"scripts"`
	Unclaimed jsontree.Amount `json:"unclaimed_rewards"`
}

// indexedStats answers from the index.
func (d *Deps) indexedStats(block *chainview.Block, hash messages.CoinHash) (any, error) {
	unreadable := command.Error{Code: command.InternalError, Message: "Unable to read UTXO set"}
	totals, err := d.CoinStats.Totals(&block.Hash)
	if err != nil {
		return nil, unreadable
	}
	var before coinstats.Totals
	if block.Parent != nil {
		if before, err = d.CoinStats.Totals(&block.Parent.Hash); err != nil {
			return nil, unreadable
		}
	}
	info := indexedSetInfo{
		Height: block.Height, BestBlock: block.Hash, Outputs: totals.Outputs, BogoSize: totals.BogoSize,
		Total: jsontree.Amount(totals.Amount), Unspendable: jsontree.Amount(totals.Unspendable),
		Block: blockAmounts{
			Spent:       jsontree.Amount(totals.Spent - before.Spent),
			Coinbase:    jsontree.Amount(totals.Coinbase - before.Coinbase),
			Others:      jsontree.Amount(totals.Others - before.Others),
			Unspendable: jsontree.Amount(totals.Unspendable - before.Unspendable),
			Kinds: unspendableAmounts{
				Genesis:   jsontree.Amount(totals.Genesis - before.Genesis),
				BIP30:     jsontree.Amount(totals.BIP30 - before.BIP30),
				Scripts:   jsontree.Amount(totals.Scripts - before.Scripts),
				Unclaimed: jsontree.Amount(totals.Unclaimed - before.Unclaimed),
			},
		},
	}
	if hash == messages.MuHash {
		info.MuHash = &totals.MuHash
	}
	return info, nil
}
