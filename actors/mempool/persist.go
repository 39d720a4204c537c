package mempool

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// imported says that the chain has read the block files it was given.
type imported struct{}

// loading is the reading of a file.
type loading struct {
	call                                     *ask.Call[messages.LoadPool, messages.Done] // nil: at start
	path                                     string
	file                                     *nodefiles.PoolReader
	keepTimes, deltas, unbroadcast           bool
	accepted, failed, expired, there, sought int
}

// poolFile reads and writes the file of a pool.
type poolFile struct {
	m      *Mempool
	loaded bool // the file was read, or there is none to read
	loader *ask.Lane
	saver  *ask.Lane
}

// start reads the pool's file when the chain is complete.
func (f *poolFile) start(c actor.Context) {
	ctx := f.m.ctx
	ask.Then(ctx, c, f.m.cfg.Chain, messages.WaitImported{}, func(messages.Done, error) any {
		if ctx.Err() != nil {
			return nil // an instance before this one asked
		}
		return imported{}
	})
}

func (f *poolFile) close() {
	f.saver.Close()
	f.loader.Close()
}

func (f *poolFile) load(c actor.Context) {
	if !f.m.cfg.Persist {
		f.loaded = true
		return
	}
	f.readFile(c, &loading{path: f.m.cfg.File, keepTimes: true, deltas: true, unbroadcast: true})
}

// loadPool reads a file by request.
func (m *Mempool) loadPool(c actor.Context, call *ask.Call[messages.LoadPool, messages.Done]) {
	q := &call.Req
	m.file.readFile(c, &loading{
		call: call, path: q.Path, keepTimes: q.KeepTimes, deltas: q.Deltas, unbroadcast: q.Unbroadcast,
	})
}

func (f *poolFile) readFile(c actor.Context, l *loading) {
	f.loader.Add(c, func(j *ask.Job) {
		file, err := nodefiles.OpenPool(l.path)
		if err == nil {
			l.file = file
			f.readPart(c, j, l)
			return
		}
		_ = j.Do(func() { f.read(c, l, nil, err) }) // with an error the actor has ended
	})
}

// readOn reads the next part of a file.
func (f *poolFile) readOn(c actor.Context, l *loading) {
	f.loader.Add(c, func(j *ask.Job) { f.readPart(c, j, l) })
}

func (f *poolFile) readPart(c actor.Context, j *ask.Job, l *loading) {
	content, err := l.file.Next(filePart)
	_ = j.Do(func() { f.read(c, l, content, err) }) // as above
}

// filePart is how many bytes of a file are checked before more is read.
const filePart = 4 << 20

// read takes over what a part of a file holds, one transaction after the other. With io.EOF it is the last part.
func (f *poolFile) read(c actor.Context, l *loading, content *nodefiles.PoolContent, err error) {
	if content == nil {
		if !errors.Is(err, os.ErrNotExist) {
			f.m.cfg.Log.Warn("memory pool file cannot be read", "err", err)
		}
		f.endLoading(l, err)
		return
	}
	now := f.m.now()
	for _, tx := range content.Txs {
		if l.deltas && tx.Delta != 0 {
			f.prioritiseLater(tx.Tx, tx.Delta)
		}
		if !l.keepTimes {
			tx.Time = now
		}
		if tx.Time <= now-f.m.cfg.Policy.Expiry {
			l.expired++
			continue
		}
		f.m.enqueue(c, f.restoring(l, tx))
	}
	f.m.enqueue(c, f.finishLoad(l, content, err))
}

// prioritiseLater notes an operator's addition when no worker has the pool.
func (f *poolFile) prioritiseLater(tx *wire.MsgTx, delta int64) {
	id := tx.TxHash()
	f.m.reads = append(f.m.reads, func() { f.m.pool.Prioritise(&id, delta) })
}

