package wallets

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// Wallet is the actor of one wallet. It owns the ledger and the open file.
//
// The ledger answers from memory. A worker writes the changes of a request to
// disk before the request is answered; meanwhile the actor serves other
// requests. When the file cannot be written the actor fails, because the ledger
// is ahead of the file then: the next instance has the contents of the file,
// see [fault].
type Wallet struct {
	*home

	mode  actor.Behavior // opening, ready or closed
	fresh *opened        // has been opened, and is not yet taken over
	queue []queued       // requests that came before the wallet was ready

	ledger   *wallet.Wallet
	warnings []string

	live bool // loaded, and following the chain

	savesPosition bool // the position is to be written after the step
	awaitsKeys    bool // no step begins before there are the keys that the ledger wants

	again *txs.Block // the tip, which is looked at again when there are those keys; nil: there is no need
	busy  bool       // handling a message; stays set if the actor failed meanwhile

	pool     poolState
	writer   writer
	follower *follow.Follower
	lanes    lanes
	scan     *scan // nil: none
	nonces   rawtx.MusigNonces
	spending spend.Options // with the changes made since the wallet was loaded
	unlocker unlocker
	keygen   keygen
}

// newWallet returns the producer of a wallet's actor.
func newWallet(h *home) actor.Producer {
	begun := false
	return func() actor.Actor {
		w := &Wallet{home: h, mode: actor.NewBehavior()}
		w.keygen = keygen{w: w, lines: keyLog{home: h}}
		w.writer = writer{Wallet: w}
		w.pool = poolState{Wallet: w}
		w.lanes, w.spending = newLanes(), *h.cfg.Spending
		w.follower = w.follow()
		w.mode.Become(w.opening)
		if begun && !h.isAttached() {
			w.mode.Become(w.failed)
		}
		begun = true
		return w
	}
}

// Receive implements actor.Actor.
func (w *Wallet) Receive(c actor.Context) {
	switch c.Message().(type) {
	case *actor.Stopping:
		w.follower.Receive(c)
		w.stop(c, !w.busy)
		return
	case *actor.Restarting:
		w.follower.Receive(c)
		w.stop(c, false)
		return
	}
	w.busy = true
	w.handle(c)
	w.busy = false
}

func (w *Wallet) handle(c actor.Context) {
	if w.follower.Receive(c) {
		return
	}
	switch c.Message().(type) {
	case lockTimer:
		w.lockTimer(c)
	case fillDeferred:
		w.keygen.fill(c)
	case messages.TipChanged: // the follower's
	default:
		if !w.pool.handle(c) {
			w.mode.Receive(c)
		}
	}
}

// failed is the mode of an instance whose predecessor failed before the wallet
// was loaded. It tells the registry, which answers the request for the wallet.
func (w *Wallet) failed(c actor.Context) {
	if _, ok := c.Message().(*actor.Started); ok {
		w.refuse(c, codes.Errorf(codes.Wallet, "Wallet loading failed. %s", w.fault.reason(ask.ErrRestarted)))
		return
	}
	ask.Unhandled(c)
}

// save writes what has changed, and then calls back: at once if there is nothing to
// wait for. A nil callback is not called.
func (w *Wallet) save(c actor.Context, then func(error)) {
	w.keygen.makeNext(c)
	w.writer.add(c, w.ledger.TakeChanges(), then)
}

// opening waits for the file, and for the blocks that the wallet has missed.
func (w *Wallet) opening(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		open := w.reopen
		if w.first != nil && !w.isAttached() {
			open = w.first
		}
		w.lanes.scans.Add(c, func(j *ask.Job) {
			if err := w.load(j, c, open); err != nil {
				_ = w.doAlways(j, func() { w.refuse(c, err) })
			}
		})
	case *closeWallet:
		m.Answer(messages.Done{}, errLoading)
	case *ask.Call[messages.AbortRescan, bool]:
		m.Answer(w.scan.abort(), nil)
	case actor.AutoReceiveMessage, actor.SystemMessage:
	default:
		w.queue = append(w.queue, queued{c, c.Message(), c.Sender()})
	}
}

// queued is the context of a message that has waited.
type queued struct {
	actor.Context

	message any
	sender  *actor.PID
}

// Message returns the message that has waited, and not the message that the actor
// handles meanwhile.
func (q queued) Message() any { return q.message }

// Sender returns the sender of that message.
func (q queued) Sender() *actor.PID { return q.sender }

// load opens the file, looks through what was missed, and joins the pool.
func (w *Wallet) load(j *ask.Job, c actor.Context, open func(context.Context) (*opened, error)) error {
	o, err := open(j.Context())
	if err != nil {
		return err
	}
	w.fresh = o // the actor closes it if it stops now
	err = w.doAlways(j, func() {
		w.writer.file, w.ledger, w.warnings, w.fresh = o.file, o.ledger, o.warnings, nil
		w.writer.changes = o.unwritten
	})
	if err == nil && o.catchUp.scan {
		err = w.catchUp(j, c, o.catchUp)
	}
	if err != nil {
		return err
	}
	w.unmark()
	err = w.do(j, func() { w.settle(true) })
	if err == nil {
		err = w.pool.join(j, c)
	}
	if err == nil {
		err = w.do(j, func() { w.attached(c) })
	}
	return err
}

