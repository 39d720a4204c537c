package wallets

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/messages"
)

// importTime is how long a wallet adds descriptors before it serves others.
const importTime = time.Millisecond

// importDescriptors adds descriptors, and looks for what concerns them.
func (t *caller) importDescriptors(j *ask.Job, q messages.ImportDescriptors) ([]messages.ImportResult, error) {
	s, err := t.beginScan(j, func(s *scan) error {
		s.adding = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	got, err := s.importAll(j, q.Items)
	return got, t.endScan(j, err)
}

func (s *scan) importAll(j *ask.Job, items []messages.ImportItem) ([]messages.ImportResult, error) {
	items = born(s.w.cfg.Chain.Open(), items)
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
		cfg := s.w.cfg
		rescan.NotScanned(cfg.Chain.Open(), cfg.Network.Software.Daemon, items, got.Results, failed, times.Median)
	}
	return got.Results, err
}

// born returns the items with times in place of birth heights.
func born(reader chainview.Reader, items []messages.ImportItem) []messages.ImportItem {
	items = slices.Clone(items)
	for i := range items {
		item := &items[i]
		if item.Timestamp != messages.BirthTimestamp {
			continue
		}
		item.Timestamp = messages.NowTimestamp
		_, a, err := descriptor.CutAnnotations(item.Desc)
		if err != nil || a.BirthHeight == nil || reader == nil || *a.BirthHeight > math.MaxInt32 {
			continue
		}
		if b := reader.Active().At(int32(*a.BirthHeight)); b != nil {
			item.Timestamp = b.Time().Unix()
		}
	}
	return items
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
		batches, failed := keys.MakeAll(j.Context(), making)
		err = s.w.try(j, func() error {
			defer s.w.ledger.Pool().Drop()
			err := keys.SupplyAll(s.w.ledger.Pool(), batches, failed)
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

// added ends the adding of descriptors.
func (s *scan) added(err error) {
	if err == nil {
		s.w.ledger.Importer().EndImport()
	}
	s.adding = false
	s.w.changes.notify()
}

// added waits until the descriptors of an import are there, if one runs. A list made before that would look like an
// import of nothing.
func (t *caller) added(j *ask.Job) error {
	return t.until(j, func() (bool, error) { return t.scan == nil || !t.scan.adding, nil })
}

// importPubKeys adds public keys and looks for what concerns them.
func (t *caller) importPubKeys(j *ask.Job, q messages.ImportPubKeys) (changed int, err error) {
	err = t.try(j, func() error { return t.ledger.PubKeys().CheckImport() })
	if err != nil {
		return 0, err
	}
	s, err := t.beginScan(j, func(*scan) error { return nil })
	if err != nil {
		return 0, err
	}
	changed, err = s.importPubKeys(j, q)
	return changed, t.endScan(j, err)
}

func (s *scan) importPubKeys(j *ask.Job, q messages.ImportPubKeys) (int, error) {
	var got keys.PubKeysImported
	err := s.w.try(j, func() (err error) {
		tip := s.w.at(s.w.cfg.Chain.Open())
		got, err = s.w.ledger.PubKeys().Import(q, tip.MedianTimePast())
		return err
	})
	if err != nil || !got.Rescan {
		return got.Changed, err
	}
	failed, err := s.lookFrom(j, got.From)
	if err == nil && failed != nil {
		err = rescan.NotScannedFor(got, failed)
	}
	return got.Changed, err
}
