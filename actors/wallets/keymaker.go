package wallets

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	// keysAtOnce is how many keys of P2MR a worker makes before the wallet has
	// them: some tenths of a second.
	keysAtOnce = 32

	// checksAtOnce is how many keys a worker checks before the wallet is told.
	checksAtOnce = 16

	// DefaultDeferFill is how long a new wallet puts off filling its key pool up.
	DefaultDeferFill = 30 * time.Second
)

// maker has keys of P2MR made that the ledger wants, and checked that the file
// brought. Both take milliseconds for each key.
type maker struct {
	worker  *ask.Worker // nil: no keys are being made
	waiting []func()    // to be called when the ledger has what it wants
	broken  bool        // no keys can be made: those who wait get what there is
	timer   *time.Timer // until deferred key pools are filled up; nil: none
	filling bool        // deferred key pools are being filled up
	checker *ask.Worker // nil: no keys are being checked
}

// Messages of the maker to its actor.
type (
	keysMade struct {
		batches []*keys.Batch
		err     error
	}
	keysChecked struct {
		keys  []*vault.Unchecked
		valid []bool
	}
	fillDeferred struct{ of *time.Timer }
)

// drop waits for the workers, whose keys are lost.
func (k *maker) drop() {
	k.worker.Drop()
	k.checker.Drop()
	k.stop()
}

// stop forgets what was put off.
func (k *maker) stop() {
	if k.timer != nil {
		k.timer.Stop()
	}
	k.timer, k.filling = nil, false
}

// wantsKeys reports whether keys are wanted that can be made.
func (w *Wallet) wantsKeys() bool { return !w.maker.broken && w.ledger.Pool().Wanting() }

// whenMade calls back when the ledger has the keys that it wants, or they cannot
// be made: at once if it has.
func (w *Wallet) whenMade(c actor.Context, then func()) {
	if !w.wantsKeys() {
		then()
		return
	}
	w.maker.waiting = append(w.maker.waiting, then)
	w.makeKeys(c)
}