func (w *Wallet) attached(c actor.Context) {
	w.live = true
	w.mode.Become(w.ready)
	w.logSizes(w.ledger)
	w.tellRegistry(c, arrived{w.home, w.warnings})
	info := w.ledger.Info()
	w.cfg.Log.Info("wallet loaded", "wallet", w.label(), "transactions", info.TxCount, "keypool", info.KeypoolSize+
		max(info.KeypoolSizeInternal, 0))
	queue := w.queue
	w.queue = nil
	w.pool.take(c)
	for _, m := range queue {
		w.ready(m)
	}
	w.follower.Wake(c)
	if w.ledger != nil {
		if w.first == nil { // a restored wallet keeps the answers of Core until its next load
			w.exclude(c)
		}
		w.keygen.checkKeys(c)
		w.keygen.deferFill(c)
		w.keygen.makeNext(c)
	}
}

// refuse gives up on the wallet and takes back what was begun. The registry,
// told of it, stops the actor.
func (w *Wallet) refuse(c actor.Context, err error) {
	if !isAnswer(err) {
		err = codes.Errorf(codes.Wallet, "Wallet loading failed. %v", err)
	}
	w.mode.Become(w.closed)
	w.release(c, func(failed error) {
		if failed != nil {
			w.cfg.Log.Error("beginnings of a wallet stay", "wallet", w.label(), "err", failed)
		}
		w.tellRegistry(c, refused{w.home, c.Self(), err})
	})
}

// release closes the file in a worker, and takes back what was begun for a
// wallet that is not loaded.
func (w *Wallet) release(c actor.Context, then func(error)) {
	file, undo := w.writer.file, w.settle(false)
	w.forget()
	w.lanes.beside.Add(c, func(j *ask.Job) {
		var err error
		if file != nil {
			err = file.Close()
		}
		w.cfg.Forget()
		err = errors.Join(err, undo())
		_ = w.doAlways(j, func() { then(err) })
	})
}

// forget wipes the secrets.
func (w *Wallet) forget() {
	w.live = false
	w.unlocker.stop()
	w.keygen.stop()
	if w.ledger != nil {
		w.ledger.Close()
	}
	w.writer.file, w.ledger = nil, nil
}

func (*Wallet) tellRegistry(c actor.Context, msg any) {
	if c.Parent() != nil {
		c.Send(c.Parent(), msg)
	}
}

// ready serves everything.
func (w *Wallet) ready(c actor.Context) {
	if m, ok := c.Message().(*closeWallet); ok {
		w.unload(c, m)
		return
	}
	walletTable.Serve(w, c)
}

// closed has given its file back. Callers are answered as the actor stops.
func (*Wallet) closed(actor.Context) {}

// unload writes what is in memory, closes the file and answers.
func (w *Wallet) unload(c actor.Context, m *closeWallet) {
	if w.scan != nil {
		m.Answer(messages.Done{}, errRescanning)
		return
	}
	w.ledger.Txs().SaveBestBlock(w.position())
	w.mode.Become(w.closed)
	w.cfg.Tip.Unsubscribe(c)
	w.pool.leave(c)
	w.save(c, func(err error) {
		if w.fault.present() { // what is not in the file comes from the chain again
			w.cfg.Log.Warn("wallet unloaded without its last changes", "wallet", w.label(), "err", err)
			err = nil
		}
		w.release(c, func(failed error) { m.Answer(messages.Done{}, errors.Join(err, failed)) })
	})
}

// stop ends all workers and closes the file. Changes that are not on disk yet
// are written only if the state can be trusted.
func (w *Wallet) stop(c actor.Context, trusted bool) {
	w.pool.leave(c)
	w.lanes.close()
	w.nonces.Zero()
	// A ledger that is neither live nor rescanning has not seen the blocks up
	// to its tip yet.
	if trusted && (w.live || w.scan != nil) && !w.undoable() {
		w.ledger.Txs().SaveBestBlock(w.position())
		if err := w.writer.rest(w.ledger.TakeChanges()); err != nil {
			w.cfg.Log.Error("wallet not written", "wallet", w.label(), "err", err)
		}
	}
	if w.fresh != nil {
		w.writer.file, w.ledger, w.fresh = w.fresh.file, w.fresh.ledger, nil
	}
	file := w.writer.file
	w.forget()
	_, restarting := c.Message().(*actor.Restarting)
	if restarting && w.isAttached() && w.fault.present() {
		w.fault.keep(file)
		return
	}
	if w.fault.present() {
		w.warn("") // and the log has told what is not in the file
	}
	if file != nil {
		if err := file.Close(); err != nil {
			w.cfg.Log.Error("wallet not closed cleanly", "wallet", w.label(), "err", err)
		}
	}
	if !restarting && !w.isAttached() {
		if err := w.settle(false)(); err != nil {
			w.cfg.Log.Error("beginnings of a wallet stay", "wallet", w.label(), "err", err)
		}
	}
}
