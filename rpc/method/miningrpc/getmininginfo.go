package miningrpc

import (
	"context"
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

type miningInfo struct {
	Blocks          int32           `json:"blocks"`
	LastWeight      *int64          `json:"currentblockweight,omitempty"`
	LastTxs         *int            `json:"currentblocktx,omitempty"`
	Bits            string          `json:"bits"`
	Difficulty      float64         `json:"difficulty"`
	Target          string          `json:"target"`
	HashRate        float64         `json:"networkhashps"`
	PooledTxs       int             `json:"pooledtx"`
	MinTxFee        jsontree.Amount `json:"blockmintxfee"`
	Chain           string          `json:"chain"`
	Next            nextBlock       `json:"next"`
	SignetChallenge string          `json:"signet_challenge,omitempty"`
	Warnings        any             `json:"warnings"`
}

type nextBlock struct {
	Height     int32   `json:"height"`
	Bits       string  `json:"bits"`
	Difficulty float64 `json:"difficulty"`
	Target     string  `json:"target"`
}

func getMiningInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getmininginfo",
		Category: command.Mining,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns what a miner wants to know of the chain.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "blocks", Help: "height of the tip"},
			{Type: command.Number, Key: "currentblockweight", Optional: true, Help: "weight of the last block that " +
				"was put together here, with what was reserved for its header and its coinbase"},
			{
				Type: command.Number, Key: "currentblocktx", Optional: true,
				Help: "transactions of the last block that was put together here, without its coinbase",
			},
			{Type: command.Hex, Key: "bits", Help: "target of the tip in compact form"},
			{Type: command.Number, Key: "difficulty", Help: "difficulty of the tip"},
			{Type: command.Hex, Key: "target", Help: "target of the tip"},
			{Type: command.Number, Key: "networkhashps", Help: "hashes per second that the network computes"},
			{Type: command.Number, Key: "pooledtx", Help: "transactions in the mempool"},
			{
				Type: command.Amount, Key: "blockmintxfee",
				Help: "least fee of transactions in a block made here, for 1000 virtual bytes",
			},
			{Type: command.String, Key: "chain", Help: "name of the network"},
			{Type: command.Object, Key: "next", Help: "a block made now", Inner: []command.Result{
				{Type: command.Number, Key: "height", Help: "its height"},
				{Type: command.Hex, Key: "bits", Help: "its target in compact form"},
				{Type: command.Number, Key: "difficulty", Help: "its difficulty"},
				{Type: command.Hex, Key: "target", Help: "its target"},
			}},
			{Type: command.Hex, Key: "signet_challenge", Optional: true, Help: "script that signs blocks, on a signet"},
			arg.WarningsResult(d.LastWarning),
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			pool, err := ask.Ask(ctx, d.Pool, messages.GetPoolInfo{})
			if err != nil {
				return nil, err
			}
			warnings, err := arg.Warnings(ctx, d.Warnings, d.LastWarning)
			if err != nil {
				return nil, err
			}
			tip := active.Tip()
			bits, next := tip.Bits(), d.nextBits(tip)
			info := miningInfo{
				Blocks:     tip.Height,
				Bits:       txjson.Bits(bits),
				Difficulty: txjson.Difficulty(bits),
				Target:     txjson.Target(bits),
				HashRate:   d.hashRate(tip, hashBlocks, nil),
				PooledTxs:  pool.Size,
				MinTxFee:   d.Blocks.MinTxFee,
				Chain:      d.Network.Name,
				Next: nextBlock{
					tip.Height + 1, txjson.Bits(next), txjson.Difficulty(next), txjson.Target(next),
				},
				SignetChallenge: hex.EncodeToString(d.Network.SignetChallenge),
				Warnings:        warnings,
			}
			if last := pool.LastBlock; last != nil {
				info.LastWeight, info.LastTxs = &last.Weight, &last.Txs
			}
			return info, nil
		},
	}
}
