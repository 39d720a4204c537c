package spend

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// leastRaise is what a replacement adds to the fee rate at least where none is asked for,
// should nodes ask for more some day than this one does.
const leastRaise FeeRate = 5000

// A Replaced is a transaction that is to be replaced.
type Replaced struct {
	ID   chainhash.Hash
	Tx   *wire.MsgTx
	Fee  int64
	Outs []*wire.TxOut // what is paid instead, with its change
	Rate *int64        // that is asked for; nil: a higher one than before
}

// Raise sets the fee rate of a plan for what replaces a transaction, whose inputs are those
// that the request asks for.
//
// Errors: [*messages.WalletError].
func (p *Plan) Raise(old *Replaced) error {
	p.Pool.Txs = without(p.Pool.Txs, old.ID)
	if old.Rate != nil {
		if err := p.mayRaise(old, FeeRate(*old.Rate)); err != nil {
			return err
		}
		p.Request.FeeRate = old.Rate
		return nil
	}
	p.Request.FeeRate = nil
	least, _, err := p.rate()
	if err != nil {
		least = 0 // without an estimate the rate of before decides
	}
	rate := FeeRate(old.Fee*1000/int64(p.virtualSize(old.Tx))) + 1 + max(FeeRate(p.Pool.IncrementalFee), leastRaise)
	p.Request.FeeRate = new(int64(max(rate, least)))
	return nil
}

// without leaves a transaction out.
func without(txs []messages.ClusterTx, id chainhash.Hash) []messages.ClusterTx {
	return slices.DeleteFunc(slices.Clone(txs), func(t messages.ClusterTx) bool { return t.ID == id })
}

// virtualSize returns the virtual size of a transaction as it is.
func (p *Plan) virtualSize(tx *wire.MsgTx) int {
	return (p.weight(tx) + p.Scale - 1) / p.Scale
}

// weight returns the weight of a transaction as it is.
func (p *Plan) weight(tx *wire.MsgTx) int {
	return tx.SerializeSizeStripped()*(p.Scale-1) + tx.SerializeSize()
}

// mayRaise refuses a fee rate that is not high enough to replace a transaction.
func (p *Plan) mayRaise(old *Replaced, rate FeeRate) error {
	if least := FeeRate(p.Pool.MinFee); rate < least {
		return codes.Errorf(codes.Wallet,
			"New fee rate (%s) is lower than the minimum fee rate (%s) to get into the mempool -- ",
			money(int64(rate)), money(int64(least)))
	}
	b := &builder{Plan: p, coins: make(map[wire.OutPoint]*Coin)}
	tx := old.Tx.Copy()
	tx.TxOut = old.Outs
	points := make([]wire.OutPoint, 0, len(p.Given))
	for i := range p.Given {
		b.coins[p.Given[i].At] = &p.Given[i]
		points = append(points, p.Given[i].At)
	}
	size := 0
	if weight, ok := b.signedWeight(tx); ok {
		size = b.virtual(weight)
	}
	bump, ok := b.cluster().Together(points, rate)
	if !ok {
		return codes.Errorf(codes.Wallet, "Failed to calculate bump fees, because unconfirmed UTXOs depend on "+
			"an enormous cluster of unconfirmed transactions.")
	}
	total, more := rate.Fee(size)+bump, FeeRate(p.Pool.IncrementalFee).Fee(size)
	switch least, required := old.Fee+more, p.least().Fee(size); {
	case total < least:
		return codes.Errorf(codes.Parameter,
			"Insufficient total fee %s, must be at least %s (oldFee %s + incrementalFee %s)",
			money(total), money(least), money(old.Fee), money(more))
	case total < required:
		return codes.Errorf(codes.Parameter, "Insufficient total fee (cannot be less than required fee %s)",
			money(required))
	case total > p.Options.MaxFee:
		return codes.Errorf(codes.Wallet,
			"Specified or calculated fee %s is too high (cannot be higher than -maxtxfee %s)",
			money(total), money(p.Options.MaxFee))
	}
	return nil
}

// money prints an amount as Core's messages do.
func money(amount int64) string { return messages.FormatMoney(amount, 2) }

// MaxInputWeight returns the most that an input weighs that is signed anew as it is signed
// now: its signatures may become longer.
func MaxInputWeight(in *wire.TxIn, scale int) int {
	weight := in.SerializeSize()*scale + in.Witness.SerializeSize()
	pushes := txscript.MakeScriptTokenizer(0, in.SignatureScript)
	for pushes.Next() {
		weight += missing(pushes.Data()) * scale
	}
	for _, item := range in.Witness {
		weight += missing(item)
	}
	return weight
}

// missing returns by how much a signature is shorter than the usual 72 bytes, -1 for
// 73 bytes; 0 for any other item.
func missing(item []byte) int {
	const shortest, longest, usual, sequence, frame = 9, 73, 72, 0x30, 3
	if len(item) < shortest || len(item) > longest || item[0] != sequence || int(item[1]) != len(item)-frame {
		return 0
	}
	return usual - len(item)
}
