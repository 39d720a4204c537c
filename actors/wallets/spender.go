package wallets

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
)

// paying is what paying needs of a wallet.
type paying interface {
	open() *wallet.Wallet // nil: it is closed
	beside(c actor.Context, work func() (then func()))
	save(c actor.Context, then func(error))
	whenReady(c actor.Context, then func(err error)) // calls back when it can be written and has seen the tip
	signs
}

// signs puts a wallet's signatures into what pays.
type signs interface {
	sign(c actor.Context, req *messages.SignWithWallet, then func(messages.Signed, error))
}

// spendView is a wallet as paying sees it.
type spendView struct{ *Wallet }

func (w spendView) whenReady(c actor.Context, then func(err error)) {
	w.writable(c, func(err error) {
		if err != nil {
			then(err)
			return
		}
		w.pool.whenCurrent(c, then)
	})
}

func (w spendView) sign(c actor.Context, req *messages.SignWithWallet, then func(messages.Signed, error)) {
	if w.signer.outside() {
		w.signer.runOutside(c, req, then)
		return
	}
	w.signer.run(c, req, then)
}

// spender pays. It serves one request after the other, so that no coin is chosen for two
// requests. A request ends when its coins count as spent or are locked. A transaction is
// on disk before anybody else sees it.
type spender struct {
	*home
	of      paying
	ctx     context.Context //nolint:containedctx // ends what was asked when the actor stops
	options spend.Options   // with the changes made since the wallet was loaded
	random  *mathrand.Rand

	// whenKeys calls back when the keys are made that the wallet wants.
	whenKeys func(c actor.Context, then func())

	// fillPacket puts what the wallet knows into a packet, and signs it.
	fillPacket func(c actor.Context, req *messages.FillPacket, then filled)

	// submit offers transactions to the memory pool, for all peers to see.
	submit func(c actor.Context, txs []*wire.MsgTx, then func())

	busy  bool
	queue []func(c actor.Context)
}

// spendStep goes on with a request in the actor.
type spendStep struct{ run func(c actor.Context) }

func newSpender(h *home, w *Wallet) spender {
	return spender{
		home: h, of: spendView{w}, ctx: w.ctx, options: *h.cfg.Spending, random: newRandom(),
		whenKeys:   func(c actor.Context, then func()) { w.keygen.after(c, then) },
		fillPacket: func(c actor.Context, req *messages.FillPacket, then filled) { w.signer.fillPacket(c, req, then) },
		submit: func(c actor.Context, txs []*wire.MsgTx, then func()) {
			w.pool.submit(c, txs, true, func(int) { then() })
		},
	}
}

// newRandom returns randomness that nobody can foresee.
func newRandom() *mathrand.Rand {
	var seed [32]byte
	_, _ = rand.Read(seed[:])                      // never fails
	return mathrand.New(mathrand.NewChaCha8(seed)) //nolint:gosec // seeded by the system
}

// step goes on, unless the wallet has been closed: callers are answered as the actor stops.
func (s *spender) step(c actor.Context, m spendStep) {
	if s.of.open() != nil {
		m.run(c)
	}
}

// lockCoins keeps coins from being spent, or gives them free.
func (s *spender) lockCoins(c actor.Context, m *ask.Call[messages.LockCoins, messages.Done]) {
	s.of.whenReady(c, func(err error) {
		if err != nil {
			m.Answer(messages.Done{}, err)
			return
		}
		changing(c, s.of, m, func() (messages.Done, error) { return messages.Done{}, s.of.open().Lock(&m.Req) })
	})
}

// setPayFee sets the fee rate that is paid where a request names none.
func (s *spender) setPayFee(c actor.Context, m *ask.Call[messages.SetPayFee, messages.Done]) {
	s.askPool(c, nil, nil, func(_ actor.Context, pool messages.PoolClusters, err error) {
		rate, relay := spend.FeeRate(m.Req.Rate), spend.FeeRate(pool.MinRelayFee)
		switch most := spend.FeeRate(s.options.MaxFee); {
		case err != nil || rate == 0:
		case rate < relay:
			err = codes.Errorf(codes.Parameter, "txfee cannot be less than min relay tx fee (%s)", s.perKvB(relay))
		case rate < s.options.Min:
			err = codes.Errorf(codes.Parameter, "txfee cannot be less than wallet min fee (%s)",
				s.perKvB(s.options.Min))
		case rate > most:
			err = codes.Errorf(codes.Parameter, "txfee cannot be more than wallet max tx fee (%s)", s.perKvB(most))
		}
		if err == nil {
			s.options.Pay = rate
		}
		m.Answer(messages.Done{}, err)
	})
}

// perKvB prints a fee rate as Core does.
func (s *spender) perKvB(rate spend.FeeRate) string {
	return fmt.Sprintf("%d.%08d %s/kvB", rate/btcutil.SatoshiPerBitcoin, rate%btcutil.SatoshiPerBitcoin,
		s.cfg.Network.Software.Unit)
}

// askPool asks for the transactions of the memory pool that some transactions depend on, and for fee rates.
func (s *spender) askPool(
	c actor.Context, ids []chainhash.Hash, fees []messages.FeeQuery,
	then func(c actor.Context, pool messages.PoolClusters, err error),
) {
	q := messages.GetPoolClusters{IDs: ids, Fees: fees}
	ask.Then(s.ctx, c, s.cfg.Pool, q, func(pool messages.PoolClusters, err error) any {
		return spendStep{func(c actor.Context) {
			if errors.Is(err, ask.ErrAbsent) {
				pool, err = withoutPool(), nil
			}
			then(c, pool, err)
		}}
	})
}

// withoutPool is the default policy, used if there is no memory pool that could tell its own.
func withoutPool() messages.PoolClusters {
	policy := txpool.DefaultPolicy()
	return messages.PoolClusters{
		MinRelayFee: policy.MinRelayFee.PerKvB(), IncrementalFee: policy.IncrementalFee.PerKvB(),
		DustFee:      policy.DustFee.PerKvB(),
		MaxAncestors: policy.Limits.Ancestors, MaxDescendants: policy.Limits.Descendants,
		MaxAncestorVSize: policy.Limits.AncestorVSize, MaxDescVSize: policy.Limits.DescendantVSize,
	}
}

// take serves a request when those before it have ended. serve calls its second argument
// when the next one may begin.
func (s *spender) take(c actor.Context, serve func(c actor.Context, end func(c actor.Context))) {
	s.queue = append(s.queue, func(c actor.Context) { serve(c, s.end) })
	s.next(c)
}

// next serves the first request that waits, unless the wallet has been closed: callers are answered as the actor
// stops.
func (s *spender) next(c actor.Context) {
	if s.busy || len(s.queue) == 0 || s.of.open() == nil {
		return
	}
	first := s.queue[0]
	s.queue = s.queue[1:]
	s.busy = true
	first(c)
}

func (s *spender) end(c actor.Context) {
	s.busy = false
	s.next(c)
}

// spend serves a request to pay.
func (s *spender) spend(c actor.Context, m *ask.Call[messages.Spend, messages.Spent]) {
	s.of.whenReady(c, func(err error) {
		if err != nil {
			m.Answer(messages.Spent{}, err)
			return
		}
		s.take(c, func(c actor.Context, end func(actor.Context)) {
			p := &purchase{spender: s, req: &m.Req, end: end, reply: func(got messages.Spent, err error) {
				m.Answer(got, err)
			}}
			p.begin(c)
		})
	})
}
