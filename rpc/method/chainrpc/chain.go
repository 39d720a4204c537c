// Package chainrpc holds the RPC methods that read the block chain and its filter
// index, scan the filters, and steer validation by hand.
//
// Blocks are read through a [chainview.Reader], without the actor that owns the
// chain. That actor, the indexer and the scanner are asked only for facts or work
// that they alone have. Results and errors are those of Bitcoin Core 30.2
// (src/rpc/blockchain.cpp, node.cpp).
package chainrpc

import (
	"context"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods work on.
type Deps struct {
	Network *dialect.Network
	Chain   *chainview.Current
	Actor   *ask.Ref // owns the chain
	Coins   *ask.Ref // reads the set of unspent outputs
	Index   *Index   // nil when the node keeps no filter index

	CoinStats CoinStats // sums of the unspent outputs by block; nil when there are none

	Others []NamedIndex // beside Index, as getindexinfo shows them; absent where the node keeps none
	Txs    TxIndex      // finds the transactions of the chain; nil when the node keeps no index of them

	// Pruning says how the node deletes old blocks; nil when it keeps all.
	Pruning *Pruning

	// Attached says that another node owns the mempool: the code that passes calls on to that node
	// adds the activity there.
	Attached bool

	// Pool owns the mempool; it may be absent.
	Pool *ask.Ref

	// Expansions has the scripts of descriptors that were scanned for.
	Expansions *descriptor.Expansions

	// ScriptLimit bounds the scripts of scan objects with a gap; 0: 10 million, as for searches.
	ScriptLimit int

	// Spread starts a goroutine on a core that has nothing to do; nil stands for
	// the go statement.
	Spread func(work func())

	// Stale counts stale blocks, where the network has them counted.
	Stale *ask.Ref

	// Sync follows the chains of the peers; absent without any.
	Sync *ask.Ref

	// Warnings returns what the operator should know; nil: nothing ever.
	Warnings func(context.Context) ([]string, error)

	// LastWarning tells the latest warning alone, as text (-deprecatedrpc=warnings).
	LastWarning bool

	// Initial tells whether the node is on its first way to the network's tip.
	Initial *chainview.InitialDownload

	// Dir is the folder of the network's data, where relative paths begin.
	Dir string

	// Now returns the time, or the one set for a test of the node.
	Now func() time.Time
}

// CoinStats is the index of the sums of the unspent outputs.
type CoinStats interface {
	// Height returns how far the index is. synced reports whether it has once been
	// in step with the chain; then it is so now.
	Height(ctx context.Context) (height int32, synced bool, err error)

	// Totals returns the sums up to a block that is in the index.
	Totals(block *chainhash.Hash) (coinstats.Totals, error)
}

// TxIndex is the index of all transactions of the chain.
type TxIndex interface {
	// Find returns the block that a transaction came in last, and its place there, nowhere when it
	// is not known. The result synced reports whether the index has ever been in step with the
	// chain; if it has, it is in step now.
	Find(ctx context.Context, tx *chainhash.Hash) (block chainhash.Hash, at chainview.TxPlace, synced bool, err error)
}

// A NamedIndex is one of the node's indexes.
type NamedIndex struct {
	Name  string
	Actor *ask.Ref
}

// Index is the block filter index.
type Index struct {
	Filters Filters
	Indexer *ask.Ref // builds it
	Scanner *ask.Ref // matches its filters

	Discovery *ask.Ref // looks for accounts
}

// Commands returns the methods, for the command table.
func Commands(d Deps) []command.Command {
	commands := []command.Command{
		discoverAccounts(&d),
		dumpTxOutSet(&d),
		getAttachInfo(&d),
		getBestBlockHash(&d),
		getBlock(&d),
		getBlockchainInfo(&d),
		getBlockCount(&d),
		getBlockFilter(&d),
		getBlockFromPeer(&d),
		getBlockHash(&d),
		getBlockHeader(&d),
		getBlockStats(&d),
		getChainStates(&d),
		getChainTips(&d),
		getChainTxStats(&d),
		getDeploymentInfo(&d),
		getDescriptorActivity(&d),
		getDifficulty(&d),
		getIndexInfo(&d),
		getTxOut(&d),
		verifyBIP322(&d),
		getTxOutProof(&d),
		getTxOutSetInfo(&d),
		loadTxOutSet(&d),
		invalidateBlock(&d),
		pruneBlockchain(&d),
		reconsiderBlock(&d),
		preciousBlock(&d),
		scanBlocks(&d),
		scanTxOutSet(&d),
		syncWithValidationInterfaceQueue(&d),
		verifyChain(&d),
		verifyReceipt(&d),
		verifyTxOutProof(&d),
		waitForBlock(&d),
		waitForBlockHeight(&d),
		waitForNewBlock(&d),
	}
	if d.Network.CountsStale {
		commands = append(commands, getOrphanMetrics(&d))
	}
	return commands
}

// open returns the present reader of the chain, without the blocks in memory: clients hear of
// blocks that are lost on the disk. The server answers calls that come before there is one; so does
// this, should one slip through.
func (d *Deps) open() (chainview.Reader, error) {
	reader := d.Chain.Open()
	if reader == nil {
		return nil, command.Error{Code: command.InWarmup, Message: "Loading block index…"}
	}
	return chainview.Stored(reader), nil
}

// active returns the active chain.
func (d *Deps) active() (*chainview.Chain, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	return reader.Active(), nil
}

// errUnknownBlock answers a hash that no known block has.
var errUnknownBlock = command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}

// lookup returns the block of a hash, on whichever branch it is.
func lookup(reader chainview.Reader, hash *chainhash.Hash) (*chainview.Block, error) {
	if b := reader.Lookup(hash); b != nil {
		return b, nil
	}
	return nil, errUnknownBlock
}

// always is for methods whose calls are all alike. Methods that only look at the tip pass calls
// that wait; methods that wait for another tip take no worker.
func always(*command.Args) bool { return true }
