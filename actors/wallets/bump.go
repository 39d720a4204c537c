package wallets

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
)

// A bump is the transaction that a purchase replaces.
type bump struct {
	req   *messages.BumpFee
	old   *spend.Replaced
	coins map[wire.OutPoint]*wire.TxOut // that it spends
}

// bump serves a request to replace a transaction: it is a purchase that spends the
// outputs which the transaction spends.
func (s *spender) bump(c actor.Context, m *ask.Call[messages.BumpFee, messages.Bumped]) {
	s.of.whenReady(c, func(err error) {
		if err != nil {
			m.Answer(messages.Bumped{}, err)
			return
		}
		s.take(c, func(c actor.Context, end func(actor.Context)) {
			b := &bump{req: &m.Req}
			p := &purchase{spender: s, bump: b, end: end, reply: func(got messages.Spent, err error) {
				if err != nil {
					m.Answer(messages.Bumped{}, err)
					return
				}
				m.Answer(messages.Bumped{
					Tx: got.Tx, TxID: got.TxID, OldFee: btcutil.Amount(b.old.Fee), Fee: got.Fee,
					PQCKeys: got.PQCKeys,
				}, nil)
			}}
			p.lookAtReplaced(c)
		})
	})
}

// lookAtReplaced asks for the outputs that the transaction to be replaced spends.
func (p *purchase) lookAtReplaced(c actor.Context) {
	w := p.of.open()
	if w.Vault().Locked() {
		p.fail(c, errLocked)
		return
	}
	tx, err := w.ToReplace(p.bump.req)
	if err != nil {
		p.fail(c, err)
		return
	}
	var outs []wire.OutPoint
	for _, in := range tx.TxIn {
		outs = append(outs, in.PreviousOutPoint)
	}
	p.askCoins(c, outs, p.haveCoins)
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
// and for the related transactions there. It goes on with the replacement if it may still take the place of the old
// transaction.
func (p *purchase) lookAgain(c actor.Context, tx *wire.MsgTx, then func(c actor.Context)) {
	outs := make([]wire.OutPoint, len(tx.TxIn))
	ids := []chainhash.Hash{p.bump.old.ID}
	for i, in := range tx.TxIn {
		outs[i] = in.PreviousOutPoint
		ids = append(ids, in.PreviousOutPoint.Hash)
	}
	a := &spend.Again{Old: p.bump.old, Tx: tx, Options: p.options, Scale: int(p.cfg.Network.Rules.WitnessScale)}
	p.askCoins(c, outs, func(c actor.Context, coins map[wire.OutPoint]*wire.TxOut, err error) {
		if err != nil {
			p.fail(c, err)
			return
		}
		a.Coins = coins
		ask.Then(p.ctx, c, p.cfg.Pool, messages.GetPoolSpenders{Outs: outs}, func(by []*chainhash.Hash, err error) any {
			return spendStep{func(c actor.Context) {
				if err != nil && !errors.Is(err, ask.ErrAbsent) {
					p.fail(c, err)
					return
				}
				p.askPool(c, ids, nil, func(c actor.Context, pool messages.PoolClusters, err error) {
					tip := p.cfg.Chain.Open().Active().Tip()
					a.Pool, a.Final = pool, txpool.Final(tx, tip)
					if err == nil {
						err = p.of.open().MayTakePlace(a, by)
					}
					if err != nil {
						p.fail(c, err)
						return
					}
					then(c)
				})
			}}
		})
	})
}

// askCoins asks for outputs, whether or not the memory pool spends them, as far as the chain, the pool or the wallet
// has them.
func (p *purchase) askCoins(
	c actor.Context, outs []wire.OutPoint,
	then func(c actor.Context, coins map[wire.OutPoint]*wire.TxOut, err error),
) {
	q := messages.GetPoolCoins{View: messages.PoolOutputs, Outs: outs}
	ask.Then(p.ctx, c, p.cfg.Pool, q, func(list []*messages.Coin, err error) any {
		return spendStep{func(c actor.Context) {
			coins := make(map[wire.OutPoint]*wire.TxOut)
			for i, at := range outs {
				switch {
				case errors.Is(err, ask.ErrAbsent): // what the wallet knows is all there is
					if out := p.of.open().Spending().AnyOutput(at); out != nil {
						coins[at] = out
					}
				case err != nil:
					then(c, nil, err)
					return
				case list[i] != nil:
					coins[at] = list[i].Output
				}
			}
			then(c, coins, nil)
		}}
	})
}

// haveCoins takes the outputs that the transaction spends, and asks for the transactions
// of the memory pool that depend on the transaction.
func (p *purchase) haveCoins(c actor.Context, coins map[wire.OutPoint]*wire.TxOut, err error) {
	if err != nil {
		p.fail(c, err)
		return
	}
	p.bump.coins = coins
	ids := []chainhash.Hash{p.bump.req.TxID}
	p.askPool(c, ids, nil, func(c actor.Context, pool messages.PoolClusters, err error) {
		if err != nil {
			p.fail(c, err)
			return
		}
		scale := int(p.cfg.Network.Rules.WitnessScale)
		p.req, p.bump.old, err = p.of.open().Replacement(p.bump.req, p.bump.coins, pool.Txs, scale)
		if err != nil {
			p.fail(c, err)
			return
		}
		p.begin(c)
	})
}

// failure puts an error into words.
func (*bump) failure(err error, outside bool) error {
	unsigned := errors.Is(err, errUnsigned) || errors.Is(err, errNoSigner) || errors.Is(err, errSignerFailed)
	switch {
	case unsigned && outside:
		return codes.Errorf(codes.Wallet, "Transaction incomplete. Try psbtbumpfee instead.")
	case err == nil, isAnswer(err):
		return err
	case unsigned:
		return codes.Errorf(codes.Wallet, "Can't sign transaction.")
	}
	return codes.Errorf(codes.Wallet, "Unable to create transaction. %v", err)
}

// commit takes the transaction in, if the other one can still be replaced.
func (b *bump) commit(p *purchase, tx *wire.MsgTx) error {
	w := p.of.open()
	if err := w.MayReplace(b.req.TxID, nil, false); err != nil {
		if e, ok := errors.AsType[*messages.WalletError](err); ok {
			err = codes.Errorf(codes.Wallet, "%s", e.Text)
		}
		return err
	}
	w.Spending().Replace(tx, b.req.TxID, []string{noteKey, noteArguments, noteReason}, p.cfg.now())
	return nil
}
