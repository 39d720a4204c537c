package wallets

import (
	"bytes"
	"context"
	"errors"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/coinselect"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// maxPlans is how often coins are chosen for one request. They are chosen again if some
// of them were spent, or the address for change was given out, while the transaction was
// built.
const maxPlans = 5

// errUnsigned says that not all inputs could be signed.
var errUnsigned = errors.New("Signing transaction failed") //nolint:staticcheck // Core's words

// A payment is a request to pay that a job serves. It ends when its coins count as spent or are locked. A
// transaction is on disk before anybody else sees it.
type payment struct {
	*caller
	req  *messages.Spend
	bump *bump // what is replaced; nil: nothing

	device bool // has the keys of the wallet
	plan   *spend.Plan
	built  *spend.Built
	packet string // with the signatures that were made, in base64; empty: no packet was made
	uses   []messages.PQCUse
}

// newPayment returns a payment that answers errors in the words of its method.
func newPayment(t *caller) *payment {
	p := &payment{}
	p.caller = &caller{t.Wallet, func(err error) { t.refuse(p.failure(err)) }}
	return p
}

// spend serves a request to pay.
func (t *caller) spend(j *ask.Job, q messages.Spend) (messages.Spent, error) {
	p := newPayment(t)
	p.req = &q
	got, err := p.pay(j)
	return got, p.failure(err)
}

// failure puts an error into words.
func (p *payment) failure(err error) error {
	switch {
	case p.bump != nil:
		unsigned := errors.Is(err, errUnsigned) || errors.Is(err, errNoSigner) || errors.Is(err, errSignerFailed)
		return wallet.BumpError(err, unsigned, p.device)
	case p.req.Sign == messages.SignAll:
		return wallet.SendError(err, p.plan != nil)
	}
	return wallet.FundError(err)
}

func (p *payment) pay(j *ask.Job) (messages.Spent, error) {
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

// repeats answers a request whose key a served request had, so that it is paid only once. A payment that no block has
// yet is announced again: the process may have ended before any peer had heard of the payment.
func (p *payment) repeats(j *ask.Job) (got messages.Spent, repeated bool, err error) {
	if p.req.Key == nil {
		return got, false, nil
	}
	var pending []*wire.MsgTx
	err = p.change(j, func() (err error) { // it may be on its way to the disk yet
		got, pending, repeated, err = p.ledger.Payments().Repeated(p.req.Key)
		return err
	})
	if repeated && err == nil {
		p.cfg.submit(j, pending, true)
		err = context.Cause(j.Context()) // when the actor ends it answers
	}
	return got, repeated, err
}

// begin checks whether the wallet may serve the request, and waits for the address for change.
func (p *payment) begin(j *ask.Job) error {
	wants := false
	err := p.try(j, func() error {
		p.device = p.ledger.Flags().Has(walletfile.ExternalSigner)
		if err := p.ledger.Payments().MayPay(p.req, p.bump != nil && p.device); err != nil {
			return err
		}
		if r := p.req; r.Shuffle {
			newRandom().Shuffle(len(r.Payments), func(i, j int) {
				r.Payments[i], r.Payments[j] = r.Payments[j], r.Payments[i]
			})
		}
		to, own := p.ledger.ChangeAddress(p.req)
		wants = own && p.ledger.Pool().WantAddress(to)
		return nil
	})
	if err == nil && wants {
		err = p.keysMade(j)
	}
	return err
}

// fund chooses coins and builds the transaction. It reports false where some of the coins are gone since.
func (p *payment) fund(j *ask.Job) (funded bool, err error) {
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
func (p *payment) makePlan(pool messages.PoolClusters) error {
	tip, network := p.cfg.Chain.Open().Active().Tip(), p.cfg.Network
	plan, err := p.ledger.Payments().Plan(p.req, network, wallet.PaymentParams{
		Pool: pool, Options: p.spending, Random: newRandom(), Current: network.IsFresh(tip.Time(), p.cfg.Now()),
	})
	if err != nil {
		return err
	}
	if p.plan = plan; p.bump != nil {
		return plan.Raise(p.bump.old)
	}
	return nil
}

// reserve takes the transaction, if the coins are still there.
func (p *payment) reserve() bool {
	built := p.built
	if !p.ledger.Reserve(p.plan, built.Tx, built.Change) {
		return false
	}
	if p.req.All == nil {
		p.Logf("Coin Selection: Algorithm:%s, Waste Metric Score:%d", built.Algorithm, built.Waste)
	}
	if built.Grouped > 0 {
		used := "non-grouped"
		if built.Fee == built.Grouped {
			used = "grouped"
		}
		p.Logf("Fee non-grouped = %d, grouped = %d, using %s", built.Single, built.Grouped, used)
	}
	if p.req.LockCoins {
		for _, in := range built.Tx.TxIn {
			p.ledger.Txs().Locks().Lock(in.PreviousOutPoint, false)
		}
	}
	return true
}

// signed returns the transaction with the signatures that are wanted, and whether it has all that it needs.
func (p *payment) signed(j *ask.Job) (tx *wire.MsgTx, complete bool, err error) {
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
func (p *payment) filled(j *ask.Job) (tx *wire.MsgTx, complete bool, err error) {
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
func (p *payment) send(j *ask.Job, tx *wire.MsgTx) (sent bool, err error) {
	if p.bump != nil {
		if err := p.lookAgain(j, tx); err != nil {
			return false, err
		}
	}
	err = p.change(j, func() error {
		if sent = p.ledger.Payments().StillUnspent(p.req, tx); !sent {
			return nil
		}
		if p.bump != nil {
			return p.ledger.Payments().Replace(p.bump.req.TxID, tx, p.cfg.now())
		}
		p.ledger.Payments().Pay(p.req, tx, p.built.Reason, p.cfg.now())
		return nil
	})
	if !sent || err != nil {
		return false, err
	}
	p.cfg.submit(j, []*wire.MsgTx{tx}, true)
	return true, context.Cause(j.Context()) // when the actor ends it answers
}

// spent is what is answered.
func (p *payment) spent(tx *wire.MsgTx, complete, sent bool) messages.Spent {
	return messages.Spent{
		Tx: tx, TxID: tx.TxHash(), Fee: btcutil.Amount(p.built.Fee), Change: p.built.Change,
		Reason: p.built.Reason, Complete: complete, Sent: sent, PSBT: p.packet,
		PQCKeys: p.uses,
	}
}
