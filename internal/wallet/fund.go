package wallet

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ChangeAddress returns the request for the address that change of a payment goes to. It
// is false where the payment says where to.
func (w *Wallet) ChangeAddress(r *messages.Spend) (messages.NewAddress, bool) {
	if r.ChangeScript != nil || r.All != nil {
		return messages.NewAddress{}, false
	}
	kind := r.ChangeType
	if kind == "" {
		scripts := make([][]byte, len(r.Payments))
		for i := range r.Payments {
			scripts[i] = r.Payments[i].Script
		}
		kind = w.keys.ChangeType(scripts)
	}
	return messages.NewAddress{Type: kind, HasType: true, Change: true}, true
}

// Fund returns a plan with what the wallet knows of the coins for a payment.
//
// Errors: [*messages.WalletError].
func (w *Wallet) Fund(r *messages.Spend) (*spend.Plan, error) {
	p := &spend.Plan{Request: r, Tip: w.txs.Tip()}
	if r.All != nil && r.All.Given {
		w.giveOwn(p)
		return p, nil
	}
	if err := w.keys.CheckChangeType(r.ChangeType); err != nil {
		return nil, err
	}
	if r.Refused != nil {
		return nil, r.Refused
	}
	for i := range r.Inputs {
		c, err := w.given(&r.Inputs[i])
		if err != nil {
			return nil, err
		}
		p.Given = append(p.Given, c)
	}
	if !r.OnlyInputs {
		for _, coin := range w.spending.Spendable(r) {
			p.Coins = append(p.Coins, w.sized(coin))
		}
	}
	to, own := w.ChangeAddress(r)
	if !own {
		p.Change.Script = r.ChangeScript
	} else if p.Change.Script, p.Change.Err = w.pool.NextChange(to.Type); p.Change.Err != nil {
		p.Change.Err = codes.Errorf(codes.Wallet, "Transaction needs a change address, but we can't generate it. %s",
			textOf(p.Change.Err))
	}
	p.Change.Size, p.Change.Known = w.inputSize(p.Change.Script)
	return p, nil
}

// giveOwn puts the inputs of a request into a plan that spends nothing else, as far as they
// are coins of the wallet.
func (w *Wallet) giveOwn(p *spend.Plan) {
	for i := range p.Request.Inputs {
		at := p.Request.Inputs[i].At
		coin, own := w.spending.Output(at)
		switch {
		case w.spending.Spent(at):
			p.GivenErr = codes.Errorf(codes.Parameter,
				"Input not available. UTXO (%v:%d) was already spent.", at.Hash, at.Index)
		case !own:
			p.GivenErr = codes.Errorf(codes.Parameter,
				"Input not found. UTXO (%v:%d) is not part of wallet.", at.Hash, at.Index)
		default:
			if err := spend.CheckVersion(coin, p.Request.Version); err != nil {
				p.GivenErr = err
			}
		}
		if p.GivenErr != nil {
			return
		}
		p.Given = append(p.Given, w.sized(coin))
	}
}

// textOf returns the text of a refusal without its code.
func textOf(err error) string {
	if e, ok := err.(*messages.WalletError); ok { //nolint:errorlint // made here
		return e.Text
	}
	return err.Error()
}

func (w *Wallet) sized(coin txs.Spendable) spend.Coin {
	size, known := w.inputSize(coin.Script)
	return spend.Coin{Spendable: coin, Size: size, Known: known}
}

// inputSize returns the size of an input that spends an own script. Signers for a
// wallet without private keys may make longer signatures than ours.
func (w *Wallet) inputSize(pkScript []byte) (descriptor.InputSize, bool) {
	return w.keys.InputSize(pkScript, w.flags.Has(walletfile.DisablePrivateKeys))
}

// given returns the coin that an input of a request spends.
func (w *Wallet) given(in *messages.SpendInput) (spend.Coin, error) {
	var c spend.Coin
	if own, ok := w.spending.Output(in.At); ok {
		c = w.sized(own)
		c.Given = true
	} else {
		if in.Out == nil {
			return c, codes.Errorf(codes.Wallet, "Unable to find UTXO for external input")
		}
		c.Spendable = txs.Spendable{At: in.At, Script: in.Out.PkScript, Amount: btcutil.Amount(in.Out.Value)}
	}
	if c.Weight = in.Weight; !c.Known && in.Known != nil {
		c.Size = descriptor.InputSize(*in.Known)
		c.Known = true
	}
	return c, nil
}

// Reserve notes that change goes to the address that a plan named, and reports whether
// all that the plan chose can be spent still.
func (w *Wallet) Reserve(p *spend.Plan, tx *wire.MsgTx, change int) bool {
	given := make(map[wire.OutPoint]bool, len(p.Request.Inputs))
	for i := range p.Request.Inputs {
		given[p.Request.Inputs[i].At] = true
	}
	for _, in := range tx.TxIn {
		if at := in.PreviousOutPoint; !given[at] && !w.spending.Unspent(at) {
			return false
		}
	}
	if to, own := w.ChangeAddress(p.Request); own && change >= 0 {
		return w.pool.TakeChange(to.Type, tx.TxOut[change].PkScript)
	}
	return true
}

// Lock locks coins or unlocks them.
//
// Errors: [*messages.WalletError].
func (w *Wallet) Lock(r *messages.LockCoins) error {
	locks := w.txs.Locks()
	if r.All {
		for _, at := range locks.List() {
			locks.Unlock(at)
		}
		return nil
	}
	for _, at := range r.Coins {
		if err := w.mayLock(r, at); err != nil {
			return err
		}
	}
	for _, at := range r.Coins {
		if r.Unlock {
			locks.Unlock(at)
		} else {
			locks.Lock(at, r.Persist)
		}
	}
	return nil
}

func (w *Wallet) mayLock(r *messages.LockCoins, at wire.OutPoint) error {
	locked := w.txs.Locks().Has(at)
	var problem string
	switch out := w.spending.AnyOutput(at); {
	case !w.spending.Knows(at.Hash):
		problem = "unknown transaction"
	case out == nil:
		problem = "vout index out of bounds"
	case w.spending.Spent(at):
		problem = "expected unspent output"
	case r.Unlock && !locked:
		problem = "expected locked output"
	case !r.Unlock && locked && !r.Persist:
		problem = "output already locked"
	default:
		return nil
	}
	return codes.Errorf(codes.Parameter, "Invalid parameter, %s", problem)
}

// MaySign reports an error for a wallet that has no private keys.
//
// Errors: [*messages.WalletError].
func (w *Wallet) MaySign() error {
	if w.flags.Has(walletfile.DisablePrivateKeys) {
		return codes.Errorf(codes.Wallet, "Error: Private keys are disabled for this wallet")
	}
	return nil
}
