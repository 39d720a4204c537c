package mempool

import (
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

const (
	// saveFees is how often the fee estimates are written.
	saveFees = time.Hour

	// maxFeeTipAge is how old the tip may be where a new transaction says something about fees.
	maxFeeTipAge = 3 * time.Hour
)

// Fees says how fee rates are estimated.
type Fees struct {
	File    string // in which the estimates are kept between two runs
	Form    feeestimate.Form
	Next    bool // rates are estimated by the next block, too
	Debug   bool // that they are written is told to those who debug estimates alone, with the whole path
	Stale   bool // use it however old it is
	Initial *chainview.InitialDownload
	Disk    vfs.FS // that is written; nil: the system's
}

// NewFees keeps the estimates of a network's nodes in a data directory.
func NewFees(dir string, of dialect.Fees, stale bool, initial *chainview.InitialDownload) *Fees {
	return &Fees{
		File: filepath.Join(dir, "fee_estimates.dat"), Form: of.Form, Next: of.NextBlock, Debug: of.DebugSaved,
		Stale: stale, Initial: initial,
	}
}

// Unless estimates nothing where off is set: on a node that sees no transactions of peers, whose
// estimates would never change.
func (f *Fees) Unless(off bool) *Fees {
	if off {
		return nil
	}
	return f
}

// save writes the estimates, and logs whether that succeeded.
func (f *Fees) save(content []byte, log *slog.Logger) {
	disk := f.Disk
	if disk == nil {
		disk = vfs.OS
	}
	if err := nodefiles.SaveFees(disk, f.File, content); err != nil {
		log.Warn("fee estimates not saved", "err", err)
		return
	}
	level, name := slog.LevelInfo, filepath.Base(f.File)
	if f.Debug {
		log, level, name = log.With(slog.String(corelog.CategoryKey, "estimatefee")), slog.LevelDebug, f.File
	}
	corelog.Printf(log, level, "Flushed fee estimates to %s.", name)
}

// fees estimates fee rates from the changes of the pool. The actor or worker that has the pool
// also has the estimator.
type fees struct {
	m     *Mempool
	known *feeestimate.Estimator // nil: nothing is estimated
	mined feeestimate.Coverage
	saver *ask.Lane
	timer ask.Timer
	due   time.Time // when the estimates are to be written
}

// saveFeesNow says that it is time to write the estimates.
type saveFeesNow struct{}

func newFees(m *Mempool) fees {
	f := fees{m: m, saver: ask.NewLane(1)}
	if m.cfg.Fees == nil {
		return f
	}
	var err error
	if f.known, err = nodefiles.OpenFees(m.cfg.Fees.Form, m.cfg.Fees.File, m.cfg.Fees.Stale, time.Now()); err != nil {
		m.cfg.Log.Warn("fee estimates of the last run are not used", "err", err)
	}
	return f
}

// connect notes a block that the pool is about to see, and see does so after that.
func (f *fees) connect(block *wire.MsgBlock, height int32, see func()) {
	if f.known == nil {
		see()
		return
	}
	pool := f.m.pool
	var confirmed []chainhash.Hash
	for _, tx := range block.Transactions {
		if id := tx.TxHash(); pool.Lookup(&id) != nil {
			confirmed = append(confirmed, id)
		}
	}
	f.cover(block, height)
	before := len(pool.Changes())
	see()
	for _, change := range pool.Changes()[before:] {
		if change.Reason != messages.PoolBlock {
			f.known.Remove(change.ID) // a block has something else in its place
		}
	}
	f.known.Connect(height, confirmed)
}

// pass notes blocks that cannot change the pool.
func (f *fees) pass(reader chainview.Reader, blocks []*chainview.Block) {
	if f.known == nil {
		return
	}
	for _, b := range blocks {
		f.known.Connect(b.Height, nil)
	}
	f.passed(reader, blocks)
}

// see notes what has changed in the pool.
func (f *fees) see(changes []messages.PoolChange) {
	if f.known == nil || len(changes) == 0 {
		return
	}
	current := f.isCurrent()
	for i := range changes {
		change := &changes[i]
		if !change.Added {
			f.known.Remove(change.ID)
			continue
		}
		if e := f.m.pool.Lookup(&change.ID); e != nil && e.Alone && current && change.VSize > 0 {
			f.known.Add(e.ID, e.Height, e.Fee*1000/e.VSize)
		}
	}
}

// isCurrent reports whether the chain is up to date, so that the time until a transaction is
// confirmed means something.
func (f *fees) isCurrent() bool {
	reader := f.m.cfg.View.Open()
	if reader == nil || f.m.at == nil {
		return false
	}
	tip := f.m.at
	return !f.m.cfg.Fees.Initial.Lasts(tip) && !tip.Time().Before(f.m.cfg.Now().Add(-maxFeeTipAge)) &&
		tip.Height >= chainview.BestHeader(reader, reader.Active()).Height-1
}

// start has the estimates written from time to time.
func (f *fees) start(c actor.Context) {
	if f.known == nil {
		return
	}
	f.due = time.Now().Add(saveFees)
	f.timer.Set(c, saveFees, saveFeesNow{})
}

// advanceTimers writes the estimates where that would be due within a time.
func (m *Mempool) advanceTimers(c actor.Context, call *ask.Call[messages.AdvanceTimers, messages.Done]) {
	f, by := &m.fees, call.Req.By
	if f.known == nil || f.due.After(time.Now().Add(by)) {
		f.due = f.due.Add(-by)
		call.Answer(messages.Done{}, nil)
		return
	}
	f.timer.Stop()
	f.save(c, func() { call.Answer(messages.Done{}, nil) })
}

// save has a worker write the estimates, and call back.
func (f *fees) save(c actor.Context, then func()) {
	f.m.reads = append(f.m.reads, func() {
		content := f.known.Encode()
		f.saver.Add(c, func(*ask.Job) {
			f.m.cfg.Fees.save(content, f.m.cfg.Log)
			then()
		})
	})
	f.start(c)
	f.m.next(c)
}

func (f *fees) close() {
	f.timer.Stop()
	f.saver.Close()
}

// saveAtEnd writes the estimates when the node stops. Transactions that wait then count as not
// confirmed in time.
func (f *fees) saveAtEnd() {
	if f.known == nil {
		return
	}
	f.known.Forget()
	f.m.cfg.Fees.save(f.known.Encode(), f.m.cfg.Log)
}

// estimate answers for one target.
func (f *fees) estimate(q messages.FeeQuery) messages.FeeEstimate {
	if f.known == nil {
		return messages.FeeEstimate{Blocks: q.Target}
	}
	e := f.known.Smart(q.Target, q.Conservative)
	return messages.FeeEstimate{Rate: e.Rate, Blocks: e.Blocks, Reason: e.Reason}
}

// estimates answers for several targets.
func (f *fees) estimates(list []messages.FeeQuery) (all []messages.FeeEstimate) {
	for _, q := range list {
		all = append(all, f.estimate(q))
	}
	return all
}

func (m *Mempool) estimateFee(q *messages.EstimateFee) (messages.FeeEstimate, error) {
	if m.fees.known == nil {
		return messages.FeeEstimate{}, messages.ErrNoFeeEstimates
	}
	info := m.info()
	least := max(info.MinFee, info.MinRelayFee)
	answer := m.fees.estimateBy(q, &info, least)
	answer.MinFee = least
	return answer, nil
}

// estimateRaw answers by all horizons that reach the target.
func (m *Mempool) estimateRaw(q *messages.EstimateRawFee) (all messages.RawFeeEstimates, err error) {
	known := m.fees.known
	if known == nil {
		return messages.RawFeeEstimates{}, messages.ErrNoFeeEstimates
	}
	for h := feeestimate.Short; h <= feeestimate.Long; h++ {
		if q.Target > known.Reach(h) {
			continue
		}
		rate, found := known.Raw(h, q.Target, q.Share)
		all = append(all, messages.RawFeeEstimate{
			Horizon: h.String(), Rate: rate, Decay: found.Decay, Scale: found.Scale,
			Pass: messages.FeeRange(found.Pass), Fail: messages.FeeRange(found.Fail),
		})
	}
	return slices.Clip(all), nil
}
