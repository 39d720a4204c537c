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
	"github.com/seed61375155/trawl/store/poolfile"
)

type (
	// imported says that the chain has read the block files it was given.
	imported struct{}

	// fileRead brings the content of a file.
	fileRead struct {
		content *poolfile.Content // a part of it
		err     error             // io.EOF: it was the last one
		loading *loading
	}

	// saved says that the file was written.
	saved struct{ answer func() }
)

// loading is the reading of a file.
type loading struct {
	call                                     *loadPool // nil: at start
	path                                     string
	file                                     *poolfile.Reader
	keepTimes, deltas, unbroadcast           bool
	accepted, failed, expired, there, sought int
}

// start reads the pool's file when the chain is complete.
func (m *Mempool) start(c actor.Context) {
	ask.Then(m.ctx, c, m.cfg.Chain, messages.WaitImported{}, func(messages.Done, error) any { return imported{} })
	m.next(c)
}

func (m *Mempool) load(c actor.Context) {
	if !m.cfg.Persist {
		m.loaded = true
		return
	}
	m.readFile(c, &loading{path: m.cfg.File, keepTimes: true, deltas: true, unbroadcast: true})
}

// loadFile reads a file by request.
func (m *Mempool) loadFile(c actor.Context, call *loadPool) {
	q := &call.Req
	m.readFile(c, &loading{
		call: call, path: q.Path, keepTimes: q.KeepTimes, deltas: q.Deltas, unbroadcast: q.Unbroadcast,
	})
}

func (m *Mempool) readFile(c actor.Context, l *loading) {
	before := m.loader
	m.loader = ask.Go(c, func() any {
		before.Wait()
		var err error
		if l.file, err = poolfile.Open(l.path); err != nil {
			return fileRead{nil, err, l}
		}
		content, err := l.file.Next(filePart)
		return fileRead{content, err, l}
	})
}

// readOn reads the next part of a file.
func (m *Mempool) readOn(c actor.Context, l *loading) {
	m.loader = ask.Go(c, func() any {
		content, err := l.file.Next(filePart)
		return fileRead{content, err, l}
	})
}

// filePart is how many bytes of a file are judged before more is read.
const filePart = 4 << 20

// read takes over what a part of a file holds, one transaction after the other.
func (m *Mempool) read(c actor.Context, msg fileRead) {
	l := msg.loading
	if msg.content == nil {
		if !errors.Is(msg.err, os.ErrNotExist) {
			m.cfg.Log.Warn("memory pool file cannot be read", "err", msg.err)
		}
		m.endLoading(l, msg.err)
		return
	}
	now := m.now()
	for _, tx := range msg.content.Txs {
		if l.deltas && tx.Delta != 0 {
			m.prioritiseLater(tx.Tx, tx.Delta)
		}
		if !l.keepTimes {
			tx.Time = now
		}
		if tx.Time <= now-m.cfg.Policy.Expiry {
			l.expired++
			continue
		}
		m.enqueue(c, m.restoring(l, tx))
	}
	m.enqueue(c, m.concluding(l, msg))
}

// prioritiseLater notes an operator's addition when no worker has the pool.
func (m *Mempool) prioritiseLater(tx *wire.MsgTx, delta int64) {
	id := tx.TxHash()
	m.reads = append(m.reads, func() { m.pool.Prioritise(&id, delta) })
}

// restoring is the task of judging a transaction of the file.
func (m *Mempool) restoring(l *loading, tx poolfile.Tx) *task {
	return &task{
		ctx: m.ctx, outs: txpool.Needs(tx.Tx), fail: func(error) { l.failed++ },
		run: func(coins txpool.Coins, now txpool.Now) func(actor.Context) {
			id := tx.Tx.TxHash()
			there := m.pool.Lookup(&id) != nil
			r := m.pool.Accept(tx.Tx, coins, now, txpool.Options{Time: tx.Time})
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

// concluding is the task that comes after all transactions of a part of a file.
func (m *Mempool) concluding(l *loading, msg fileRead) *task {
	return &task{
		ctx: m.ctx, fail: func(err error) { m.endLoading(l, err) },
		run: func(txpool.Coins, txpool.Now) func(actor.Context) {
			if l.deltas {
				for id, delta := range msg.content.Deltas {
					m.pool.Prioritise(&id, delta)
				}
			}
			if l.unbroadcast {
				for _, id := range msg.content.Unbroadcast {
					m.pool.SetUnbroadcast(&id, true)
				}
				l.sought += len(msg.content.Unbroadcast)
			}
			return func(c actor.Context) {
				switch {
				case msg.err == nil:
					m.readOn(c, l)
				case errors.Is(msg.err, io.EOF):
					m.endLoading(l, nil)
				default:
					m.endLoading(l, msg.err)
				}
			}
		},
	}
}

func (m *Mempool) endLoading(l *loading, err error) {
	if l.file != nil {
		_ = l.file.Close() // it was only read
	}
	if err == nil {
		m.cfg.Log.Info("imported memory pool", "succeeded", l.accepted, "failed", l.failed,
			"expired", l.expired, "there", l.there, "unbroadcast", l.sought)
	}
	if l.call != nil {
		if err != nil {
			err = fmt.Errorf("%w: %w", messages.ErrPoolFile, err)
		}
		l.call.Answer(messages.Done{}, err)
		return
	}
	m.loaded = true
}

// content is what the file is to hold. No worker may have the pool.
func (m *Mempool) content() *poolfile.Content {
	content := &poolfile.Content{Deltas: m.pool.Prioritised(), Unbroadcast: m.pool.AllUnbroadcast()}
	for _, e := range m.pool.Ordered() {
		content.Txs = append(content.Txs, poolfile.Tx{Tx: e.Tx, Time: e.Time, Delta: e.Modified - e.Fee})
	}
	return content
}

// save writes the file by request.
func (m *Mempool) save(c actor.Context, call *savePool) {
	if !m.loaded {
		call.Answer("", messages.ErrPoolLoading)
		return
	}
	m.reads = append(m.reads, func() {
		content := m.content()
		before := m.saver
		m.saver = ask.Go(c, func() any {
			before.Wait()
			err := poolfile.Save(m.cfg.File, content, m.cfg.OldFile)
			if err != nil {
				err = fmt.Errorf("%w: %w", messages.ErrPoolFile, err)
			}
			return saved{func() { call.Answer(m.cfg.File, err) }}
		})
	})
	m.next(c)
}

// saveAtEnd writes the file when the node stops. One that was not read yet is
// kept.
func (m *Mempool) saveAtEnd() {
	if !m.loaded || !m.cfg.Persist {
		return
	}
	if err := poolfile.Save(m.cfg.File, m.content(), m.cfg.OldFile); err != nil {
		m.cfg.Log.Warn("memory pool not saved", "err", err)
		if m.cfg.NotSaved != nil {
			m.cfg.NotSaved(fmt.Errorf("memory pool not saved: %w", err))
		}
	}
}
