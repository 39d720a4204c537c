package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// errNoPool answers a request about a memory pool where there is none.
var errNoPool = command.Error{
	Code: command.ClientMempoolDisabled, Message: "Mempool disabled or instance not found",
}

// coinsAt are outputs at a tip; nil stands for those that are spent or were never there.
type coinsAt struct {
	coins []*chainview.Coin
	tip   messages.Tip
}

// Unspent implements [command.OutputReader].
func (r raw) Unspent(ctx context.Context, q command.OutputQuery) (command.Unspent, error) {
	var at coinsAt
	var err error
	if q.Pool {
		at, err = r.poolCoins(ctx, q.Outputs)
	} else {
		at, err = r.coins(ctx, q.Outputs)
	}
	if err != nil {
		return command.Unspent{}, err
	}
	found := command.Unspent{
		Tip: at.tip.Hash, Height: at.tip.Height, Coins: make([]command.UnspentOutput, len(at.coins)),
	}
	for i, coin := range at.coins {
		if coin == nil {
			continue
		}
		found.Coins[i].Height = coin.Height
		if q.Text {
			found.Coins[i].Output = r.printer.AppendSpent(nil, coin)
		} else {
			found.Coins[i].Output = appendOutput(nil, coin)
		}
	}
	return found, nil
}

// coins looks outputs up in the chain: beside its actor where that is possible.
func (r raw) coins(ctx context.Context, outs []wire.OutPoint) (coinsAt, error) {
	if at, ok := r.read(outs); ok {
		return at, nil
	}
	got, err := ask.Ask(ctx, r.d.Actor, messages.GetCoins{Outs: outs})
	at := coinsAt{make([]*chainview.Coin, len(outs)), got.Tip}
	for i, out := range outs {
		if coin, ok := got.Coins[out]; ok {
			at.coins[i] = viewed(&coin)
		}
	}
	return at, err
}

// read looks outputs up in the chain without asking anybody, where that is possible.
func (r raw) read(outs []wire.OutPoint) (coinsAt, bool) {
	coins, tip, ok := r.d.Chain.Unspent(outs)
	if !ok {
		return coinsAt{}, false
	}
	return coinsAt{coins, messages.Tip{Hash: tip.Hash, Height: tip.Height}}, true
}

// viewed returns an output of an actor's answer in the form of an output that was read.
func viewed(coin *messages.Coin) *chainview.Coin {
	return &chainview.Coin{
		Height: coin.Height, Value: btcutil.Amount(coin.Output.Value), Script: coin.Output.PkScript,
	}
}

// poolCoins looks outputs up in the chain and in the memory pool.
func (r raw) poolCoins(ctx context.Context, outs []wire.OutPoint) (coinsAt, error) {
	if r.d.Pool.IsAbsent() {
		return coinsAt{}, errNoPool
	}
	pool, err := ask.Ask(ctx, r.d.Pool, messages.GetPoolOutputs{Outs: outs})
	if err != nil {
		return coinsAt{}, err
	}
	at, ok := r.read(outs)
	if !ok || at.tip.Hash != pool.Tip {
		return r.askPool(ctx, outs) // the chain is at work, or ahead of the pool
	}
	for i, seen := range pool.Outs {
		switch {
		case seen.Spent, seen.Here && seen.Output == nil:
			at.coins[i] = nil
		case seen.Here:
			at.coins[i] = viewed(&messages.Coin{Output: seen.Output, Height: messages.PoolHeight})
		}
	}
	return at, nil
}

// askPool has the memory pool look outputs up in the chain, too.
func (r raw) askPool(ctx context.Context, outs []wire.OutPoint) (coinsAt, error) {
	coins, err := ask.Ask(ctx, r.d.Pool, messages.GetPoolCoins{Outs: outs, View: messages.PoolUnspent})
	if err != nil {
		return coinsAt{}, err
	}
	active, err := r.d.active()
	if err != nil {
		return coinsAt{}, err
	}
	at := coinsAt{make([]*chainview.Coin, len(outs)), messages.Tip{Hash: active.Tip().Hash, Height: active.Height()}}
	for i, coin := range coins {
		if coin == nil {
			continue
		}
		at.coins[i] = viewed(coin)
		if coin.Tip != (messages.Tip{}) {
			at.tip = coin.Tip // the chain may have moved since
		}
	}
	return at, nil
}
