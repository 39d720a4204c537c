package wallets

import (
	"cmp"
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/messages"
)

// A checking is a rescan that widens ranges.
type checking struct {
	*wallet.Check

	from   int32
	looked int // scripts that the blocks were looked through for
}

// checkWallet widens the ranges of the descriptors, and looks through blocks for all scripts.
func (t *caller) checkWallet(j *ask.Job, q messages.CheckWallet) (got messages.WalletChecked, err error) {
	s, err := t.beginScanLocked(j, func(s *scan) error { return t.beginCheck(s, q) })
	if err != nil {
		return got, err
	}
	if err = j.Until(s.ctx, s.widen); err == nil || s.ctx.Err() != nil {
		got, err = s.check(j)
	}
	return got, t.endScan(j, err)
}

// beginCheck begins the rescan of a check. From now on the position of the wallet is before its first block: whatever
// ends the process, the blocks are looked through for the scripts that are added next.
func (w *Wallet) beginCheck(s *scan, q messages.CheckWallet) (err error) {
	tip := w.ledger.Txs().Tip().Height
	from := tip
	if birth, born := w.ledger.BirthTime(); q.Start != nil {
		from = *q.Start
	} else if first, found := rescan.FirstSince(w.cfg.Chain.Open().Active(), 0, birth-rescan.Window); born && found {
		from = min(first, tip)
	}
	switch {
	case q.Gap < 1:
		return codes.Errorf(codes.Parameter, "Invalid gap")
	case from < 0 || from > tip:
		return codes.Errorf(codes.Parameter, "Invalid start_height")
	case rescan.LacksSome(w.cfg.Chain.Open(), from, nil):
		return rescan.ErrBackground
	}
	s.checking = &checking{from: from}
	if s.checking.Check, err = wallet.BeginCheck(w.ledger, q.Gap); err != nil {
		return err
	}
	if _, err = keys.GapOf(w.ledger.Pool()).Jobs(); err != nil {
		s.checking.Close()
		return err
	}
	s.begin(from, nil, false)
	return nil
}

// widen widens the ranges by the known payments, before the blocks are looked through.
func (s *scan) widen(j *ask.Job) error {
	var jobs []*keys.Job
	err := s.w.try(j, func() (err error) {
		jobs, err = keys.GapOf(s.w.ledger.Pool()).Jobs()
		return err
	})
	if err != nil {
		return err
	}
	batches, failed := keys.MakeAll(j.Context(), jobs)
	err = s.w.try(j, func() error {
		defer s.w.ledger.Pool().Drop()
		if err := keys.SupplyAll(s.w.ledger.Pool(), batches, failed); err != nil {
			return err
		}
		keys.GapOf(s.w.ledger.Pool()).Widen()
		s.w.save(nil)
		return nil
	})
	if err == nil {
		err = s.w.keysMade(j)
	}
	return err
}

// check looks through the blocks until there are no scripts any more that they were not looked through for. The memory
// pool may bring some at the end.
func (s *scan) check(j *ask.Job) (got messages.WalletChecked, err error) {
	for over := false; !over; {
		res, err := s.look(j)
		if err != nil {
			return got, err
		}
		_ = j.Until(s.ctx, s.w.keysMade) // it ends early with an abort, or with the actor
		err = s.w.try(j, func() (err error) {
			res.aborted = s.ctx.Err() != nil
			if err = cmp.Or(s.refused, s.w.rescanError(res), keys.GapOf(s.w.ledger.Pool()).Check()); err != nil {
				return err
			}
			if over = s.checking.looked == len(s.w.scripts()); over {
				got = s.checking.Result(s.checking.from)
				return nil
			}
			s.over = false
			s.begin(s.checking.from, nil, false)
			s.reading.Skip(s.checking.looked)
			return nil
		})
		if err != nil {
			return got, err
		}
	}
	s.w.cfg.Log.Info("wallet checked", "wallet", s.w.Label(), "gap", got.Gap, "new transactions", got.New)
	return got, nil
}

// refuseLocked ends a check that cannot go on, because a range has to widen whose keys are locked.
func (s *scan) refuseLocked() {
	if s.checking == nil {
		return
	}
	if s.refused = keys.GapOf(s.w.ledger.Pool()).Check(); s.refused != nil {
		s.cancel()
	}
}

// lookBeyond has a job look for payments beyond the addresses of a restored wallet, and publish the result.
func (w *Wallet) lookBeyond(look func(context.Context) messages.WalletBeyond) {
	if look == nil {
		return
	}
	w.beside(func(j *ask.Job) {
		got := look(j.Context())
		_ = w.do(j, func() { w.publishBeyond(got) })
	})
}

func (w *Wallet) publishBeyond(got messages.WalletBeyond) {
	switch {
	case got.Found:
		w.cfg.Log.Warn("restored wallet has payments beyond its addresses: checkwallet finds them",
			"wallet", w.Label(), "gap", got.Gap)
	case got.Known:
		w.cfg.Log.Info("restored wallet has no payments shortly beyond its addresses", "wallet", w.Label())
	default:
		w.cfg.Log.Info("payments beyond the addresses of a restored wallet are not known: checkwallet looks for them",
			"wallet", w.Label())
	}
	if w.cfg.Restored != nil {
		w.cfg.Restored.Publish(messages.WalletRestored{Wallet: w.Name, WalletBeyond: got})
	}
}
