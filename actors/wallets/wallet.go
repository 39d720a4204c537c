package wallets

import (
	"context"
	"errors"
	"math"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// Wallet is the actor of one wallet. It owns the ledger and the open file.
//
// The ledger answers from memory. A job serves a request: it has the actor look at
// the ledger or change the ledger, and waits for the disk before it answers. Meanwhile the actor
// serves other requests. When the file cannot be written the actor fails, because the ledger
// is ahead of the file then: the next instance has the contents of the file,
// see [fault].
type Wallet struct {
	*spec

	c      actor.Context // the actor's own
	origin origin        // of the file that the first instance opens; nil: it is there
	again  *txs.Block    // the tip, which is looked at again when there are the wanted keys; nil: there is no need

	fresh  *files.Opened // has been opened, and is not yet taken over
	ledger *wallet.Wallet

	failed bool // the instance before failed as it loaded the wallet
	live   bool // loaded, and following the chain
	closed bool // serves nobody any more; callers are answered as the actor stops
	busy   bool // handling a message; stays set if the actor failed meanwhile

	savesPosition bool // the position is to be written after the step
	awaitsKeys    bool // no step begins before there are the keys that the ledger wants

	changes  signal // of what jobs wait for
	pool     poolState
	writer   writer
	follower *follow.Follower
	payments *ask.Lane // jobs, one after the other, so that no coin is chosen for two of them
	others   *ask.Lane // jobs that do not wait for each other
	scan     *scan     // nil: none
	nonces   rawtx.MusigNonces
	spending spend.Options // with the changes made since the wallet was loaded
	unlocker unlocker
	keygen   keygen
}

// newWallet returns the producer of a wallet's actor. The origin, unless it is nil, makes or finds the file that the
// first instance opens.
func newWallet(s *spec, from origin) actor.Producer {
	begun := false
	return func() actor.Actor {
		w := &Wallet{spec: s, origin: from, failed: begun && !s.loaded.Load()}
		w.keygen = keygen{w: w, lines: keyLog{spec: s}}
		w.writer = writer{Wallet: w, next: newBatch(nil)}
		w.pool = poolState{Wallet: w}
		w.payments, w.others, w.spending = ask.NewLane(1), ask.NewLane(math.MaxInt), *s.cfg.Spending
		w.follower = w.follow()
		begun = true
		return w
	}
}

// Receive implements actor.Actor.
func (w *Wallet) Receive(c actor.Context) {
	w.c = c
	switch c.Message().(type) {
	case *actor.Stopping:
		w.follower.Receive(c)
		w.stop(!w.busy)
		return
	case *actor.Restarting:
		w.follower.Receive(c)
		w.stop(false)
		return
	}
	w.busy = true
	w.handle()
	w.busy = false
}

func (w *Wallet) handle() {
	if w.follower.Receive(w.c) {
		return
	}
	switch m := w.c.Message().(type) {
	case *actor.Started:
		if w.loaded.Load() { // before
			w.beside(w.loadAgain)
		}
	case *beginWallet:
		w.begin(m)
	case *closeWallet:
		w.unload(m)
	case lockTimer:
		w.lockTimer()
	case fillDeferred:
		w.keygen.fill()
	case messages.PoolChanged:
		w.pool.notified(&m)
	case resend:
		w.pool.waited()
	case messages.TipChanged: // the follower's
	default:
		if !w.closed {
			walletTable.Serve(w, w.c)
		}
	}
}

// begin loads the wallet for the first time.
func (w *Wallet) begin(m *beginWallet) {
	if w.failed {
		m.Answer(nil, ask.ErrRestarted)
		return
	}
	w.beside(func(j *ask.Job) {
		open := w.open
		if w.origin != nil {
			open = w.origin.Run
		}
		warnings, err := w.load(j, open)
		if err != nil { // the file is closed before the answer, so that it can be deleted
			err = w.loadingError(err)
			if failed := w.release(j, func() bool { return true }); failed != nil {
				w.cfg.Log.Error("wallet not closed cleanly", "wallet", w.Label(), "err", failed)
			}
		}
		_ = w.doAlways(j, func() { m.Answer(warnings, err) }) // else the actor's end answers
	})
}

// loadAgain loads a wallet whose actor has failed since it was loaded.
func (w *Wallet) loadAgain(j *ask.Job) {
	_, err := w.load(j, w.reopen)
	if err == nil || j.Context().Err() != nil {
		return
	}
	w.cfg.Log.Error("wallet cannot be opened again", "wallet", w.Label(), "err", err)
	_ = w.doAlways(j, func() { w.c.Stop(w.c.Self()) })
}

// save has a job write what has changed, and returns the batch that has all changes. refuse is called if they cannot
// be written, before the actor fails; nil: nobody is told.
func (w *Wallet) save(refuse func(error)) *batch {
	w.keygen.makeNext()
	return w.writer.add(w.ledger.TakeChanges(), refuse)
}

// load opens the file, looks through what was missed, and joins the pool.
func (w *Wallet) load(
	j *ask.Job, open func(context.Context) (*files.Opened, error),
) (warnings []string, err error) {
	o, err := open(j.Context())
	if err != nil {
		return nil, err
	}
	w.fresh = o // the actor closes it if it stops now
	err = w.doAlways(j, func() {
		w.writer.file, w.ledger, w.fresh = o.File, o.Ledger, nil
		w.writer.next.changes = o.Unwritten
	})
	if err == nil && o.CatchUp.Scan {
		err = w.catchUp(j, o.CatchUp)
	}
	if err != nil {
		return nil, err
	}
	w.Arrived()
	w.loaded.Store(true)
	if err = w.pool.join(j); err == nil {
		err = w.do(j, w.attached)
	}
	return o.Warnings, err
}

// attached begins to serve the wallet.
func (w *Wallet) attached() {
	w.live = true
	w.LogSizes(w.ledger)
	info := w.ledger.Info()
	w.cfg.Log.Info("wallet loaded", "wallet", w.Label(), "transactions", info.TxCount, "keypool", info.KeypoolSize+
		max(info.KeypoolSizeInternal, 0))
	w.pool.take()
	w.follower.Wake(w.c)
	if w.origin == nil { // a restored wallet keeps the answers of Core until its next load
		w.exclude()
	} else if r, restored := w.origin.(*files.Restoration); restored {
		w.lookBeyond(r.Beyond())
	}
	w.keygen.checkKeys()
	w.keygen.deferFill()
	w.keygen.makeNext()
	w.changes.notify()
}

// forget wipes the secrets.
func (w *Wallet) forget() {
	w.live, w.closed = false, true
	w.unlocker.stop()
	w.keygen.stop()
	if w.ledger != nil {
		w.ledger.Close()
	}
	w.writer.file, w.ledger = nil, nil
}

// unload writes what is in memory, closes the file and answers.
func (w *Wallet) unload(m *closeWallet) {
	switch {
	case w.scan != nil:
		m.Answer(messages.Done{}, errRescanning)
		return
	case !w.live, w.closed:
		m.Answer(messages.Done{}, files.ErrLoading)
		return
	}
	w.ledger.Txs().SaveBestBlock(w.position())
	w.closed = true
	w.cfg.Tip.Unsubscribe(w.c)
	w.pool.leave()
	w.beside(func(j *ask.Job) {
		err := w.close(j)
		_ = w.doAlways(j, func() { m.Answer(messages.Done{}, err) }) // else the actor's end answers
	})
}

// close closes the file when it has all changes, including the changes of jobs that still run. If it cannot be written,
// the rest of the changes comes from the chain again.
func (w *Wallet) close(j *ask.Job) error {
	var failed error
	for {
		var left *batch
		err := w.release(j, func() bool {
			if left = w.writer.writing; failed == nil {
				left = w.writer.add(w.ledger.TakeChanges(), nil)
			}
			return left == nil
		})
		if left == nil {
			return err
		}
		if err = left.wait(j); err != nil && failed == nil {
			failed = err
			w.cfg.Log.Warn("wallet unloaded without its last changes", "wallet", w.Label(), "err", failed)
		}
	}
}

// release closes the file, if it may be closed now. It does not wait for other jobs.
func (w *Wallet) release(j *ask.Job, may func() bool) error {
	var file *walletdb.DB
	released := false
	err := w.doAlways(j, func() {
		if released = may(); released {
			file = w.writer.file
			w.forget()
		}
	})
	if err != nil || !released {
		return err
	}
	if file != nil {
		err = file.Close()
	}
	w.cfg.Forget()
	return err
}

// stop ends all workers and closes the file. Changes that are not on disk yet
// are written only if the state can be trusted.
func (w *Wallet) stop(trusted bool) {
	w.pool.leave()
	w.payments.Close() // callers are answered as the actor stops
	w.others.Close()
	w.nonces.Zero()
	// A ledger that is neither live nor rescanning has not seen the blocks up
	// to its tip yet.
	if trusted && w.ledger != nil && (w.live || w.scan != nil) {
		w.ledger.Txs().SaveBestBlock(w.position())
		if err := w.writer.rest(w.ledger.TakeChanges()); err != nil {
			w.cfg.Log.Error("wallet not written", "wallet", w.Label(), "err", err)
		}
	}
	if w.fresh != nil {
		w.writer.file, w.ledger, w.fresh = w.fresh.File, w.fresh.Ledger, nil
	}
	file := w.writer.file
	w.forget()
	if _, restarting := w.c.Message().(*actor.Restarting); restarting && w.loaded.Load() && w.fault.present() {
		w.fault.keep(file)
		return
	}
	if w.fault.present() {
		w.warn("") // and the log has told what is not in the file
	}
	if file != nil {
		if err := file.Close(); err != nil {
			w.cfg.Log.Error("wallet not closed cleanly", "wallet", w.Label(), "err", err)
		}
	}
}

// loadingError puts the reason why a wallet was not loaded into words.
func (s *spec) loadingError(err error) error {
	switch {
	case codes.IsAnswer(err):
		return err
	case errors.Is(err, ask.ErrRestarted):
		return codes.Errorf(codes.Wallet, "Wallet loading failed. %s", s.fault.reason(ask.ErrRestarted))
	case errors.Is(err, ask.ErrStopped):
		return codes.Errorf(codes.Wallet, "Wallet loading failed. %v", ask.ErrStopped)
	}
	return codes.Errorf(codes.Wallet, "Wallet loading failed. %v", err)
}
