package p2mr

import (
	"fmt"

	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/store/blockfile"
)

// The unspent outputs lie where btcd keeps those of Bitcoin's chains, and in its
// form, so that package chaindb can visit them.
var (
	coinsBucket = []byte("utxosetv2")
	tipKey      = []byte("utxostateconsistency") // names the tip
)

// maxSpendableScript is the length above which a script cannot be spent.
const maxSpendableScript = 10_000

func coinKey(out *wire.OutPoint) []byte {
	return blockfile.AppendOutputIndex(append(make([]byte, 0, len(out.Hash)+4), out.Hash[:]...), out.Index)
}

// A view is the unspent outputs as they are after some changes.
type view struct {
	below   func(*wire.OutPoint) (*blockfile.Coin, error) // what was there before; nil: no such coin
	changed map[wire.OutPoint]*blockfile.Coin             // nil: spent
}

func newView(below func(*wire.OutPoint) (*blockfile.Coin, error)) *view {
	return &view{below: below, changed: map[wire.OutPoint]*blockfile.Coin{}}
}

// get returns an unspent output, nil where there is none.
func (v *view) get(out *wire.OutPoint) (*blockfile.Coin, error) {
	if coin, ok := v.changed[*out]; ok {
		return coin, nil
	}
	return v.below(out)
}

func (v *view) spend(out *wire.OutPoint) { v.changed[*out] = nil }

func (v *view) restore(out *wire.OutPoint, coin blockfile.Coin) { v.changed[*out] = &coin }

// create adds the outputs of a transaction that can be spent.
func (v *view) create(tx *wire.MsgTx, of wire.OutPoint, height int32, coinbase bool) {
	for i, out := range tx.TxOut {
		if unspendable(out.PkScript) {
			continue
		}
		of.Index = uint32(i)
		v.changed[of] = &blockfile.Coin{Height: height, Coinbase: coinbase, Amount: out.Value, Script: out.PkScript}
	}
}

func unspendable(script []byte) bool {
	return len(script) > 0 && script[0] == txscript.OP_RETURN || len(script) > maxSpendableScript
}

// storedCoin reads an unspent output of the active chain, nil where there is none.
func (e *Engine) storedCoin(out *wire.OutPoint) (coin *blockfile.Coin, err error) {
	err = e.db.BTCD().View(func(tx database.Tx) (err error) {
		coin, err = coinsIn(tx)(out)
		return err
	})
	return coin, err
}

// coinsIn returns the reader of the unspent outputs as a transaction of the database
// sees them.
func coinsIn(tx database.Tx) func(*wire.OutPoint) (*blockfile.Coin, error) {
	bucket := tx.Metadata().Bucket(coinsBucket)
	return func(out *wire.OutPoint) (*blockfile.Coin, error) {
		row := bucket.Get(coinKey(out))
		if row == nil {
			return nil, nil
		}
		entry, err := blockfile.ParseUnspent(row)
		if err != nil {
			return nil, fmt.Errorf("unspent output %v: %w", out, err)
		}
		script, err := blockfile.UnpackScript(nil, entry.Packed)
		if err != nil {
			return nil, fmt.Errorf("unspent output %v: %w", out, err)
		}
		return &blockfile.Coin{Height: entry.Height, Coinbase: entry.Coinbase, Amount: entry.Amount, Script: script}, nil
	}
}

// putCoins writes the changes of a view.
func putCoins(tx database.Tx, changed map[wire.OutPoint]*blockfile.Coin) error {
	bucket := tx.Metadata().Bucket(coinsBucket)
	for out, coin := range changed {
		var err error
		if coin == nil {
			err = bucket.Delete(coinKey(&out))
		} else {
			err = bucket.Put(coinKey(&out), blockfile.AppendUnspent(nil, *coin))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
