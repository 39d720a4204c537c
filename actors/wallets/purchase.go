package wallets

import (
	"bytes"
	"errors"
	"maps"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corelog"
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

// A purchase is a request to pay that is being served.
type purchase struct {
	*spender
	req   *messages.Spend
	reply func(messages.Spent, error)
	end   func(c actor.Context)
	plans int
	bump  *bump // what is replaced; nil: nothing

	plan   *spend.Plan
	built  *spend.Built
	packet string // with the signatures that were made, in base64; empty: no packet was made
	uses   []messages.PQCUse
}

// fail answers with an error. An error without a code gets the code of the method.
func (p *purchase) fail(c actor.Context, err error) {
	p.answer(c, messages.Spent{}, err)
}

func (p *purchase) answer(c actor.Context, got messages.Spent, err error) {
	if p.bump != nil {
		p.reply(got, p.bump.failure(err, p.of.open().Flags().Has(walletfile.ExternalSigner)))
		p.end(c)
		return
	}
	if err != nil && !isAnswer(err) {
		code := codes.Wallet
		if p.req.Sign == messages.SignAll {
			code = codes.Insufficient
		}
		err = codes.Errorf(code, "%v", err)
	} else if e, ok := errors.AsType[*messages.WalletError](err); ok && e.Code == codes.Wallet &&
		p.plan != nil && p.req.Sign == messages.SignAll {
		err = codes.Errorf(codes.Insufficient, "%s", e.Text)
	}
	p.reply(got, err)
	p.end(c)
}

// begin checks whether the wallet may serve the request, and then asks the memory pool about the coins.
func (p *purchase) begin(c actor.Context) {
	w, r := p.of.open(), p.req
	if p.repeats(c) {
		return
	}
	if r.Sign == messages.SignAll {
		if w.Vault().Locked() {
			p.fail(c, errLocked)
			return
		}
		if err := w.MaySign(); err != nil && (p.bump == nil || !w.Flags().Has(walletfile.ExternalSigner)) {
			p.fail(c, err)
			return
		}
	}
	if r.Sign != messages.SignNothing { // before an address for change is taken
		if err := w.Vault().CheckSigning(); err != nil {
			p.fail(c, err)
			return
		}
	}
	if r.Shuffle {
		p.random.Shuffle(len(r.Payments), func(i, j int) {
			r.Payments[i], r.Payments[j] = r.Payments[j], r.Payments[i]
		})
	}
	to, own := w.ChangeAddress(r)
	if own && w.Pool().WantAddress(to) {
		p.whenKeys(c, func() { p.lookAtPool(c) })
		return
	}
	p.lookAtPool(c)
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
func (p *purchase) repeats(c actor.Context) bool {
	key := p.req.Key
	if key == nil {
		return false
	}
	id, values, found := p.of.open().Spending().Find(noteKey, key.Key)
	if !found {
		return false
	}
	if values[noteArguments] != key.Arguments {
		p.fail(c, codes.Errorf(codes.Parameter, "idempotency_key was used with other arguments"))
		return true
	}
	id, fate := p.of.open().Spending().Fate(id)
	if fate != txs.Stands {
		p.fail(c, notPaid(id, fate))
		return true
	}
	p.of.save(c, func(err error) { // it may be on its way to the disk yet
		answer := func() {
			p.answer(c, messages.Spent{
				TxID: id, Change: -1, Reason: values[noteReason], Complete: true, Sent: true,
			}, err)
		}
		if err != nil || p.of.open() == nil {
			answer()
			return
		}
		p.submit(c, p.of.open().Spending().Pending(id), answer)
	})
	return true
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

// lookAtPool asks for the transactions of the memory pool that the wallet's coins depend on.
func (p *purchase) lookAtPool(c actor.Context) {
	ids := p.of.open().Spending().PoolTxs()
	for i := range p.req.Inputs {
		ids = append(ids, p.req.Inputs[i].At.Hash)
	}
	p.askPool(c, ids, spend.FeeQueries(p.req, &p.options),
		func(c actor.Context, pool messages.PoolClusters, err error) {
			if err != nil {
				p.fail(c, err)
				return
			}
			p.build(c, pool)
		})
}

// build has the transaction built by a worker.
func (p *purchase) build(c actor.Context, pool messages.PoolClusters) {
	plan, err := p.of.open().Fund(p.req)
	if err != nil {
		p.fail(c, err)
		return
	}
	p.plan = plan
	plan.Pool, plan.Options, plan.Scale = pool, p.options, int(p.cfg.Network.Rules.WitnessScale)
	plan.Random, plan.Atom = newRandom(), p.cfg.Network.Software.Atom
	rules := p.cfg.Network.PoolRules()
	plan.Dust = func(out *wire.TxOut, rate spend.FeeRate) int64 {
		return txpool.DustLimit(rules, txpool.PerKvB(int64(rate)), out)
	}
	reader := p.cfg.Chain.Open()
	tip := reader.Active().Tip()
	plan.Current = p.cfg.Network.IsFresh(tip.Time(), p.cfg.Now())
	forms := p.cfg.Network.Standard
	plan.Native, plan.NativeInput = forms.Native, forms.NativeInput
	plan.TRUCSize, plan.TRUCChildSize = int(forms.TRUCSize), int(forms.TRUCChildSize)
	if p.bump != nil {
		if err := plan.Raise(p.bump.old); err != nil {
			p.fail(c, err)
			return
		}
	}
	p.of.beside(c, func() func() {
		built, err := spend.Build(plan)
		return func() { p.haveBuilt(c, built, err) }
	})
}

// haveBuilt takes the transaction, if the coins are still there.
func (p *purchase) haveBuilt(c actor.Context, built *spend.Built, err error) {
	if err != nil {
		p.fail(c, err)
		return
	}
	if !p.of.open().Reserve(p.plan, built.Tx, built.Change) {
		if p.plans++; p.plans >= maxPlans {
			p.fail(c, coinselect.ErrFunds)
			return
		}
		p.lookAtPool(c)
		return
	}
	p.built = built
	if p.req.All == nil {
		corelog.Printf(p.cfg.Log, infoLevel, "[%s] Coin Selection: Algorithm:%s, Waste Metric Score:%d", p.label(),
			built.Algorithm, built.Waste)
	}
	if built.Grouped > 0 {
		used := "non-grouped"
		if built.Fee == built.Grouped {
			used = "grouped"
		}
		corelog.Printf(p.cfg.Log, infoLevel, "[%s] Fee non-grouped = %d, grouped = %d, using %s", p.label(),
			built.Single, built.Grouped, used)
	}
	if p.req.LockCoins {
		for _, in := range built.Tx.TxIn {
			p.of.open().Txs().Locks().Lock(in.PreviousOutPoint, false)
		}
	}
	if p.req.Sign == messages.SignNothing {
		p.of.save(c, func(err error) { p.done(c, built.Tx, false, false, err) })
		return
	}
	if p.req.Sign == messages.SignSome {
		p.fill(c)
		return
	}
	p.sign(c)
}

// fill signs the transaction in a packet, as far as possible, and passes the result on. Keys that count their
// signatures, and devices, sign only once, whether the transaction is sent or the packet is handed out.
func (p *purchase) fill(c actor.Context) {
	signs := !p.of.open().Vault().Locked()
	req := &messages.FillPacket{
		PSBT: psbt.New(p.built.Tx, p.cfg.Network.PSBTVersions[0]).Encode(),
		Sign: signs, Derivations: true, Finalize: signs,
	}
	p.fillPacket(c, req, func(got messages.FilledPacket, err error) {
		p.packet, p.uses = got.PSBT, got.PQCKeys
		if !got.Complete || got.Tx == nil {
			p.signed(c, p.built.Tx, false, err)
			return
		}
		p.signed(c, got.Tx, true, err)
	})
}

// sign signs the transaction and passes the result on.
func (p *purchase) sign(c actor.Context) {
	var raw bytes.Buffer
	if err := p.built.Tx.Serialize(&raw); err != nil {
		p.fail(c, err)
		return
	}
	req := &messages.SignWithWallet{RawTx: raw.Bytes()}
	for i := range p.req.Inputs {
		if in := &p.req.Inputs[i]; in.Out != nil {
			req.Prevs = append(req.Prevs, messages.PrevOut{
				TxID: in.At.Hash, Index: in.At.Index, Script: in.Out.PkScript,
				Amount: new(btcutil.Amount(in.Out.Value)),
			})
		}
	}
	p.of.sign(c, req, func(got messages.Signed, err error) {
		tx := wire.NewMsgTx(0)
		if err == nil {
			err = tx.Deserialize(bytes.NewReader(got.RawTx))
		}
		p.uses = got.PQCKeys
		p.signed(c, tx, got.Complete, err)
	})
}

// signed goes on with a transaction that was signed.
func (p *purchase) signed(c actor.Context, tx *wire.MsgTx, complete bool, err error) {
	switch {
	case err != nil:
		p.fail(c, err)
	case !complete && p.req.Sign == messages.SignAll:
		p.fail(c, errUnsigned)
	case !complete || !p.req.Send:
		p.of.save(c, func(err error) { p.done(c, tx, complete, false, err) })
	case p.bump != nil && p.cfg.Network.Wallet().LookAgain:
		if !sameButSigned(p.built.Tx, tx) {
			p.fail(c, errOtherTx)
			return
		}
		p.lookAgain(c, tx, func(c actor.Context) { p.commit(c, tx) })
	default:
		p.commit(c, tx)
	}
}

// commit writes the transaction, and then sends it. If a coin was spent meanwhile, coins
// are chosen again.
func (p *purchase) commit(c actor.Context, tx *wire.MsgTx) {
	if !p.stillUnspent(tx) {
		if p.plans++; p.plans >= maxPlans {
			p.fail(c, coinselect.ErrFunds)
			return
		}
		p.lookAtPool(c)
		return
	}
	if p.bump == nil {
		p.of.open().Spending().Commit(tx, p.notes(), p.cfg.now())
	} else if err := p.bump.commit(p, tx); err != nil {
		p.fail(c, err)
		return
	}
	p.of.save(c, func(err error) {
		if err != nil || p.of.open() == nil {
			p.done(c, tx, true, false, err)
			return
		}
		p.submit(c, []*wire.MsgTx{tx}, func() { p.done(c, tx, true, true, nil) })
	})
}

// stillUnspent reports whether the coins that were chosen have not been spent while the
// transaction was signed.
func (p *purchase) stillUnspent(tx *wire.MsgTx) bool {
	given := make(map[wire.OutPoint]bool)
	for i := range p.req.Inputs {
		given[p.req.Inputs[i].At] = true
	}
	for _, in := range tx.TxIn {
		if at := in.PreviousOutPoint; !given[at] && p.of.open().Spending().Spent(at) {
			return false
		}
	}
	return true
}

// done answers.
func (p *purchase) done(c actor.Context, tx *wire.MsgTx, complete, sent bool, err error) {
	p.answer(c, messages.Spent{
		Tx: tx, TxID: tx.TxHash(), Fee: btcutil.Amount(p.built.Fee), Change: p.built.Change,
		Reason: p.built.Reason, Complete: complete, Sent: sent, PSBT: p.packet,
		PQCKeys: p.uses,
	}, err)
}
