package wallet

import (
	"errors"
	"maps"
	"math/rand/v2"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// The names of the texts that tell a repeated request.
const (
	noteKey       = "idempotency_key"
	noteArguments = "idempotency_arguments"
	noteReason    = "idempotency_fee_reason"
)

// Payments are what a wallet does to pay.
type Payments struct{ w *Wallet }

// Payments returns what pays.
func (w *Wallet) Payments() Payments { return Payments{w} }

// Repeated answers a request whose key a served request had. pending are the payment and what it depends on, as far
// as no block has them. A payment that was
// abandoned or double-spent is refused: it is not paid, and only the caller knows whether it is to be paid once more.
//
// Errors: [*messages.WalletError].
func (p Payments) Repeated(
	key *messages.IdempotencyKey,
) (got messages.Spent, pending []*wire.MsgTx, repeated bool, err error) {
	id, values, found := p.w.spending.Find(noteKey, key.Key)
	if !found {
		return got, nil, false, nil
	}
	if values[noteArguments] != key.Arguments {
		return got, nil, true, codes.Errorf(codes.Parameter, "idempotency_key was used with other arguments")
	}
	id, fate := p.w.spending.Fate(id)
	if fate != txs.Stands {
		return got, nil, true, notPaid(id, fate)
	}
	got = messages.Spent{TxID: id, Change: -1, Reason: values[noteReason], Complete: true, Sent: true}
	return got, p.w.spending.Pending(id), true, nil
}

// notPaid says that the payment of an idempotency key does not stand.
func notPaid(id chainhash.Hash, fate txs.Fate) error {
	why := "cannot be confirmed: another transaction spends its inputs"
	if fate == txs.Abandoned {
		why = "was abandoned"
	}
	return codes.Errorf(codes.Wallet, "The payment with this idempotency_key, transaction %v, %s. "+
		"Use another idempotency_key to pay again", id, why)
}

// MayPay refuses a request that needs keys which cannot be used. They may be on a device.
//
// Errors: [*messages.WalletError].
func (p Payments) MayPay(r *messages.Spend, device bool) error {
	if r.Sign == messages.SignAll {
		if p.w.vault.Locked() {
			return codes.ErrLocked
		}
		if err := p.w.MaySign(); err != nil && !device {
			return err
		}
	}
	if r.Sign == messages.SignNothing {
		return nil
	}
	return p.w.vault.CheckSigning() // before an address for change is taken
}

// PaymentParams are what a payment depends on beside the wallet and its network.
type PaymentParams struct {
	Pool    messages.PoolClusters
	Options spend.Options
	Random  *rand.Rand
	Current bool // the tip is of the last hours
}

// Plan returns a plan as [Wallet.Fund] does, with all that building the transaction needs.
//
// Errors: [*messages.WalletError].
func (p Payments) Plan(r *messages.Spend, network *dialect.Network, with PaymentParams) (*spend.Plan, error) {
	plan, err := p.w.Fund(r)
	if err != nil {
		return nil, err
	}
	plan.Pool, plan.Options, plan.Random, plan.Current = with.Pool, with.Options, with.Random, with.Current
	plan.Scale, plan.Atom, plan.Answers = int(network.Rules.WitnessScale), network.Software.Atom, network.Answers
	rules := network.PoolRules()
	plan.Dust = func(out *wire.TxOut, rate spend.FeeRate) int64 {
		return txpool.DustLimit(rules, txpool.PerKvB(int64(rate)), out)
	}
	forms := network.Standard
	plan.Native, plan.NativeInput = forms.Native, forms.NativeInput
	plan.TRUCSize, plan.TRUCChildSize = int(forms.TRUCSize), int(forms.TRUCChildSize)
	return plan, nil
}

// StillUnspent reports whether the coins that were chosen for a request have not been spent while the
// transaction was signed.
func (p Payments) StillUnspent(r *messages.Spend, tx *wire.MsgTx) bool {
	given := make(map[wire.OutPoint]bool)
	for i := range r.Inputs {
		given[r.Inputs[i].At] = true
	}
	for _, in := range tx.TxIn {
		if at := in.PreviousOutPoint; !given[at] && p.w.spending.Spent(at) {
			return false
		}
	}
	return true
}

// Pay takes in a transaction that pays what was requested, with the reason for its fee rate.
func (p Payments) Pay(r *messages.Spend, tx *wire.MsgTx, reason string, now int64) {
	values := maps.Clone(r.Values)
	if key := r.Key; key != nil {
		if values == nil {
			values = make(map[string]string)
		}
		values[noteKey], values[noteArguments], values[noteReason] = key.Key, key.Arguments, reason
	}
	p.w.spending.Commit(tx, values, now)
}

// Replace takes in a transaction in place of an older transaction, if the older transaction can still be replaced.
//
// Errors: [*messages.WalletError], all with one code.
func (p Payments) Replace(old chainhash.Hash, tx *wire.MsgTx, now int64) error {
	if err := p.w.MayReplace(old, nil, false); err != nil {
		return recoded(err, codes.Wallet)
	}
	p.w.spending.Replace(tx, old, []string{noteKey, noteArguments, noteReason}, now)
	return nil
}

// recoded gives a refusal another code.
func recoded(err error, code int) error {
	if e, ok := errors.AsType[*messages.WalletError](err); ok {
		return codes.Errorf(code, "%s", e.Text)
	}
	return err
}

// FundError puts the error of a request for a transaction into words.
func FundError(err error) error {
	if _, is := errors.AsType[*messages.WalletError](err); err != nil && !is {
		return codes.Errorf(codes.Wallet, "%v", err)
	}
	return err
}

// SendError puts the error of a request to pay into words. planned says that coins were looked for.
func SendError(err error, planned bool) error {
	e, is := errors.AsType[*messages.WalletError](err)
	switch {
	case err != nil && !is:
		return codes.Errorf(codes.Insufficient, "%v", err)
	case is && e.Code == codes.Wallet && planned:
		return recoded(err, codes.Insufficient)
	}
	return err
}

// BumpError puts the error of a request to replace a transaction into words. Unsigned: not all inputs could be
// signed. Device: a device has the keys of the wallet.
func BumpError(err error, unsigned, device bool) error {
	_, is := errors.AsType[*messages.WalletError](err)
	switch {
	case unsigned && device:
		return codes.Errorf(codes.Wallet, "Transaction incomplete. Try psbtbumpfee instead.")
	case err == nil, is:
		return err
	case unsigned:
		return codes.Errorf(codes.Wallet, "Can't sign transaction.")
	}
	return codes.Errorf(codes.Wallet, "Unable to create transaction. %v", err)
}
