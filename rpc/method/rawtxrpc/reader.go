package rawtxrpc

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

// Reader returns what reads transactions of the active chain without calls.
func Reader(d Deps) command.TxReader { return reader{newMethods(d)} }

type reader struct{ m *methods }

// Tx implements [command.TxReader].
func (r reader) Tx(id *chainhash.Hash) ([]byte, error) {
	tx, _, err := r.find(id)
	if tx == nil || err != nil {
		return nil, err
	}
	raw := bytes.NewBuffer(make([]byte, 0, tx.SerializeSize()))
	err = tx.Serialize(raw)
	return raw.Bytes(), err
}

// TxText implements [command.TxReader].
func (r reader) TxText(id *chainhash.Hash) ([]byte, error) {
	tx, block, err := r.find(id)
	if tx == nil || err != nil {
		return nil, err
	}
	return jsontree.Append(nil, r.m.printer.Tx(tx, txjson.Options{Hex: true, BlockHash: &block.Hash}))
}

// find returns a transaction and its block, nil where getrawtransaction has to tell.
func (r reader) find(id *chainhash.Hash) (*wire.MsgTx, *chainview.Block, error) {
	if *id == r.m.Network.Params.GenesisBlock.Header.MerkleRoot {
		return nil, nil, nil
	}
	chain, block, at := r.m.connected(id)
	if block == nil {
		return nil, nil, nil
	}
	tx, _, err := findTx(chain, &block.Hash, id, at)
	return tx, block, err
}
