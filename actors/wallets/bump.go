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

// A bump is the transaction that a payment replaces.
type bump struct {
	req *messages.BumpFee
	old *spend.Replaced
}

// bumpFee serves a request to replace a transaction: it is a payment that spends the
// outputs which the transaction spends.
func (t *caller) bumpFee(j *ask.Job, q messages.BumpFee) (messages.Bumped, error) {
	p := newPayment(t)
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
func (p *payment) lookAtReplaced(j *ask.Job) error {
	var outs []wire.OutPoint
	err := p.try(j, func() error {
		p.device = p.ledger.Flags().Has(walletfile.ExternalSigner)
		if p.ledger.Vault().Locked() {
			return codes.ErrLocked
		}
		tx, err := p.ledger.ToReplace(p.bump.req)
		if err == nil {
			outs = spend.OutsOf(tx)
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

// lookAgain asks once more for the outputs that a signed replacement spends, for their spenders in the memory pool,
// and for the related transactions there. Its error is why the replacement may not take the place of the old
// transaction any more.
func (p *payment) lookAgain(j *ask.Job, tx *wire.MsgTx) error {
	if !p.cfg.Network.Wallet().LookAgain {
		return nil
	}
	if !spend.SameButSigned(p.built.Tx, tx) {
		return spend.ErrOtherTx
	}
	outs, ids := spend.OutsOf(tx), []chainhash.Hash{p.bump.old.ID}
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
func (p *payment) askCoins(j *ask.Job, outs []wire.OutPoint) (map[wire.OutPoint]*wire.TxOut, error) {
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
