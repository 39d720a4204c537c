package wallets

import (
	"cmp"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// importTime is how long a wallet adds descriptors before it serves others.
const importTime = time.Millisecond

// importDescriptors adds descriptors, and looks for what concerns them.
func (w *Wallet) importDescriptors(c actor.Context, m *ask.Call[messages.ImportDescriptors, []messages.ImportResult]) {
	if err := w.mayRescan(); err != nil {
		m.Answer(nil, err)
		return
	}
	s := w.beginScan(c)
	s.adding = true
	answerScan(s, m, func(j *ask.Job) ([]messages.ImportResult, error) { return s.importAll(j, m.Req.Items) })
}

func (s *scan) importAll(j *ask.Job, items []messages.ImportItem) ([]messages.ImportResult, error) {
	got, times, err := s.add(j, items)
	err = cmp.Or(s.w.do(j, func() { s.added(err) }), err)
	switch {
	case err != nil || !got.Rescan:
		return got.Results, err
	case s.ctx.Err() != nil:
		return got.Results, errAborted
	}
	failed, err := s.lookFrom(j, got.From)
	if err == nil && failed != nil {
		s.w.notScanned(items, got.Results, failed, times.Median)
	}
	return got.Results, err
}

// add adds descriptors. Their keys are made before; where none are to be made, others are served between
// the descriptors.
func (s *scan) add(
	j *ask.Job, items []messages.ImportItem,
) (got keys.Imported, times keys.ImportTimes, err error) {
	var making []*keys.Job
	err = s.w.do(j, func() {
		making, times = s.w.ledger.Importer().ImportJobs(items), s.times()
	})
	if err == nil && len(making) > 0 {
		batches, failed := makeAll(j.Context(), making)
		err = s.w.try(j, func() error {
			defer s.w.ledger.Pool().Drop()
			err := supply(s.w.ledger.Pool(), batches, failed)
			if err == nil {
				times = s.times()
				got, err = s.w.ledger.Importer().Import(items, times)
			}
			return err
		})
		return got, times, err
	}
	got.Results, got.From = make([]messages.ImportResult, 0, len(items)), times.Tip
	for err == nil && len(got.Results) < len(items) {
		err = s.w.try(j, func() error { return s.addSome(items, times, &got) })
	}
	return got, times, err
}

// times are the times of the last block that the wallet has seen.
func (s *scan) times() keys.ImportTimes {
	tip := s.w.at(s.w.cfg.Chain.Open())
	return keys.ImportTimes{Tip: tip.Time().Unix(), Median: tip.MedianTimePast()}
}

// addSome adds the next descriptors, one by one.
func (s *scan) addSome(items []messages.ImportItem, times keys.ImportTimes, got *keys.Imported) error {
	began := time.Now()
	for n := len(got.Results); n < len(items) && time.Since(began) <= importTime; n++ {
		one, err := s.w.ledger.Importer().Import(items[n:n+1], times)
		if err != nil {
			return err
		}
		got.Results = append(got.Results, one.Results...)
		got.Rescan = got.Rescan || one.Rescan
		got.From = min(got.From, one.From)
	}
	return nil
}

// added ends the adding, and calls the functions that wait for the descriptors.
func (s *scan) added(err error) {
	if err == nil {
		s.w.ledger.Importer().EndImport()
	}
	s.adding = false
	for _, then := range s.listed {
		then()
	}
}

// whenAdded calls back when the descriptors of an import are there: at once if no import
// runs. A list made before that would look like an import of nothing.
func (w *Wallet) whenAdded(then func()) {
	if w.scan == nil || !w.scan.adding {
		then()
		return
	}
	w.scan.listed = append(w.scan.listed, then)
}

// notScanned puts errors in the place of results whose blocks were not all read.
func (h *home) notScanned(
	items []messages.ImportItem, results []messages.ImportResult, failed *chainview.Block, median int64,
) {
	why := " This error could potentially caused by data corruption. If " +
		"the issue persists you may want to reindex (see -reindex option)."
	if isPruned(failed) {
		why = " This error could be caused by pruning or data corruption " +
			"(see " + h.cfg.Network.Software.Daemon + " log for details) and could be dealt with by downloading and " +
			"rescanning the relevant blocks (see -reindex option and rescanblockchain RPC)."
	}
	if h.isBehind(failed) {
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
