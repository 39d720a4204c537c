package wallets

import (
	"cmp"
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// importTime is how long a wallet adds descriptors before it serves others.
const importTime = time.Millisecond

// importing is an import of descriptors until it is answered. Meanwhile there is no
// other, nor a rescan but its own, and the wallet is not locked.
type importing struct {
	call  *ask.Call[messages.ImportDescriptors, []messages.ImportResult]
	began time.Time
	times keys.ImportTimes
	got   keys.Imported // so far

	added   bool     // all descriptors are there
	rescans bool     // the rescan has begun
	aborted bool     // the rescan is not wanted
	waiting []func() // to be called when all descriptors are there
}

// imported is what imports need of a wallet.
type imported interface {
	open() *wallet.Wallet // nil: it is closed
	beside(c actor.Context, work func() (then func()))
	save(c actor.Context, then func(error))
	importTimes() keys.ImportTimes
	rescanFrom(c actor.Context, from int64, done func(result, error))
}

// imports adds descriptors to a wallet.
type imports struct {
	*home
	of    imported
	ctx   context.Context //nolint:containedctx // ends the workers when the actor stops
	ended func(c actor.Context)

	now *importing // nil: none
}

// running reports whether there is an import.
func (d *imports) running() bool { return d.now != nil }

// whenAdded calls back when the descriptors of an import are there: at once if no import
// runs. A list made before that would look like an import of nothing.
func (d *imports) whenAdded(then func()) {
	if d.now == nil || d.now.added {
		then()
		return
	}
	d.now.waiting = append(d.now.waiting, then)
}

// abort has an import end without a rescan; false when it was told before, or there is
// none.
func (d *imports) abort() bool {
	if d.now == nil || d.now.aborted {
		return false
	}
	d.now.aborted = true
	return true
}

// next adds more descriptors, after others have been served.
func (d *imports) next(c actor.Context, m importNext) {
	if m.of == d.now && d.of.open() != nil {
		d.more(c, m.of)
	}
}

// importNext says that others have been served since the last descriptor.
type importNext struct{ of *importing }

// start adds descriptors and looks for what concerns them, unless there is a reason not
// to.
func (d *imports) start(
	c actor.Context, m *ask.Call[messages.ImportDescriptors, []messages.ImportResult], refused error,
) {
	if refused != nil {
		m.Answer(nil, refused)
		return
	}
	i := &importing{call: m, began: time.Now()}
	d.now = i
	jobs := d.of.open().Importer().ImportJobs(m.Req.Items)
	if len(jobs) == 0 {
		i.got.Results = make([]messages.ImportResult, 0, len(m.Req.Items))
		i.times = d.of.importTimes()
		i.got.From = i.times.Tip
		d.more(c, i)
		return
	}
	d.of.beside(c, func() func() {
		batches, err := makeAll(d.ctx, jobs)
		return func() {
			if err == nil {
				err = supply(d.of.open().Pool(), batches)
			}
			defer d.of.open().Pool().Drop()
			if err == nil {
				i.times = d.of.importTimes()
				i.got, err = d.of.open().Importer().Import(m.Req.Items, i.times)
			}
			d.done(c, i, err)
		}
	})
}

// more adds descriptors, one by one, and lets others be served in between.
func (d *imports) more(c actor.Context, i *importing) {
	items := i.call.Req.Items
	for began := time.Now(); len(i.got.Results) < len(items); {
		if time.Since(began) > importTime {
			c.Send(c.Self(), importNext{i})
			return
		}
		n := len(i.got.Results)
		one, err := d.of.open().Importer().Import(items[n:n+1], i.times)
		if err != nil {
			d.done(c, i, err)
			return
		}
		i.got.Results = append(i.got.Results, one.Results...)
		i.got.Rescan = i.got.Rescan || one.Rescan
		i.got.From = min(i.got.From, one.From)
	}
	d.done(c, i, nil)
}

// done answers, after a rescan if one is needed.
func (d *imports) done(c actor.Context, i *importing, err error) {
	if err == nil {
		d.of.open().Importer().EndImport()
	}
	d.tell(i)
	switch {
	case err != nil || !i.got.Rescan:
		d.of.save(c, func(failed error) { d.answer(c, i, cmp.Or(failed, err)) })
	case i.aborted:
		d.of.save(c, func(failed error) { d.answer(c, i, cmp.Or[error](failed, errAborted)) })
	default:
		i.rescans = true
		d.of.rescanFrom(c, i.got.From, func(res result, err error) {
			switch {
			case err != nil:
			case res.aborted:
				err = errAborted
			case res.failed != nil:
				d.notScanned(i.call.Req.Items, i.got.Results, res.failed, i.times.Median)
			}
			d.answer(c, i, err)
		})
	}
}

// tell calls the functions that wait for the descriptors.
func (*imports) tell(i *importing) {
	waiting := i.waiting
	i.added, i.waiting = true, nil
	for _, then := range waiting {
		then()
	}
}

// answer ends an import.
func (d *imports) answer(c actor.Context, i *importing, err error) {
	d.now = nil
	i.call.Answer(i.got.Results, err)
	d.ended(c)
}

// notScanned puts errors in the place of results whose blocks were not all read.
func (d *imports) notScanned(
	items []messages.ImportItem, results []messages.ImportResult, failed *chainview.Block, median int64,
) {
	why := " This error could potentially caused by data corruption. If " +
		"the issue persists you may want to reindex (see -reindex option)."
	if isPruned(failed) {
		why = " This error could be caused by pruning or data corruption " +
			"(see " + d.cfg.Network.Software.Daemon + " log for details) and could be dealt with by downloading and " +
			"rescanning the relevant blocks (see -reindex option and rescanblockchain RPC)."
	}
	if d.isBehind(failed) {
		why = " This error is likely caused by an in-progress assumeutxo background sync. Check logs or " +
			"getchainstates RPC for assumeutxo background sync progress and try again later."
	}
	read := blockRef(failed).MaxTime + timestampWindow + 1
	for i, item := range items {
		at := item.Timestamp
		if at == messages.NowTimestamp {
			at = median
		}
		if read <= at || results[i].Err != nil {
			continue
		}
		results[i] = messages.ImportResult{Err: codes.Errorf(codes.Misc,
			"Rescan failed for descriptor with timestamp %d. There "+
				"was an error reading a block from time %d, which is after or within %d seconds "+
				"of key creation, and could contain transactions pertaining to the desc. As a "+
				"result, transactions and coins using this desc may not appear in the wallet.%s",
			at, read-timestampWindow-1, timestampWindow, why)}
	}
}
