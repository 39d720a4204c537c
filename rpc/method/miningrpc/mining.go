// Package miningrpc holds the JSON-RPC methods that make blocks, take them in, and
// tell of the difficulty; and setmocktime, which tests of mining need.
//
// Blocks are made and validated by the actor that owns the chain; what the
// methods tell of the chain they read themselves. Results and errors are those
// of Bitcoin Core 30.2 (src/rpc/mining.cpp).
package miningrpc

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods work on.
type Deps struct {
	Network *dialect.Network
	Chain   *chainview.Current
	Actor   *ask.Ref // owns the chain
	Pool    *ask.Ref // owns the pool of unconfirmed transactions
	Peers   *ask.Ref // owns the connections; nil without
	Relay   *ask.Ref // passes transactions on; absent: nothing does
	Wallets *ask.Ref // the registry of wallets; absent: there are none
	Stale   *ask.Ref // counts stale blocks; absent where the network has them not counted

	// Initial tells whether the node is on its first way to the network's tip.
	Initial *chainview.InitialDownload

	// Now returns the time, or the one set for a test of the node.
	Now func() time.Time

	// ClockHeeded waits until all have done what is due by a clock that was set; nil:
	// nobody has to.
	ClockHeeded func(context.Context)

	// Blocks says how blocks are put together.
	Blocks Blocks

	Log *slog.Logger

	// Warnings returns what the operator should know; nil: nothing ever.
	Warnings func(context.Context) ([]string, error)

	// LastWarning tells the latest warning alone, as text (-deprecatedrpc=warnings).
	LastWarning bool
}

// Blocks says how blocks are put together.
type Blocks struct {
	MaxWeight int64           // default: what the rules allow
	Reserved  int64           // weight that is kept free for header and coinbase; default 8000
	MinTxFee  jsontree.Amount // least fee of transactions, for 1000 virtual bytes
	Log       bool            // the fee rate of each transaction goes to the log
}

// selection asks the pool for the transactions of the best block.
func (d *Deps) selection() messages.SelectTxs {
	return messages.SelectTxs{
		MaxWeight: d.Blocks.MaxWeight, Reserved: d.Blocks.Reserved, MinRate: int64(d.Blocks.MinTxFee),
		Log: d.Blocks.Log,
	}
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	all := []command.Command{
		generate(),
		generateBlock(&d),
		generateToAddress(&d),
		generateToDescriptor(&d),
		getBlockTemplate(&d),
		getMiningInfo(&d),
		getNetworkHashPS(&d),
		mockScheduler(&d),
		setMockTime(&d),
		submitBlock(&d),
		submitHeader(&d),
	}
	if d.Network.MergedMining != nil {
		all = append(all, createAuxBlock(&d), submitAuxBlock(&d), getConfirmationTarget(&d))
	}
	return all
}

// active returns the active chain. The error is chainview.ErrNotReady.
func (d *Deps) active() (*chainview.Chain, error) {
	reader := d.Chain.Open()
	if reader == nil {
		return nil, chainview.ErrNotReady
	}
	return reader.Active(), nil
}
