package wallets

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/wallet"
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

// keyed is what the making of keys needs of its wallet.
type keyed interface {
	open() *wallet.Wallet // nil: it is closed
	beside(c actor.Context, work func() (then func()))
	save(c actor.Context, then func(error))
}

// keygen has keys of P2MR made that the wallet wants, and checked that the file
// brought. Both take milliseconds for each key.
type keygen struct {
	*home
	of  keyed
	ctx context.Context //nolint:containedctx // ends the workers when the actor stops

	worker  *ask.Worker // nil: no keys are being made
	waiting []func()    // to be called when the ledger has what it wants
	broken  bool        // no keys can be made: waiting callers go on with the keys there are
	timer   ask.Timer   // until deferred key pools are filled up
	filling bool        // deferred key pools are being filled up
	checker *ask.Worker // nil: no keys are being checked
	lines   keyLog
}

// Messages of the key generation to its actor.
type (
	keysMade struct {
		batches []*keys.Batch
		err     error
	}
	keysChecked struct {
		keys  []*vault.Unchecked
		valid []bool
	}
	fillDeferred struct{}
)

// drop waits for the workers, whose keys are lost.
func (k *keygen) drop() {
	k.worker.Drop()
	k.checker.Drop()
	k.stop()
}

// stop forgets what was put off.
func (k *keygen) stop() {
	k.timer.Stop()
	k.filling = false
}

// needsKeys reports whether keys are wanted that can be made.
func (k *keygen) needsKeys() bool { return !k.broken && k.of.open().Pool().Wanting() }

// after calls back when the ledger has the keys that it wants, or they cannot
// be made: at once if it has.
func (k *keygen) after(c actor.Context, then func()) {
	if !k.needsKeys() {
		then()
		return
	}
	k.waiting = append(k.waiting, then)
	k.makeNext(c)
}

// keysAtOnce is how many keys a worker makes or checks before the wallet is told.
func keysAtOnce() int { return min(keysOfCore*cores.Count(), maxKeysAtOnce) }

// makeNext has the next keys made that the ledger wants.
func (k *keygen) makeNext(c actor.Context) {
	if k.worker != nil || k.of.open() == nil {
		return
	}
	var jobs []*keys.Job
	if !k.broken {
		jobs = k.of.open().Pool().Jobs(keysAtOnce())
	}
	if len(jobs) > 0 {
		k.worker = ask.Go(c, func() any {
			var done keysMade
			for _, job := range jobs {
				b, err := job.Make(k.ctx)
				if err != nil {
					done.err = err
					break
				}
				done.batches = append(done.batches, b)
			}
			return done
		})
		return
	}
	waiting := k.waiting
	k.waiting = nil
	for _, then := range waiting {
		then()
	}
}

// made hands keys to the ledger.
func (k *keygen) made(c actor.Context, m keysMade) {
	k.worker = nil
	if k.of.open() == nil {
		for _, b := range m.batches {
			b.Zero()
		}
		return
	}
	err := m.err
	for _, b := range m.batches {
		if failed := k.of.open().Pool().Supply(b); failed != nil {
			err = failed
		}
	}
	if err != nil {
		k.broken = true
		k.cfg.Log.Error("wallet cannot make keys", "wallet", k.label(), "err", err)
	}
	k.of.save(c, nil)
	if k.filling && !k.needsKeys() {
		k.fillNext()
	}
	k.lines.refilled(k.of.open().Keys().IsFilled, !k.broken && !k.of.open().Vault().Locked())
	k.makeNext(c)
}

// supply hands keys to a pool that a request has had made.
func supply(pool *keys.Pool, batches []*keys.Batch) error {
	for i, b := range batches {
		if err := pool.Supply(b); err != nil {
			for _, left := range batches[i+1:] {
				left.Zero()
			}
			return err
		}
	}
	return nil
}

// makeAll makes keys in the worker of a request.
func makeAll(ctx context.Context, jobs []*keys.Job) ([]*keys.Batch, error) {
	batches := make([]*keys.Batch, 0, len(jobs))
	for _, job := range jobs {
		b, err := job.Make(ctx)
		if err != nil {
			for _, done := range batches {
				done.Zero()
			}
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// deferFill has deferred key pools filled up after a while.
func (k *keygen) deferFill(c actor.Context) {
	if k.timer.IsSet() || k.filling || !k.of.open().Pool().Deferring() {
		return
	}
	k.timer.Set(c, k.cfg.DeferFill, fillDeferred{})
}

// fill fills deferred key pools up, step by step.
func (k *keygen) fill(c actor.Context) {
	if k.of.open() == nil {
		return
	}
	k.fillNext()
	k.of.save(c, nil)
}

// fillNext wants the next keys of deferred key pools.
func (k *keygen) fillNext() {
	k.filling = !k.broken && k.of.open().Pool().FillDeferred()
	k.lines.filling(k.filling, k.of.open().Pool().Deferring())
}

// checkKeys has keys checked that the file brought.
func (k *keygen) checkKeys(c actor.Context) {
	if k.checker != nil || k.of.open() == nil {
		return
	}
	unchecked := k.of.open().Vault().UncheckedKeys(keysAtOnce())
	if len(unchecked) == 0 {
		k.lines.checked()
		return
	}
	k.lines.checking()
	k.checker = ask.Go(c, func() any { return keysChecked{unchecked, checkAll(k.ctx, unchecked)} })
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
func (k *keygen) checked(c actor.Context, m keysChecked) {
	k.checker = nil
	if k.of.open() == nil {
		return
	}
	for i, key := range m.keys {
		k.of.open().Vault().Checked(key, m.valid[i])
		if !m.valid[i] {
			k.lines.failed = true
			k.cfg.Log.Error("private key of the wallet does not belong to its public key", "wallet", k.label())
		}
	}
	k.checkKeys(c)
}
