package spend

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// Again is what is known of a signed replacement when it is about to be taken in. While it was built and signed, the
// chain, the memory pool and the wallet may have changed.
type Again struct {
	Old     *Replaced
	Tx      *wire.MsgTx
	Coins   map[wire.OutPoint]*wire.TxOut    // what it spends, as far as it is still there
	Rivals  map[wire.OutPoint]chainhash.Hash // other transactions that spend this, but for those that are replaced
	Pool    messages.PoolClusters
	Options Options
	Scale   int  // how many units of weight a virtual byte has
	Final   bool // its lock time allows it in the next block
}

// Check refuses a replacement that would not take the place of the replaced transaction.
//
// Errors: [*messages.WalletError].
func (a *Again) Check() error {
	if err := a.checkInputs(); err != nil {
		return err
	}
	fee := int64(0)
	for _, in := range a.Tx.TxIn {
		fee += a.Coins[in.PreviousOutPoint].Value
	}
	for _, out := range a.Tx.TxOut {
		fee -= out.Value
	}
	return a.checkFee(fee)
}

// checkInputs refuses a replacement whose coins are not all available.
func (a *Again) checkInputs() error {
	spent := make(map[wire.OutPoint]bool)
	for _, in := range a.Tx.TxIn {
		if spent[in.PreviousOutPoint] {
			return codes.Errorf(codes.Wallet, "Replacement transaction contains duplicate inputs")
		}
		spent[in.PreviousOutPoint] = true
	}
	for _, in := range a.Tx.TxIn {
		at := in.PreviousOutPoint
		if a.Coins[at] == nil {
			return codes.Errorf(codes.Wallet, "Replacement input %v:%d is no longer available", at.Hash, at.Index)
		}
		if by, rival := a.Rivals[at]; rival {
			return codes.Errorf(codes.Wallet, "Replacement input %v:%d is already spent by wallet transaction %v",
				at.Hash, at.Index, by)
		}
	}
	for _, in := range a.Old.Tx.TxIn {
		if !spent[in.PreviousOutPoint] {
			return codes.Errorf(codes.Wallet, "Replacement transaction no longer spends every original input")
		}
	}
	return nil
}

// checkFee refuses a replacement that pays too little or too much, or that the memory pool would not take.
func (a *Again) checkFee(fee int64) error {
	p := Plan{Options: a.Options, Pool: a.Pool, Scale: a.Scale}
	size := p.virtualSize(a.Tx)
	refuse := func(text string) error { return codes.Errorf(codes.Wallet, "Replacement transaction %s", text) }
	switch {
	case fee <= a.Old.Fee:
		return refuse("fee is no longer higher than the original fee")
	case p.weight(a.Tx) > maxStandardWeight:
		return refuse("is too large")
	case fee < a.Old.Fee+FeeRate(a.Pool.IncrementalFee).Fee(size):
		return refuse("no longer pays the current incremental relay fee")
	case fee < FeeRate(a.Pool.MinFee).Fee(size):
		return refuse("fee rate is below the current mempool minimum")
	case fee < p.least().Fee(size), fee > a.Options.MaxFee:
		return refuse("fee no longer satisfies wallet fee policy")
	}
	p.Pool.Txs = without(a.Pool.Txs, a.Old.ID)
	if err := (&builder{Plan: &p}).checkChain(a.Tx, size); err != nil {
		return refuse("no longer satisfies mempool chain limits: " + err.Error())
	}
	if !a.Final {
		return refuse("is not final")
	}
	return nil
}
