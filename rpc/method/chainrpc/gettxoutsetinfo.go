package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getTxOutSetInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "gettxoutsetinfo",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how many unspent outputs there are, what they are worth, and a hash of them.\n" +
			"All of them are read, which takes a while.",
		Params: []command.Param{
			{Name: "hash_type", Type: command.String, Default: `"hash_serialized_3"`, Help: "\"hash_serialized_3\", \"muhash\" or \"none\""},
			{
				Name: "hash_or_height", Type: command.Number, Default: "the tip", AnyType: true,
				Help: "another block than the tip, by hash or height (needs an index that this node does not keep)",
			},
			{Name: "use_index", Type: command.Bool, Default: "true", Help: "use that index where there is one"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "height", Help: "height of the block as of which this is told"},
			{Type: command.Hex, Key: "bestblock", Help: "hash of that block"},
			{Type: command.Number, Key: "txouts", Help: "number of unspent outputs"},
			{Type: command.Number, Key: "bogosize", Help: "a size of the set that no database has"},
			{
				Type: command.Hex, Key: "hash_serialized_3", Optional: true,
				Help: "hash of the set in order, if asked for",
			},
			{Type: command.Hex, Key: "muhash", Optional: true, Help: "hash of the set without order, if asked for"},
			{Type: command.Amount, Key: "total_amount", Help: "sum of the values"},
			{
				Type: command.Number, Key: "transactions", Optional: true,
				Help: "number of transactions with unspent outputs; not from the index",
			},
			{
				Type: command.Number, Key: "disk_size", Optional: true,
				Help: "bytes that the set takes on disk, estimated; not from the index",
			},
			{
				Type: command.Amount, Key: "total_unspendable_amount", Optional: true,
				Help: "sum of what can never be spent and is not in the set; from the index",
			},
			blockInfoResult,
		}}},
		Examples: []string{`[]`, `["muhash"]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.txOutSetInfo(ctx, a) },
	}
}

// blockInfoResult is what one block did to the set.
var blockInfoResult = command.Result{
	Type: command.Object, Key: "block_info", Optional: true, Help: "what the block did; from the index",
	Inner: []command.Result{
		{Type: command.Amount, Key: "prevout_spent", Help: "sum of what it spends"},
		{Type: command.Amount, Key: "coinbase", Help: "sum of what its coinbase pays"},
		{Type: command.Amount, Key: "new_outputs_ex_coinbase", Help: "sum of what its other transactions pay"},
		{Type: command.Amount, Key: "unspendable", Help: "sum of what it makes unspendable"},
		{Type: command.Object, Key: "unspendables", Help: "the same by kind", Inner: []command.Result{
			{Type: command.Amount, Key: "genesis_block", Help: "of the genesis block"},
			{Type: command.Amount, Key: "bip30", Help: "of coinbases that were written over"},
			{Type: command.Amount, Key: "scripts", Help: "of scripts that nobody can satisfy"},
			{Type: command.Amount, Key: "unclaimed_rewards", Help: "what its miner did not take"},
		}},
	},
}

// coinHashes are the values of hash_type.
var coinHashes = map[string]messages.CoinHash{
	"none": messages.NoHash, "muhash": messages.MuHash, "hash_serialized_3": messages.HashSerialized,
}

// txOutSetInfo is what gettxoutsetinfo returns.
type txOutSetInfo struct {
	Height     int32           `json:"height"`
	BestBlock  chainhash.Hash  `json:"bestblock"`
	Outputs    int64           `json:"txouts"`
	BogoSize   int64           `json:"bogosize"`
	Serialized *chainhash.Hash `json:"hash_serialized_3,omitempty"`
	MuHash     *chainhash.Hash `json:"muhash,omitempty"`
	Total      jsontree.Amount `json:"total_amount"`
	Txs        int64           `json:"transactions"`
	DiskSize   int64           `json:"disk_size"`
}

func (d *Deps) txOutSetInfo(ctx context.Context, a *command.Args) (any, error) {
	name, err := a.StringOr(0, "hash_serialized_3")
	if err != nil {
		return nil, err
	}
	hash, ok := coinHashes[name]
	if !ok {
		return nil, command.Errorf(command.InvalidParameter, "'%s' is not a valid hash_type", name)
	}
	indexed, err := a.BoolOr(2, true)
	if err != nil {
		return nil, err
	}
	block, err := d.statsBlock(a, hash, indexed)
	if err != nil {
		return nil, err
	}
	if indexed && d.CoinStats != nil {
		if err := d.waitStats(ctx, block); err != nil {
			return nil, err
		}
		if hash != messages.HashSerialized {
			return d.indexedStats(block, hash)
		}
	}
	sums, err := ask.Ask(ctx, d.Coins, messages.SumCoins{Hash: hash})
	if err != nil {
		return nil, command.Error{Code: command.InternalError, Message: "Unable to read UTXO set"}
	}
	info := txOutSetInfo{
		Height: sums.Tip.Height, BestBlock: sums.Tip.Hash, Outputs: sums.Outputs, BogoSize: sums.BogoSize,
		Total: jsontree.Amount(sums.Amount), Txs: sums.Txs, DiskSize: sums.DiskSize,
	}
	digest := chainhash.Hash(sums.Hash)
	switch hash {
	case messages.HashSerialized:
		info.Serialized = &digest
	case messages.MuHash:
		info.MuHash = &digest
	case messages.NoHash:
	}
	return info, nil
}
