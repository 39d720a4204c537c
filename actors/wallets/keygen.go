package wallets

import (
	"cmp"
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/vault"
)

const (
	// keysOfCore is how many keys of P2MR a worker makes or checks on each core
	// before the wallet is told. They take one or several tenths of a second.
	keysOfCore = 32

	// maxKeysAtOnce bounds what the wallet then takes in at once.
	maxKeysAtOnce = 128

	// DefaultDeferFill is how long a new wallet puts off filling its key pool up.
	DefaultDeferFill = 30 * time.Second
)

// keygen has keys of P2MR made that the wallet wants, and checked that the file
// brought. Both take milliseconds for each key.
type keygen struct {
	w       *Wallet
	making  bool
	broken  bool      // no keys can be made: callers go on with the keys there are
	timer   ask.Timer // until deferred key pools are filled up
	filling bool      // deferred key pools are being filled up
	lines   keyLog
}

// fillDeferred says that it is time to fill deferred key pools up.
type fillDeferred struct{}

// stop forgets what was put off.
func (k *keygen) stop() {
	k.timer.Stop()
	k.filling = false
}

// needsKeys reports whether keys are wanted that can be made.
func (k *keygen) needsKeys() bool { return !k.broken && k.w.ledger.Pool().Wanting() }

// keysMade waits until the ledger has the keys that it wants, or they cannot be made.
func (w *Wallet) keysMade(j *ask.Job) error {
	return w.until(j, func() (bool, error) {
		w.keygen.makeNext()
		return !w.keygen.making || !w.keygen.needsKeys(), nil
	})
}

// keysAtOnce is how many keys a job makes or checks before the wallet is told.
func keysAtOnce() int { return min(keysOfCore*cores.Count(), maxKeysAtOnce) }

// makeNext has the next keys made that the ledger wants.
func (k *keygen) makeNext() {
	if k.making || k.w.ledger == nil || k.w.closed || k.broken {
		return
	}
	jobs := k.w.ledger.Pool().Jobs(keysAtOnce())
	if k.making = len(jobs) > 0; !k.making {
		return
	}
	k.w.beside(func(j *ask.Job) {
		batches, err := keys.MakeAll(j.Context(), jobs)
		if k.w.do(j, func() { k.made(batches, err) }) != nil {
			keys.ZeroAll(batches)
		}
	})
}

// made hands keys to the ledger. The error is why there are no more.
func (k *keygen) made(batches []*keys.Batch, err error) {
	k.making = false
	for _, b := range batches {
		err = cmp.Or(k.w.ledger.Pool().Supply(b), err)
	}
	if err != nil {
		k.broken = true
		k.w.cfg.Log.Error("wallet cannot make keys", "wallet", k.w.Label(), "err", err)
	}
	k.w.save(nil)
	if k.filling && !k.needsKeys() {
		k.fillNext()
	}
	k.lines.refilled(k.w.ledger.Keys().IsFilled, !k.broken && !k.w.ledger.Vault().Locked())
	k.makeNext()
	k.w.changes.notify()
	if !k.needsKeys() {
		k.w.pool.lookFor()
	}
}

// deferFill has deferred key pools filled up after a while.
func (k *keygen) deferFill() {
	if k.timer.IsSet() || k.filling || !k.w.ledger.Pool().Deferring() {
		return
	}
	k.timer.Set(k.w.c, k.w.cfg.DeferFill, fillDeferred{})
}

// fill fills deferred key pools up, step by step.
func (k *keygen) fill() {
	if k.w.ledger == nil {
		return
	}
	k.fillNext()
	k.w.save(nil)
}

// fillNext wants the next keys of deferred key pools.
func (k *keygen) fillNext() {
	k.filling = !k.broken && k.w.ledger.Pool().FillDeferred()
	k.lines.filling(k.filling, k.w.ledger.Pool().Deferring())
}

// checkKeys has keys checked that the file brought.
func (k *keygen) checkKeys() {
	unchecked := k.w.ledger.Vault().UncheckedKeys(keysAtOnce())
	if len(unchecked) == 0 {
		k.lines.checked()
		return
	}
	k.lines.checking()
	k.w.beside(func(j *ask.Job) {
		valid := checkAll(j.Context(), unchecked)
		_ = k.w.do(j, func() {
			k.checked(unchecked, valid)
			k.checkKeys()
		})
	})
}

// checkAll checks keys on all cores, and wipes them, those too that are not checked
// since the context has ended.
func checkAll[K interface{ Check(context.Context) bool }](ctx context.Context, all []K) []bool {
	valid := make([]bool, len(all))
	_ = cores.Do(context.WithoutCancel(ctx), len(all), func(i int) error {
		valid[i] = all[i].Check(ctx)
		return nil
	})
	return valid
}

// checked tells the ledger what was found.
func (k *keygen) checked(unchecked []*vault.Unchecked, valid []bool) {
	for i, key := range unchecked {
		k.w.ledger.Vault().Checked(key, valid[i])
		if !valid[i] {
			k.lines.failed = true
			k.w.cfg.Log.Error("private key of the wallet does not belong to its public key", "wallet", k.w.Label())
		}
	}
}
