package wallets

import (
	"bytes"
	"context"
	"errors"
	"maps"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/coinselect"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// maxPlans is how often coins are chosen for one request. They are chosen again if some
// of them were spent, or the address for change was given out, while the transaction was
// built.
const maxPlans = 5

// errUnsigned says that not all inputs could be signed.
var errUnsigned = errors.New("Signing transaction failed") //nolint:staticcheck // Core's words

// A purchase is a request to pay that a job serves. It ends when its coins count as spent or are locked. A
// transaction is on disk before anybody else sees it.
type purchase struct {
	*caller
	req  *messages.Spend
	bump *bump // what is replaced; nil: nothing

	device bool // has the keys of the wallet
	plan   *spend.Plan
	built  *spend.Built
	packet string // with the signatures that were made, in base64; empty: no packet was made
	uses   []messages.PQCUse
}

// newPurchase returns a purchase that answers errors in the words of its method.
func newPurchase(t *caller) *purchase {
	p := &purchase{}
	p.caller = &caller{t.Wallet, t.c, func(err error) { t.refuse(p.failure(err)) }}
	return p
}

// spend serves a request to pay.
func (t *caller) spend(j *ask.Job, q messages.Spend) (messages.Spent, error) {
	p := newPurchase(t)
	p.req = &q
	got, err := p.pay(j)
	return got, p.failure(err)
}

// failure puts an error into words. An error without a code gets the code of the method.
func (p *purchase) failure(err error) error {
	if p.bump != nil {
		return bumpFailure(err, p.device)
	}
	if err != nil && !isAnswer(err) {
		code := codes.Wallet
		if p.req.Sign == messages.SignAll {
			code = codes.Insufficient
		}
		return codes.Errorf(code, "%v", err)
	}
	if e, ok := errors.AsType[*messages.WalletError](err); ok && e.Code == codes.Wallet &&
		p.plan != nil && p.req.Sign == messages.SignAll {
		return codes.Errorf(codes.Insufficient, "%s", e.Text)
	}
	return err
}

func (p *purchase) pay(j *ask.Job) (messages.Spent, error) {
	if got, repeated, err := p.repeats(j); repeated || err != nil {
		return got, err
	}
	if err := p.begin(j); err != nil {
		return messages.Spent{}, err
	}
	for range maxPlans {
		funded, err := p.fund(j)
		if err != nil {
			return messages.Spent{}, err
		}
		if !funded {
			continue
		}
		tx, complete, err := p.signed(j)
		switch {
		case err != nil:
			return messages.Spent{}, err
		case !complete && p.req.Sign == messages.SignAll:
			return messages.Spent{}, errUnsigned
		case !complete || !p.req.Send:
			return p.spent(tx, complete, false), p.saved(j)
		}
		if sent, err := p.send(j, tx); sent || err != nil {
			return p.spent(tx, true, sent), err
		}
	}
	return messages.Spent{}, coinselect.ErrFunds
}

// The names of the texts that tell a repeated request.
const (
	noteKey       = "idempotency_key"
	noteArguments = "idempotency_arguments"
	noteReason    = "idempotency_fee_reason"
)

// repeats answers a request whose key a served request had, so that it is paid only once. A payment that no block has
// yet is announced again: the process may have ended before any peer had heard of the payment. A payment that was
// abandoned or double-spent is refused: it is not paid, and only the caller knows whether it is to be paid once more.
func (p *purchase) repeats(j *ask.Job) (got messages.Spent, repeated bool, err error) {
	key := p.req.Key
	if key == nil {
		return got, false, nil
	}
	var pending []*wire.MsgTx
	err = p.await(j, func(then func(error)) {
		id, values, found := p.ledger.Spending().Find(noteKey, key.Key)
		repeated = found
		if !found {
			then(nil)
			return
		}
		if values[noteArguments] != key.Arguments {
			then(codes.Errorf(codes.Parameter, "idempotency_key was used with other arguments"))
			return
		}
		id, fate := p.ledger.Spending().Fate(id)
		if fate != txs.Stands {
			then(notPaid(id, fate))
			return
		}
		pending = p.ledger.Spending().Pending(id)
		got = messages.Spent{TxID: id, Change: -1, Reason: values[noteReason], Complete: true, Sent: true}
		p.save(p.c, then) // it may be on its way to the disk yet
	})
	if repeated && err == nil {
		p.cfg.submit(j, pending, true)
		err = context.Cause(j.Context()) // when the actor ends it answers
	}
	return got, repeated, err
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

// notes returns the texts that are kept with the transaction.
func (p *purchase) notes() map[string]string {
	values := maps.Clone(p.req.Values)
	if key := p.req.Key; key != nil {
		if values == nil {
			values = make(map[string]string)
		}
		values[noteKey], values[noteArguments], values[noteReason] = key.Key, key.Arguments, p.built.Reason
	}
	return values
}

// begin checks whether the wallet may serve the request, and waits for the address for change.
func (p *purchase) begin(j *ask.Job) error {
	wants := false
	err := p.try(j, func() error {
		w, r := p.ledger, p.req
		p.device = w.Flags().Has(walletfile.ExternalSigner)
		if r.Sign == messages.SignAll {
			if w.Vault().Locked() {
				return errLocked
			}
			if err := w.MaySign(); err != nil && (p.bump == nil || !p.device) {
				return err
			}
		}
		if r.Sign != messages.SignNothing { // before an address for change is taken
			if err := w.Vault().CheckSigning(); err != nil {
				return err
			}
		}
		if r.Shuffle {
			newRandom().Shuffle(len(r.Payments), func(i, j int) {
				r.Payments[i], r.Payments[j] = r.Payments[j], r.Payments[i]
			})
		}
		to, own := w.ChangeAddress(r)
		wants = own && w.Pool().WantAddress(to)
		return nil
	})
	if err == nil && wants {
		err = p.haveKeys(j)
	}
	return err
}

// fund chooses coins and builds the transaction. It reports false where some of the coins are gone since.
func (p *purchase) fund(j *ask.Job) (funded bool, err error) {
	var ids []chainhash.Hash
	var fees []messages.FeeQuery
	err = p.do(j, func() {
		ids, fees = p.ledger.Spending().PoolTxs(), spend.FeeQueries(p.req, &p.spending)
	})
	if err != nil {
		return false, err
	}
	for i := range p.req.Inputs {
		ids = append(ids, p.req.Inputs[i].At.Hash)
	}
	pool, err := p.cfg.askPool(j, ids, fees)
	if err == nil {
		err = p.try(j, func() error { return p.makePlan(pool) })
	}
	if err != nil {
		return false, err
	}
	if p.built, err = spend.Build(p.plan); err != nil {
		return false, err
	}
	return funded, p.do(j, func() { funded = p.reserve() })
}

// makePlan finds the coins that the transaction may spend.
func (p *purchase) makePlan(pool messages.PoolClusters) error {
	plan, err := p.ledger.Fund(p.req)
	if err != nil {
		return err
	}
	p.plan = plan
	plan.Pool, plan.Options, plan.Scale = pool, p.spending, int(p.cfg.Network.Rules.WitnessScale)
	plan.Random, plan.Atom = newRandom(), p.cfg.Network.Software.Atom
	plan.NamesLimits = p.cfg.Network.NamesFeeLimits
	rules := p.cfg.Network.PoolRules()
	plan.Dust = func(out *wire.TxOut, rate spend.FeeRate) int64 {
		return txpool.DustLimit(rules, txpool.PerKvB(int64(rate)), out)
	}
	tip := p.cfg.Chain.Open().Active().Tip()
	plan.Current = p.cfg.Network.IsFresh(tip.Time(), p.cfg.Now())
	forms := p.cfg.Network.Standard
	plan.Native, plan.NativeInput = forms.Native, forms.NativeInput
	plan.TRUCSize, plan.TRUCChildSize = int(forms.TRUCSize), int(forms.TRUCChildSize)
	if p.bump != nil {
		return plan.Raise(p.bump.old)
	}
	return nil
}

// reserve takes the transaction, if the coins are still there.
func (p *purchase) reserve() bool {
	built := p.built
	if !p.ledger.Reserve(p.plan, built.Tx, built.Change) {
		return false
	}
	if p.req.All == nil {
		p.logf("Coin Selection: Algorithm:%s, Waste Metric Score:%d", built.Algorithm, built.Waste)
	}
	if built.Grouped > 0 {
		used := "non-grouped"
		if built.Fee == built.Grouped {
			used = "grouped"
		}
		p.logf("Fee non-grouped = %d, grouped = %d, using %s", built.Single, built.Grouped, used)
	}
	if p.req.LockCoins {
		for _, in := range built.Tx.TxIn {
			p.ledger.Txs().Locks().Lock(in.PreviousOutPoint, false)
		}
	}
	return true
}

// signed returns the transaction with the signatures that are wanted, and whether it has all that it needs.
func (p *purchase) signed(j *ask.Job) (tx *wire.MsgTx, complete bool, err error) {
	switch p.req.Sign {
	case messages.SignNothing:
		return p.built.Tx, false, nil
	case messages.SignSome:
		return p.filled(j)
	case messages.SignAll:
	}
	req := messages.SignWithWallet{RawTx: psbt.Serialize(p.built.Tx, true)}
	for i := range p.req.Inputs {
		if in := &p.req.Inputs[i]; in.Out != nil {
			req.Prevs = append(req.Prevs, messages.PrevOut{
				TxID: in.At.Hash, Index: in.At.Index, Script: in.Out.PkScript,
				Amount: new(btcutil.Amount(in.Out.Value)),
			})
		}
	}
	sign := p.sign
	if p.device {
		sign = p.signByDevice
	}
	got, err := sign(j, req)
	if err != nil {
		return nil, false, err
	}
	p.uses = got.PQCKeys
	tx = wire.NewMsgTx(0)
	return tx, got.Complete, tx.Deserialize(bytes.NewReader(got.RawTx))
}

// filled signs the transaction in a packet, as far as possible. Keys that count their signatures, and devices,
// sign only once, whether the transaction is sent or the packet is handed out.
func (p *purchase) filled(j *ask.Job) (tx *wire.MsgTx, complete bool, err error) {
	signs := false
	if err := p.do(j, func() { signs = !p.ledger.Vault().Locked() }); err != nil {
		return nil, false, err
	}
	got, err := p.fill(j, messages.FillPacket{
		PSBT: psbt.New(p.built.Tx, p.cfg.Network.PSBTVersions[0]).Encode(),
		Sign: signs, Derivations: true, Finalize: signs,
	})
	p.packet, p.uses = got.PSBT, got.PQCKeys
	if !got.Complete || got.Tx == nil {
		return p.built.Tx, false, err
	}
	return got.Tx, true, err
}

// send writes the transaction, and then sends it. It reports false where a coin was spent meanwhile.
func (p *purchase) send(j *ask.Job, tx *wire.MsgTx) (sent bool, err error) {
	if p.bump != nil {
		if err := p.lookAgain(j, tx); err != nil {
			return false, err
		}
	}
	err = p.await(j, func(then func(error)) {
		sent = p.stillUnspent(tx)
		if !sent {
			then(nil)
			return
		}
		if err := p.commit(tx); err != nil {
			then(err)
			return
		}
		p.save(p.c, then)
	})
	if !sent || err != nil {
		return false, err
	}
	p.cfg.submit(j, []*wire.MsgTx{tx}, true)
	return true, context.Cause(j.Context()) // when the actor ends it answers
}

// stillUnspent reports whether the coins that were chosen have not been spent while the
// transaction was signed.
func (p *purchase) stillUnspent(tx *wire.MsgTx) bool {
	given := make(map[wire.OutPoint]bool)
	for i := range p.req.Inputs {
		given[p.req.Inputs[i].At] = true
	}
	for _, in := range tx.TxIn {
		if at := in.PreviousOutPoint; !given[at] && p.ledger.Spending().Spent(at) {
			return false
		}
	}
	return true
}

// commit takes the transaction in.
func (p *purchase) commit(tx *wire.MsgTx) error {
	if p.bump != nil {
		return p.replace(tx)
	}
	p.ledger.Spending().Commit(tx, p.notes(), p.cfg.now())
	return nil
}

// spent is what is answered.
func (p *purchase) spent(tx *wire.MsgTx, complete, sent bool) messages.Spent {
	return messages.Spent{
		Tx: tx, TxID: tx.TxHash(), Fee: btcutil.Amount(p.built.Fee), Change: p.built.Change,
		Reason: p.built.Reason, Complete: complete, Sent: sent, PSBT: p.packet,
		PQCKeys: p.uses,
	}
}
