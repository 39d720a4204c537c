package search

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// A Kind is what an entry tells.
type Kind uint8

// The kinds of entries.
const (
	Receive    Kind = iota + 1 // an output pays to a script
	Spend                      // an input spends one
	Disconnect                 // the block has left the chain
	Hit                        // the block has some; of a search for blocks alone
	kinds
)

// Valid reports whether there is such a kind.
func (k Kind) Valid() bool { return k > 0 && k < kinds }

// An Entry is one thing that was found.
type Entry struct {
	Kind   Kind
	Height int32
	Block  chainhash.Hash
	Time   uint32 // of the block, in seconds since 1970

	// Of a payment or a spend.
	Amount int64
	TxID   chainhash.Hash
	N      uint32        // of the output or the input
	Prev   wire.OutPoint // that is spent
	Script uint32        // number
}

// A Finder tells the number of a script.
type Finder interface {
	Find(script []byte) (number int, ok bool)
}

// InTx calls found for each input that spends an output of one of the scripts, and then for
// each output that pays to a script. The outputs that the inputs spend are in spent; nil if
// they are not looked at.
func InTx(tx *wire.MsgTx, spent []chainview.Coin, scripts Finder, found func(Entry)) {
	var id *chainhash.Hash
	add := func(e Entry) {
		if id == nil {
			hash := tx.TxHash()
			id = &hash
		}
		e.TxID = *id
		found(e)
	}
	for n, in := range tx.TxIn[:min(len(spent), len(tx.TxIn))] {
		if script, ok := scripts.Find(spent[n].Script); ok {
			add(Entry{
				Kind: Spend, Amount: int64(spent[n].Value), N: uint32(n), Prev: in.PreviousOutPoint,
				Script: uint32(script),
			})
		}
	}
	for n, out := range tx.TxOut {
		if script, ok := scripts.Find(out.PkScript); ok {
			add(Entry{Kind: Receive, Amount: out.Value, N: uint32(n), Script: uint32(script)})
		}
	}
}

// InBlock returns what a block spends of the scripts and pays to them, in the order of its
// transactions. spent are the outputs that it spends, as [chainview.Reader.Spent] has them.
// Kind, Amount, TxID, N, Prev and Script are set.
func InBlock(block *wire.MsgBlock, spent [][]chainview.Coin, scripts Finder) (entries []Entry) {
	add := func(e Entry) { entries = append(entries, e) }
	for i, tx := range block.Transactions {
		var of []chainview.Coin
		if i > 0 && i <= len(spent) {
			of = spent[i-1]
		}
		InTx(tx, of, scripts, add)
	}
	return entries
}

// Indexed reports whether a filter of BIP158 has such an output script: a block that has none
// but others is not found.
func Indexed(script []byte) bool { return len(script) > 0 && script[0] != txscript.OP_RETURN }
