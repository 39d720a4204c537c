package txs

import (
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

var testNet = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

const testMaturity = 2

// owned is an [Owner] of scripts that a test names, and their [Descriptors].
type owned struct {
	scripts [][]byte
	used    []string
	birth   int64
}

func (o *owned) IsMine(pkScript []byte) bool {
	for _, s := range o.scripts {
		if string(s) == string(pkScript) {
			return true
		}
	}
	return false
}

func (o *owned) Scripts() [][]byte    { return o.scripts }
func (o *owned) Used(pkScript []byte) { o.used = append(o.used, string(pkScript)) }
func (o *owned) Birth() int64         { return o.birth }

func (o *owned) Solve([]byte) *descriptor.Solution { return nil }
func (o *owned) Parents([]byte) []string           { return []string{} }

func (o *owned) OutputType(pkScript []byte) walletfile.OutputType {
	return walletfile.OutputType(pkScript[2] % 3)
}

// rig is a ledger with an owner of some scripts.
type rig struct {
	*Ledger

	log     *records.Log
	owner   *owned
	book    *book.Book
	reports *Reports

	spending *Spending
}

func newRig(flags walletfile.Flags, scripts ...[]byte) *rig {
	r := &rig{log: new(records.Log), owner: &owned{scripts: scripts}}
	r.book = book.New(testNet, r.log)
	r.Ledger = NewLedger(Config{
		Network: testNet, Maturity: testMaturity, Log: r.log, Flags: records.NewFlags(flags, r.log),
		Owner: r.owner, Book: r.book,
	})
	r.reports = NewReports(r.Ledger, r.book, r.owner)
	r.spending = NewSpending(r.Ledger, r.reports)
	return r
}

// scriptOf makes an output script with an address.
func scriptOf(n byte) []byte {
	pkScript := append([]byte{0, 20}, make([]byte, 20)...)
	pkScript[2] = n
	return pkScript
}

// txOf makes a transaction that spends some outputs.
func txOf(number uint32, spent []wire.OutPoint, outs ...*wire.TxOut) *wire.MsgTx {
	t := wire.NewMsgTx(2)
	t.LockTime = number
	for _, at := range spent {
		t.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum})
	}
	t.TxOut = outs
	return t
}

func coinbaseOf(number uint32, outs ...*wire.TxOut) *wire.MsgTx {
	return txOf(number, []wire.OutPoint{{Index: wire.MaxPrevOutIndex}}, outs...)
}

// foreign is an output of nobody.
func foreign(n byte) wire.OutPoint { return wire.OutPoint{Hash: chainhash.Hash{n, 1}} }

func outOf(t *wire.MsgTx, index uint32) wire.OutPoint {
	return wire.OutPoint{Hash: t.TxHash(), Index: index}
}

// blockOf makes a block, whose time is its height times 600 seconds.
func blockOf(height int32, transactions ...*wire.MsgTx) *Block {
	at := int64(height) * 600
	b := &Block{BlockRef: BlockRef{Height: height, Time: at, MaxTime: at}, Txs: transactions}
	b.Hash = chainhash.Hash{byte(height), byte(height >> 8), 9}
	if len(transactions) > 0 {
		id := transactions[0].TxHash()
		copy(b.Hash[4:], id[:20])
	}
	return b
}

func (r *rig) balances(minConf int32) messages.Balances {
	return r.reports.Balances(messages.GetBalances{MinConf: minConf})
}
