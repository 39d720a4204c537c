package wallets

import (
	"cmp"
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

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
	waiting []func()  // to be called when the ledger has what it wants
	broken  bool      // no keys can be made: waiting callers go on with the keys there are
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

// keysAtOnce is how many keys a job makes or checks before the wallet is told.
func keysAtOnce() int { return min(keysOfCore*cores.Count(), maxKeysAtOnce) }

// makeNext has the next keys made that the ledger wants.
func (k *keygen) makeNext(c actor.Context) {
	if k.making || k.w.ledger == nil {
		return
	}
	var jobs []*keys.Job
	if !k.broken {
		jobs = k.w.ledger.Pool().Jobs(keysAtOnce())
	}
	k.making = len(jobs) > 0
	if k.making {
		k.w.lanes.beside.Add(c, func(j *ask.Job) {
			batches, err := makeAll(j.Context(), jobs)
			if k.w.do(j, func() { k.made(c, batches, err) }) != nil {
				zero(batches)
			}
		})
		return
	}
	waiting := k.waiting
	k.waiting = nil
	for _, then := range waiting {
		then()
	}
}

// made hands keys to the ledger. The error is why there are no more.
func (k *keygen) made(c actor.Context, batches []*keys.Batch, err error) {
	k.making = false
	for _, b := range batches {
		err = cmp.Or(k.w.ledger.Pool().Supply(b), err)
	}
	if err != nil {
		k.broken = true
		k.w.cfg.Log.Error("wallet cannot make keys", "wallet", k.w.label(), "err", err)
	}
	k.w.save(c, nil)
	if k.filling && !k.needsKeys() {
		k.fillNext()
	}
	k.lines.refilled(k.w.ledger.Keys().IsFilled, !k.broken && !k.w.ledger.Vault().Locked())
	k.makeNext(c)
	if k.w.ledger != nil && !k.needsKeys() {
		k.w.pool.lookFor(c)
	}
}

// supply hands keys to a pool that a request has had made. With an error it wipes them.
func supply(pool *keys.Pool, batches []*keys.Batch, err error) error {
	for i, b := range batches {
		if err != nil {
			zero(batches[i:])
			break
		}
		err = pool.Supply(b)
	}
	return err
}

func zero(batches []*keys.Batch) {
	for _, b := range batches {
		b.Zero()
	}
}

// makeAll makes keys. With an error it returns the keys that were made before.
func makeAll(ctx context.Context, jobs []*keys.Job) ([]*keys.Batch, error) {
	batches := make([]*keys.Batch, 0, len(jobs))
	for _, job := range jobs {
		b, err := job.Make(ctx)
		if err != nil {
			return batches, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// deferFill has deferred key pools filled up after a while.
func (k *keygen) deferFill(c actor.Context) {
	if k.timer.IsSet() || k.filling || !k.w.ledger.Pool().Deferring() {
		return
	}
	k.timer.Set(c, k.w.cfg.DeferFill, fillDeferred{})
}

// fill fills deferred key pools up, step by step.
func (k *keygen) fill(c actor.Context) {
	if k.w.ledger == nil {
		return
	}
	k.fillNext()
	k.w.save(c, nil)
}

// fillNext wants the next keys of deferred key pools.
func (k *keygen) fillNext() {
	k.filling = !k.broken && k.w.ledger.Pool().FillDeferred()
	k.lines.filling(k.filling, k.w.ledger.Pool().Deferring())
}

// checkKeys has keys checked that the file brought.
func (k *keygen) checkKeys(c actor.Context) {
	unchecked := k.w.ledger.Vault().UncheckedKeys(keysAtOnce())
	if len(unchecked) == 0 {
		k.lines.checked()
		return
	}
	k.lines.checking()
	k.w.lanes.beside.Add(c, func(j *ask.Job) {
		valid := checkAll(j.Context(), unchecked)
		_ = k.w.do(j, func() {
			k.checked(unchecked, valid)
			k.checkKeys(c)
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
			k.w.cfg.Log.Error("private key of the wallet does not belong to its public key", "wallet", k.w.label())
		}
	}
}
