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

	mode   actor.Behavior  // opening, ready or closed
	ctx    context.Context //nolint:containedctx // ends the workers when the actor stops
	cancel context.CancelFunc

	opener *ask.Worker // opens, attaches or closes
	fresh  *opened     // what the opener has made, not yet taken over
	queue  []queued    // requests that came before the wallet was ready

	ledger   *wallet.Wallet
	warnings []string

	live bool // loaded, and following the chain

	savesPosition bool // the position is to be written after the step
	awaitsKeys    bool // no step begins before there are the keys that the ledger wants

	again *txs.Block // the tip, which is looked at again when there are those keys; nil: there is no need
	busy  bool       // handling a message; stays set if the actor failed meanwhile

	pool      poolState
	writer    writer
	follower  *follow.Follower
	lanes     lanes
	scan      *scan // nil: none
	nonces    rawtx.MusigNonces
	spending  spend.Options // with the changes made since the wallet was loaded
	publisher publisher
	tasks     ask.Tasks
	unlocker  unlocker
	keygen    keygen
}

// newWallet returns the producer of a wallet's actor.
func newWallet(h *home) actor.Producer {
	begun := false
	return func() actor.Actor {
		w := &Wallet{home: h, mode: actor.NewBehavior()}
		w.ctx, w.cancel = context.WithCancel(context.Background())
		w.publisher = publisher{home: h, of: w}
		w.keygen = keygen{w: w, lines: keyLog{home: h}}
		w.writer = writer{home: h, publish: w.publisher.publish}
		w.pool = poolState{home: h, of: poolView{w}, ctx: w.ctx, conflict: w.publisher.conflict}
		w.lanes, w.spending = newLanes(), *h.cfg.Spending
		w.follower = w.follow()
		w.pool.wake = w.follower.Wake
		w.mode.Become(w.opening)
		if begun && !h.isAttached() {
			w.mode.Become(w.failed)
		}
		begun = true
		return w
	}
}

// Messages of a wallet to itself.
type (
	// openDone says that the file is open.
	openDone struct{ err error }
	// attached says that the wallet is loaded completely.
	attached struct{}
	// closedFile says that the file is closed.
	closedFile struct {
		err  error
		then func(error)
	}
)

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
	switch m := c.Message().(type) {
	case closedFile:
		w.opener = nil
		m.then(m.err)
	case written:
		w.writer.wrote(c, m)
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

// open returns the wallet in memory, nil when it is closed.
func (w *Wallet) open() *wallet.Wallet { return w.ledger }

// save writes what has changed, and then calls back: at once if there is nothing to
// wait for. A nil callback is not called.
func (w *Wallet) save(c actor.Context, then func(error)) {
	w.keygen.makeNext(c)
	w.writer.add(c, w.ledger.TakeChanges(), then)
}

// beside runs work in a worker, and what it returns in the actor. When the wallet has
// been closed meanwhile nothing is left to do: callers are answered as the actor stops.
func (w *Wallet) beside(c actor.Context, work func() (then func())) {
	w.tasks.Go(c, func() func() {
		then := work()
		return func() {
			if w.ledger != nil {
				then()
			}
		}
	})
}

// opening waits for the file, and for the blocks that the wallet has missed.
func (w *Wallet) opening(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		open := w.reopen
		if w.first != nil && !w.isAttached() {
			open = w.first
		}
		w.opener = ask.Go(c, func() any {
			o, err := open(w.ctx)
			w.fresh = o
			return openDone{err}
		})
	case openDone:
		w.opened(c, m.err)
	case attached:
		w.opener = nil
		w.settle(true)
		w.pool.sync(c, func() { w.attached(c) })
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

// opened takes the file over and looks through what was missed.
func (w *Wallet) opened(c actor.Context, err error) {
	w.opener = nil
	if err != nil {
		w.refuse(c, err)
		return
	}
	o := w.fresh
	w.fresh = nil
	w.writer.file, w.ledger, w.warnings = o.file, o.ledger, o.warnings
	w.writer.changes = o.unwritten
	if !o.catchUp.scan {
		w.attach(c)
		return
	}
	w.catchUp(c, o.catchUp)
}

// attach ends the loading.
func (w *Wallet) attach(c actor.Context) {
	w.opener = ask.Go(c, func() any {
		w.unmark()
		return attached{}
	})
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
	w.opener = ask.Go(c, func() any {
		var err error
		if file != nil {
			err = file.Close()
		}
		w.cfg.Forget()
		return closedFile{errors.Join(err, undo()), then}
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
	w.cancel()
	w.lanes.close()
	w.opener.Drop()
	w.tasks.Drop()
	w.nonces.Zero()
	w.writer.worker.Drop()
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