// restoring is the task of checking a transaction of the file.
func (f *poolFile) restoring(l *loading, tx nodefiles.PoolTx) *task {
	return &task{
		ctx: f.m.ctx, outs: txpool.Needs(tx.Tx), fail: func(error) { l.failed++ },
		run: func(coins txpool.Coins, now txpool.Now) func(actor.Context) {
			id := tx.Tx.TxHash()
			there := f.m.pool.Lookup(&id) != nil
			r := f.m.pool.Accept(tx.Tx, coins, now, txpool.Options{Time: tx.Time})
			return func(actor.Context) {
				switch {
				case r.Rejected == nil:
					l.accepted++
				case there:
					l.there++
				default:
					l.failed++
				}
			}
		},
	}
}

// finishLoad is the task that comes after all transactions of a part of a file.
func (f *poolFile) finishLoad(l *loading, content *nodefiles.PoolContent, err error) *task {
	return &task{
		ctx: f.m.ctx, fail: func(err error) { f.endLoading(l, err) },
		run: func(txpool.Coins, txpool.Now) func(actor.Context) {
			var later []messages.RelayTx
			if l.deltas {
				for id, delta := range content.Deltas {
					f.m.pool.Prioritise(&id, delta)
				}
			}
			if l.unbroadcast {
				for _, id := range content.Unbroadcast {
					f.m.pool.SetUnbroadcast(&id, true)
					if e := f.m.pool.Lookup(&id); e != nil {
						later = append(later, messages.RelayTx{ID: id, WID: e.WID, Own: true, Later: true})
					}
				}
				l.sought += len(content.Unbroadcast)
			}
			return func(c actor.Context) {
				f.m.publish(later)
				switch {
				case err == nil:
					f.readOn(c, l)
				case errors.Is(err, io.EOF):
					f.endLoading(l, nil)
				default:
					f.endLoading(l, err)
				}
			}
		},
	}
}

func (f *poolFile) endLoading(l *loading, err error) {
	if l.file != nil {
		_ = l.file.Close() // it was only read
	}
	if err == nil {
		f.m.cfg.Log.Info("imported memory pool", "succeeded", l.accepted, "failed", l.failed,
			"expired", l.expired, "there", l.there, "unbroadcast", l.sought)
	}
	if l.call != nil {
		if err != nil {
			err = fmt.Errorf("%w: %w", messages.ErrPoolFile, err)
		}
		l.call.Answer(messages.Done{}, err)
		return
	}
	f.loaded = true
}

// content is what the file is to hold. No worker may have the pool.
func (f *poolFile) content() *nodefiles.PoolContent {
	content := &nodefiles.PoolContent{Deltas: f.m.pool.Prioritised(), Unbroadcast: f.m.pool.AllUnbroadcast()}
	for _, e := range f.m.pool.Ordered() {
		content.Txs = append(content.Txs, nodefiles.PoolTx{Tx: e.Tx, Time: e.Time, Delta: e.Modified - e.Fee})
	}
	return content
}

// savePool writes the file by request.
func (m *Mempool) savePool(c actor.Context, call *ask.Call[messages.SavePool, string]) {
	f := &m.file
	if !f.loaded {
		call.Answer("", messages.ErrPoolLoading)
		return
	}
	m.reads = append(m.reads, func() {
		content := f.content()
		f.saver.Add(c, func(*ask.Job) {
			err := nodefiles.SavePool(m.cfg.File, content, m.cfg.OldFile)
			if err != nil {
				err = fmt.Errorf("%w: %w", messages.ErrPoolFile, err)
			}
			call.Answer(m.cfg.File, err)
		})
	})
	m.next(c)
}

// saveAtEnd writes the file when the node stops. A file that was not read yet
// is kept.
func (f *poolFile) saveAtEnd() {
	if !f.loaded || !f.m.cfg.Persist {
		return
	}
	if err := nodefiles.SavePool(f.m.cfg.File, f.content(), f.m.cfg.OldFile); err != nil {
		f.m.cfg.Log.Warn("memory pool not saved", "err", err)
		if f.m.cfg.NotSaved != nil {
			f.m.cfg.NotSaved(fmt.Errorf("memory pool not saved: %w", err))
		}
	}
}
