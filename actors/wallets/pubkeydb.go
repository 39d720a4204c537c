package wallets

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/messages"
)

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
