package wallets

import (
	"errors"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// A bump is the transaction that a purchase replaces.
type bump struct {
	req *messages.BumpFee
	old *spend.Replaced
}

// bumpFee serves a request to replace a transaction: it is a purchase that spends the
// outputs which the transaction spends.
func (t *caller) bumpFee(j *ask.Job, q messages.BumpFee) (messages.Bumped, error) {
	p := newPurchase(t)
	p.bump = &bump{req: &q}
	err := p.lookAtReplaced(j)
	var got messages.Spent
	if err == nil {
		got, err = p.pay(j)
	}
	if err != nil {
		return messages.Bumped{}, p.failure(err)
	}
	return messages.Bumped{
		Tx: got.Tx, TxID: got.TxID, OldFee: btcutil.Amount(p.bump.old.Fee), Fee: got.Fee, PQCKeys: got.PQCKeys,
	}, nil
}

// lookAtReplaced finds the outputs that the transaction to be replaced spends, and the transactions of the memory
// pool that depend on it.
func (p *purchase) lookAtReplaced(j *ask.Job) error {
	var outs []wire.OutPoint
	err := p.try(j, func() error {
		p.device = p.ledger.Flags().Has(walletfile.ExternalSigner)
		if p.ledger.Vault().Locked() {
			return errLocked
		}
		tx, err := p.ledger.ToReplace(p.bump.req)
		if err == nil {
			outs = outsOf(tx)
		}
		return err
	})
	if err != nil {
		return err
	}
	coins, err := p.askCoins(j, outs)
	if err != nil {
		return err
	}
	pool, err := p.cfg.askPool(j, []chainhash.Hash{p.bump.req.TxID}, nil)
	if err != nil {
		return err
	}
	return p.try(j, func() (err error) {
		scale := int(p.cfg.Network.Rules.WitnessScale)
		p.req, p.bump.old, err = p.ledger.Replacement(p.bump.req, coins, pool.Txs, scale)
		return err
	})
}

// outsOf returns what a transaction spends.
func outsOf(tx *wire.MsgTx) []wire.OutPoint {
	outs := make([]wire.OutPoint, len(tx.TxIn))
	for i, in := range tx.TxIn {
		outs[i] = in.PreviousOutPoint
	}
	return outs
}

// errOtherTx says that a signer has changed more of a replacement than its signatures.
var errOtherTx = codes.Errorf(codes.Wallet, "Signed replacement transaction differs in more than its signatures")

// sameButSigned reports whether a signed transaction differs from the transaction to be signed only in its
// signatures.
func sameButSigned(asked, got *wire.MsgTx) bool {
	plain := got.Copy()
	for i, in := range plain.TxIn {
		if i < len(asked.TxIn) {
			in.SignatureScript = asked.TxIn[i].SignatureScript
		}
	}
	return plain.TxHash() == asked.TxHash()
}

// lookAgain asks once more for the outputs that a signed replacement spends, for their spenders in the memory pool,
// and for the related transactions there. Its error is why the replacement may not take the place of the old
// transaction any more.
func (p *purchase) lookAgain(j *ask.Job, tx *wire.MsgTx) error {
	if !p.cfg.Network.Wallet().LookAgain {
		return nil
	}
	if !sameButSigned(p.built.Tx, tx) {
		return errOtherTx
	}
	outs, ids := outsOf(tx), []chainhash.Hash{p.bump.old.ID}
	for _, at := range outs {
		ids = append(ids, at.Hash)
	}
	coins, err := p.askCoins(j, outs)
	if err != nil {
		return err
	}
	by, err := ask.Await(j, p.cfg.Pool, messages.GetPoolSpenders{Outs: outs})
	if err != nil && !errors.Is(err, ask.ErrAbsent) {
		return err
	}
	pool, err := p.cfg.askPool(j, ids, nil)
	if err != nil {
		return err
	}
	return p.try(j, func() error {
		tip := p.cfg.Chain.Open().Active().Tip()
		return p.ledger.MayTakePlace(&spend.Again{
			Old: p.bump.old, Tx: tx, Options: p.spending, Scale: int(p.cfg.Network.Rules.WitnessScale),
			Coins: coins, Pool: pool, Final: txpool.Final(tx, tip),
		}, by)
	})
}

// askCoins asks for outputs, whether or not the memory pool spends them, as far as the chain, the pool or the wallet
// has them.
func (p *purchase) askCoins(j *ask.Job, outs []wire.OutPoint) (map[wire.OutPoint]*wire.TxOut, error) {
	coins := make(map[wire.OutPoint]*wire.TxOut)
	list, err := ask.Await(j, p.cfg.Pool, messages.GetPoolCoins{View: messages.PoolOutputs, Outs: outs})
	if errors.Is(err, ask.ErrAbsent) { // what the wallet knows is all there is
		return coins, p.do(j, func() {
			for _, at := range outs {
				if out := p.ledger.Spending().AnyOutput(at); out != nil {
					coins[at] = out
				}
			}
		})
	}
	if err != nil {
		return nil, err
	}
	for i, at := range outs {
		if list[i] != nil {
			coins[at] = list[i].Output
		}
	}
	return coins, nil
}

// bumpFailure puts an error into words. device says that a device has the keys of the wallet.
func bumpFailure(err error, device bool) error {
	unsigned := errors.Is(err, errUnsigned) || errors.Is(err, errNoSigner) || errors.Is(err, errSignerFailed)
	switch {
	case unsigned && device:
		return codes.Errorf(codes.Wallet, "Transaction incomplete. Try psbtbumpfee instead.")
	case err == nil, isAnswer(err):
		return err
	case unsigned:
		return codes.Errorf(codes.Wallet, "Can't sign transaction.")
	}
	return codes.Errorf(codes.Wallet, "Unable to create transaction. %v", err)
}

// replace takes the transaction in, if the other one can still be replaced.
func (p *purchase) replace(tx *wire.MsgTx) error {
	if err := p.ledger.MayReplace(p.bump.req.TxID, nil, false); err != nil {
		if e, ok := errors.AsType[*messages.WalletError](err); ok {
			err = codes.Errorf(codes.Wallet, "%s", e.Text)
		}
		return err
	}
	p.ledger.Spending().Replace(tx, p.bump.req.TxID, []string{noteKey, noteArguments, noteReason}, p.cfg.now())
	return nil
}
