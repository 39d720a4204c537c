package wallets

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// importTime is how long a wallet adds descriptors before it serves others.
const importTime = time.Millisecond

// importing is an import of descriptors until its rescan begins. Meanwhile there
// is no other, nor a rescan, and the wallet is not locked.
type importing struct {
	call  *importDescriptors
	times keys.ImportTimes
	got   keys.Imported // so far
}

// importNext says that others have been served since the last descriptor.
type importNext struct{ of *importing }

// importDescriptors adds descriptors and looks for what concerns them.
func (w *Wallet) importDescriptors(c actor.Context, m *importDescriptors) {
	if err := w.mayRescan(); err != nil {
		m.Answer(nil, err)
		return
	}
	i := &importing{call: m}
	w.importing = i
	jobs := w.ledger.Importer().ImportJobs(m.Req.Items)
	if len(jobs) == 0 {
		i.got.Results = make([]messages.ImportResult, 0, len(m.Req.Items))
		i.times = w.importTimes()
		i.got.From = i.times.Tip
		w.importMore(c, i)
		return
	}
	w.aside(c, func() func() {
		batches, err := makeAll(w.ctx, jobs)
		return func() {
			if err == nil {
				err = supply(w.ledger.Pool(), batches)
			}
			defer w.ledger.Pool().Drop()
			if err == nil {
				i.times = w.importTimes()
				i.got, err = w.ledger.Importer().Import(m.Req.Items, i.times)
			}
			w.imported(c, i, err)
		}
	})
}

// importTimes are the times of the last block that the wallet has seen.
func (w *Wallet) importTimes() keys.ImportTimes {
	tip := w.at(w.cfg.Chain.Open())
	return keys.ImportTimes{Tip: tip.Header.Timestamp.Unix(), Median: tip.MedianTimePast()}
}

// importMore adds descriptors, one by one, and lets others be served in between.
func (w *Wallet) importMore(c actor.Context, i *importing) {
	items := i.call.Req.Items
	for began := time.Now(); len(i.got.Results) < len(items); {
		if time.Since(began) > importTime {
			c.Send(c.Self(), importNext{i})
			return
		}
		n := len(i.got.Results)
		one, err := w.ledger.Importer().Import(items[n:n+1], i.times)
		if err != nil {
			w.imported(c, i, err)
			return
		}
		i.got.Results = append(i.got.Results, one.Results...)
		i.got.Rescan = i.got.Rescan || one.Rescan
		i.got.From = min(i.got.From, one.From)
	}
	w.imported(c, i, nil)
}

// imported answers, after a rescan if one is needed.
func (w *Wallet) imported(c actor.Context, i *importing, err error) {
	w.importing = nil
	defer w.unlocker.lockLate(c)
	if err == nil {
		w.ledger.Importer().EndImport()
	}
	if err != nil || !i.got.Rescan {
		w.save(c, func(failed error) {
			if failed != nil {
				err = failed
			}
			i.call.Answer(i.got.Results, err)
		})
		return
	}
	w.rescanFrom(c, i.got.From, func(res result, err error) {
		switch {
		case err != nil:
		case res.aborted:
			err = failf(codeMisc, "Rescan aborted by user.")
		case res.failed != nil:
			w.notScanned(i.call.Req.Items, i.got.Results, res.failed, i.times.Median)
		}
		i.call.Answer(i.got.Results, err)
	})
}
