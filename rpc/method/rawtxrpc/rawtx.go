// Package rawtxrpc holds the JSON-RPC methods that make, read, sign and combine
// transactions which are in no wallet, and createmultisig.
//
// Transactions are built by the actor that owns what the node allows; the rest
// is computed here, by package internal/rawtx. Results and errors are those of
// Bitcoin Core 30.2 (src/rpc/rawtransaction.cpp, rawtransaction_util.cpp,
// output_script.cpp).
package rawtxrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods work on.
type Deps struct {
	Network *dialect.Network
	Chain   *chainview.Current
	Builder *ask.Ref // builds transactions
	Pool    *ask.Ref // owns the pool of unconfirmed transactions

	// Txs finds the transactions of the chain; nil when the node keeps no transaction index.
	Txs TxIndex

	// BytesPerSigOp is how many virtual bytes a signature operation counts for.
	BytesPerSigOp int64

	// Currency is what error messages call the network's coin: "Bitcoin".
	Currency string

	// Unspent returns an output of the active chain that is not spent there, or
	// one of the pool, nil when there is none. Nil: no output can be looked up, and callers have to bring
	// those they spend.
	Unspent func(ctx context.Context, at *wire.OutPoint) (*wire.TxOut, error)
}

// TxIndex is the index of all transactions of the chain.
type TxIndex interface {
	// Present returns the block that a transaction came in last, as far as the index has
	// come, and its place there. It waits for nothing; false means nothing.
	Present(tx *chainhash.Hash) (block chainhash.Hash, at chainview.TxPlace, ok bool)

	// Find returns the block that a transaction came in last, and its place there, nowhere when it is not
	// known. The result synced reports whether the index has ever been in step with the chain; if it has,
	// it is in step now.
	Find(ctx context.Context, tx *chainhash.Hash) (block chainhash.Hash, at chainview.TxPlace, synced bool, err error)
}

// methods is Deps with values that are made from Deps once.
type methods struct {
	Deps

	net     *descriptor.Network
	printer *txjson.Printer
}

func newMethods(d Deps) *methods {
	net := d.Network.Descriptors()
	return &methods{d, net, &txjson.Printer{Net: net, WitnessScale: int(d.Network.Rules.WitnessScale)}}
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	m := newMethods(d)
	commands := []command.Command{
		m.analyzePSBT(),
		m.combinePSBT(),
		m.combineRawTransaction(),
		m.convertToPSBT(),
		m.createMultisig(),
		m.createPSBT(),
		m.createRawTransaction(),
		m.decodePSBT(),
		m.decodeRawTransaction(),
		m.decodeScript(),
		m.descriptorProcessPSBT(),
		m.finalizePSBT(),
		m.getRawTransaction(),
		m.joinPSBTs(),
		m.signRawTransactionWithKey(),
		m.utxoUpdatePSBT(),
	}
	if d.Network.Template != nil {
		commands = append(commands, m.getDefaultCTVHash())
	}
	return commands
}

// unspent looks up every output that a transaction spends. Outputs that are unknown or spent are left
// out.
func (m *methods) unspent(ctx context.Context, tx *wire.MsgTx) (map[wire.OutPoint]*wire.TxOut, error) {
	coins := make(map[wire.OutPoint]*wire.TxOut, len(tx.TxIn))
	if m.Unspent == nil {
		return coins, nil
	}
	for _, in := range tx.TxIn {
		out, err := m.Unspent(ctx, &in.PreviousOutPoint)
		if err != nil {
			return nil, err
		}
		if out != nil {
			coins[in.PreviousOutPoint] = out
		}
	}
	return coins, nil
}
