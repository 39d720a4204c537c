package wallets

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
)

// newRandom returns randomness that nobody can foresee.
func newRandom() *mathrand.Rand {
	var seed [32]byte
	_, _ = rand.Read(seed[:])                      // never fails
	return mathrand.New(mathrand.NewChaCha8(seed)) //nolint:gosec // seeded by the system
}

// lockCoins keeps coins from being spent, or gives them free.
func (w *Wallet) lockCoins(q messages.LockCoins) (messages.Done, error) {
	return messages.Done{}, w.ledger.Lock(&q)
}

// setPayFee sets the fee rate that is paid where a request names none.
func (t *caller) setPayFee(j *ask.Job, q messages.SetPayFee) (messages.Done, error) {
	pool, err := t.cfg.askPool(j, nil, nil)
	if err != nil {
		return messages.Done{}, err
	}
	rate, relay := spend.FeeRate(q.Rate), spend.FeeRate(pool.MinRelayFee)
	return messages.Done{}, t.try(j, func() error {
		switch most := spend.FeeRate(t.spending.MaxFee); {
		case rate == 0:
		case rate < relay:
			return codes.Errorf(codes.Parameter, "txfee cannot be less than min relay tx fee (%s)", t.cfg.perKvB(relay))
		case rate < t.spending.Min:
			return codes.Errorf(codes.Parameter, "txfee cannot be less than wallet min fee (%s)",
				t.cfg.perKvB(t.spending.Min))
		case rate > most:
			return codes.Errorf(codes.Parameter, "txfee cannot be more than wallet max tx fee (%s)", t.cfg.perKvB(most))
		}
		t.spending.Pay = rate
		return nil
	})
}

// perKvB prints a fee rate as Core does.
func (c *Config) perKvB(rate spend.FeeRate) string {
	return fmt.Sprintf("%d.%08d %s/kvB", rate/btcutil.SatoshiPerBitcoin, rate%btcutil.SatoshiPerBitcoin,
		c.Network.Software.Unit)
}

// askPool asks for the transactions of the memory pool that some transactions depend on, and for fee rates.
func (c *Config) askPool(j *ask.Job, ids []chainhash.Hash, fees []messages.FeeQuery) (messages.PoolClusters, error) {
	pool, err := ask.Await(j, c.Pool, messages.GetPoolClusters{IDs: ids, Fees: fees})
	if errors.Is(err, ask.ErrAbsent) {
		return withoutPool(), nil
	}
	return pool, err
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

// submit offers transactions to the memory pool, one after the other. It returns how many the pool has.
func (c *Config) submit(j *ask.Job, txs []*wire.MsgTx, relay bool) (taken int) {
	if c.NoBroadcast {
		return 0
	}
	for _, tx := range txs {
		if j.Context().Err() != nil {
			break
		}
		q := messages.SubmitTx{Tx: tx, MaxFee: c.Spending.MaxFee, Quietly: !relay}
		if _, err := ask.Await(j, c.Pool, q); err != nil {
			c.Log.Debug("transaction of a wallet is not in the memory pool", "txid", tx.TxHash(), "err", err)
			continue
		}
		taken++
	}
	return taken
}