// makeKeys has the next keys made that the ledger wants.
func (w *Wallet) makeKeys(c actor.Context) {
	k := &w.maker
	if k.worker != nil || w.ledger == nil {
		return
	}
	var jobs []*keys.Job
	if !k.broken {
		jobs = w.ledger.Pool().Jobs(keysAtOnce)
	}
	if len(jobs) > 0 {
		k.worker = ask.Go(c, func() any {
			var done keysMade
			for _, job := range jobs {
				b, err := job.Make(w.ctx)
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
func (w *Wallet) made(c actor.Context, m keysMade) {
	k := &w.maker
	k.worker = nil
	if w.ledger == nil {
		for _, b := range m.batches {
			b.Zero()
		}
		return
	}
	err := m.err
	for _, b := range m.batches {
		if failed := w.ledger.Pool().Supply(b); failed != nil {
			err = failed
		}
	}
	if err != nil {
		k.broken = true
		w.cfg.Log.Error("wallet cannot make keys", "wallet", w.label(), "err", err)
	}
	w.save(c, nil)
	if k.filling && !w.wantsKeys() {
		k.filling = !k.broken && w.ledger.Pool().FillDeferred()
	}
	w.makeKeys(c)
}

// supply hands keys to the ledger that a request has had made.
func (w *Wallet) supply(batches []*keys.Batch) error {
	for i, b := range batches {
		if err := w.ledger.Pool().Supply(b); err != nil {
			for _, left := range batches[i+1:] {
				left.Zero()
			}
			return err
		}
	}
	return nil
}

// makeAll makes keys in the worker of a request.
func (w *Wallet) makeAll(jobs []*keys.Job) ([]*keys.Batch, error) {
	batches := make([]*keys.Batch, 0, len(jobs))
	for _, job := range jobs {
		b, err := job.Make(w.ctx)
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
func (w *Wallet) deferFill(c actor.Context) {
	k := &w.maker
	if k.timer != nil || k.filling || !w.ledger.Pool().Deferring() {
		return
	}
	root, self := c.ActorSystem().Root, c.Self()
	set := make(chan *time.Timer, 1)
	k.timer = time.AfterFunc(w.cfg.DeferFill, func() { root.Send(self, fillDeferred{<-set}) })
	set <- k.timer
}

// fill fills deferred key pools up, step by step.
func (w *Wallet) fill(c actor.Context, m fillDeferred) {
	k := &w.maker
	if m.of != k.timer || w.ledger == nil {
		return
	}
	k.timer = nil
	k.filling = w.ledger.Pool().FillDeferred()
	w.save(c, nil)
}

// checkKeys has keys checked that the file brought.
func (w *Wallet) checkKeys(c actor.Context) {
	k := &w.maker
	if k.checker != nil || w.ledger == nil {
		return
	}
	keys := w.ledger.Vault().UncheckedKeys(checksAtOnce)
	if len(keys) == 0 {
		return
	}
	k.checker = ask.Go(c, func() any {
		valid := make([]bool, len(keys))
		for i, key := range keys {
			valid[i] = w.ctx.Err() == nil && key.Check()
		}
		return keysChecked{keys, valid}
	})
}

// checked tells the ledger what was found.
func (w *Wallet) checked(c actor.Context, m keysChecked) {
	w.maker.checker = nil
	if w.ledger == nil {
		return
	}
	for i, key := range m.keys {
		w.ledger.Vault().Checked(key, m.valid[i])
		if !m.valid[i] {
			w.cfg.Log.Error("private key of the wallet does not belong to its public key", "wallet", w.label())
		}
	}
	w.checkKeys(c)
}

// newAddress gives out an address, whose key may have to be made first.
func (w *Wallet) newAddress(c actor.Context, m *newAddress) {
	give := func() {
		changing(c, w, m, func() (string, error) { return w.ledger.Pool().NewAddress(m.Req) })
	}
	if w.ledger.Pool().WantAddress(m.Req) {
		w.whenMade(c, give)
		return
	}
	give()
}

// refill fills the key pools up, once their scripts have been derived.
func (w *Wallet) refill(c actor.Context, m *keypoolRefill) {
	jobs := w.ledger.Pool().RefillJobs(m.Req.Size)
	if len(jobs) == 0 || w.ledger.Vault().Locked() {
		w.refillWith(c, m)
		return
	}
	w.aside(c, func() func() {
		batches, err := w.makeAll(jobs)
		return func() {
			if err == nil {
				err = w.supply(batches)
			}
			if err != nil {
				m.Answer(messages.Done{}, err)
				return
			}
			defer w.ledger.Pool().Drop()
			w.refillWith(c, m)
		}
	})
}

func (w *Wallet) refillWith(c actor.Context, m *keypoolRefill) {
	_ = w.ledger.Pool().Refill(m.Req.Size) // it wants keys; whether it has them is told below
	w.whenMade(c, func() {
		changing(c, w, m, func() (messages.Done, error) { return messages.Done{}, w.ledger.Pool().Refill(m.Req.Size) })
	})
}

// createDescriptor adds standard descriptors, with their keys.
func (w *Wallet) createDescriptor(c actor.Context, m *createDescriptor) {
	texts, err := w.ledger.Importer().CreateDescriptor(m.Req, w.cfg.now())
	w.save(c, func(failed error) {
		if failed != nil || err != nil || w.ledger == nil {
			if failed != nil {
				err = failed
			}
			m.Answer(texts, err)
			return
		}
		w.whenMade(c, func() { w.save(c, func(err error) { m.Answer(texts, err) }) })
	})
	w.deferFill(c)
}

// encryptionOf makes a master key, and the keys of the descriptors that an
// encrypted wallet gets, in a worker.
func (w *Wallet) encryptionOf(phrase *walletfile.Secret, jobs []*keys.Job) (wallet.Encryption, []*keys.Batch, error) {
	defer phrase.Zero()
	encryption, err := newEncryption(w.ctx, phrase)
	if err != nil {
		return encryption, nil, err
	}
	batches, err := w.makeAll(jobs)
	return encryption, batches, err
}
