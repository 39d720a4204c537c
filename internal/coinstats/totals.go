package coinstats

import (
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// ErrTotals reports bytes that are no totals.
var ErrTotals = errors.New("malformed totals of a chain")

// Totals sums a chain up, from its first block to some block. Amounts are in the
// smallest unit. Sums that only grow may pass 64 bits: differences between blocks
// are right all the same.
//
// Source: Bitcoin Core 30.2, src/index/coinstatsindex.cpp.
type Totals struct {
	Outputs  uint64 // unspent
	BogoSize uint64
	Amount   uint64 // of the unspent outputs

	Subsidy     uint64
	Spent       uint64 // by all transactions
	Coinbase    uint64 // outputs of coinbases
	Others      uint64 // outputs of all other transactions
	Unspendable uint64 // all that follow

	Genesis   uint64 // the outputs of the first block
	BIP30     uint64 // coinbases that were replaced by one with the same id
	Scripts   uint64 // outputs that nobody can spend
	Unclaimed uint64 // what miners could have taken and did not

	MuHash chainhash.Hash // of the unspent outputs, in internal byte order
}

const (
	totalsFields = 12
	totalsSize   = totalsFields*8 + chainhash.HashSize
)

// fields returns the numbers in the order in which they are stored.
func (t *Totals) fields() [totalsFields]*uint64 {
	return [...]*uint64{
		&t.Outputs, &t.BogoSize, &t.Amount, &t.Subsidy, &t.Spent, &t.Coinbase, &t.Others,
		&t.Unspendable, &t.Genesis, &t.BIP30, &t.Scripts, &t.Unclaimed,
	}
}

// Encode serializes totals.
func (t *Totals) Encode() []byte {
	b := make([]byte, 0, totalsSize)
	for _, field := range t.fields() {
		b = binary.LittleEndian.AppendUint64(b, *field)
	}
	return append(b, t.MuHash[:]...)
}

// DecodeTotals is the inverse of [Totals.Encode].
func DecodeTotals(b []byte) (t Totals, err error) {
	if len(b) != totalsSize {
		return t, ErrTotals
	}
	for i, field := range t.fields() {
		*field = binary.LittleEndian.Uint64(b[i*8:])
	}
	t.MuHash = chainhash.Hash(b[totalsFields*8:])
	return t, nil
}

// A Block is what a block does to the totals of its chain.
type Block struct {
	Height   int32
	Subsidy  int64
	Txs      []*wire.MsgTx
	Spent    [][]Coin // by each transaction but the coinbase; Out is not looked at
	Replaced bool     // BIP30: its coinbase is replaced by a later one
}

// A Chain is the totals of a chain and the state needed to add further blocks.
type Chain struct {
	Totals

	set MuHash
}

// Encode serializes the chain, for [DecodeChain].
func (c *Chain) Encode() []byte { return append(c.Totals.Encode(), c.set.State()...) }

// DecodeChain is the inverse of [Chain.Encode].
func DecodeChain(b []byte) (*Chain, error) {
	if len(b) != totalsSize+StateSize {
		return nil, ErrTotals
	}
	totals, err := DecodeTotals(b[:totalsSize])
	if err != nil {
		return nil, err
	}
	set, ok := RestoreMuHash(b[totalsSize:])
	if !ok {
		return nil, ErrTotals
	}
	return &Chain{totals, set}, nil
}

// Connect adds the next block.
func (c *Chain) Connect(b *Block) {
	c.Subsidy += uint64(b.Subsidy)
	if b.Height == 0 {
		c.Unspendable += uint64(b.Subsidy)
		c.Genesis += uint64(b.Subsidy)
	} else {
		for i, tx := range b.Txs {
			c.addOutputs(b, i, tx)
		}
		b.eachSpent(func(coin *Coin) {
			c.set.Remove(AppendCoin(nil, coin))
			c.Spent += uint64(coin.Amount)
			c.count(coin, ^uint64(0)) // less one
		})
	}
	unclaimed := c.Spent + c.Subsidy - (c.Others + c.Coinbase + c.Unspendable)
	c.Unspendable += unclaimed
	c.Unclaimed += unclaimed
	c.MuHash = c.set.Sum()
}

// addOutputs adds the outputs of a transaction.
func (c *Chain) addOutputs(b *Block, index int, tx *wire.MsgTx) {
	if index == 0 && b.Replaced {
		c.Unspendable += uint64(b.Subsidy)
		c.BIP30 += uint64(b.Subsidy)
		return
	}
	hash := tx.TxHash()
	for n, out := range tx.TxOut {
		value := uint64(out.Value)
		if unspendable(out.PkScript) {
			c.Unspendable += value
			c.Scripts += value
			continue
		}
		coin := b.coin(hash, index, n, out)
		c.set.Insert(AppendCoin(nil, coin))
		if index == 0 {
			c.Coinbase += value
		} else {
			c.Others += value
		}
		c.count(coin, 1)
	}
}

// Disconnect takes the last block back; before are the totals before it.
func (c *Chain) Disconnect(b *Block, before *Totals) {
	if b.Height > 0 {
		for i, tx := range b.Txs {
			if i == 0 && b.Replaced {
				continue
			}
			hash := tx.TxHash()
			for n, out := range tx.TxOut {
				if !unspendable(out.PkScript) {
					c.set.Remove(AppendCoin(nil, b.coin(hash, i, n, out)))
				}
			}
		}
		b.eachSpent(func(coin *Coin) { c.set.Insert(AppendCoin(nil, coin)) })
	}
	c.Totals = *before
}

// count counts an output n times: once, or once less.
func (c *Chain) count(coin *Coin, n uint64) {
	c.Outputs += n
	c.BogoSize += n * uint64(nominal+len(coin.Script))
	c.Amount += n * uint64(coin.Amount)
}

// coin returns an output of the block.
func (b *Block) coin(tx chainhash.Hash, index, n int, out *wire.TxOut) *Coin {
	return &Coin{
		Out: wire.OutPoint{Hash: tx, Index: uint32(n)}, Height: b.Height, Coinbase: index == 0,
		Amount: out.Value, Script: out.PkScript,
	}
}

// eachSpent visits what the block spends.
func (b *Block) eachSpent(visit func(*Coin)) {
	for i, coins := range b.Spent {
		for j := range coins {
			coin := coins[j]
			coin.Out = b.Txs[i+1].TxIn[j].PreviousOutPoint
			visit(&coin)
		}
	}
}

// unspendable reports an output that is not in the set: Core's IsUnspendable.
func unspendable(script []byte) bool {
	return len(script) > txscript.MaxScriptSize || len(script) > 0 && script[0] == txscript.OP_RETURN
}
