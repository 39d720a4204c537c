package wallets

import (
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
)

// newRandom returns randomness that nobody can foresee.
func newRandom() *mathrand.Rand {
	var seed [32]byte
	_, _ = rand.Read(seed[:])                      // never fails
	return mathrand.New(mathrand.NewChaCha8(seed)) //nolint:gosec // seeded by the system
}

// setPayFee sets the fee rate that is paid where a request names none.
func (t *caller) setPayFee(j *ask.Job, q messages.SetPayFee) (messages.Done, error) {
	pool, err := t.cfg.askPool(j, nil, nil)
	if err != nil {
		return messages.Done{}, err
	}
	rate, relay := spend.FeeRate(q.Rate), spend.FeeRate(pool.MinRelayFee)
	return messages.Done{}, t.try(j, func() error {
		if err := t.spending.CheckPay(rate, relay, t.cfg.Network.Software.Unit); err != nil {
			return err
		}
		t.spending.Pay = rate
		return nil
	})
}

// askPool asks for the transactions of the memory pool that some transactions depend on, and for fee rates.
func (c *Config) askPool(j *ask.Job, ids []chainhash.Hash, fees []messages.FeeQuery) (messages.PoolClusters, error) {
	pool, err := ask.Await(j, c.Pool, messages.GetPoolClusters{IDs: ids, Fees: fees})
	if errors.Is(err, ask.ErrAbsent) {
		return txpool.NoPool(), nil
	}
	return pool, err
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
