package wallets

import (
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet/keys"
)

// keyLog logs the making and checking of keys in the background, and how long each takes.
type keyLog struct {
	*spec
	checks  time.Time // when the check of the file's keys began; zero: there is none
	failed  bool      // one of these keys is wrong
	fill    time.Time // when the filling of deferred pools began; zero: there is none
	refills []refill  // of pools that had few addresses left
}

type refill struct {
	id    chainhash.Hash // of the descriptor
	name  string         // of the pool
	began time.Time
}

// checking notes that keys of the file are checked.
func (l *keyLog) checking() {
	if l.checks.IsZero() {
		l.checks = time.Now()
	}
}

// checked logs that no key is left to be checked.
func (l *keyLog) checked() {
	switch {
	case l.checks.IsZero():
		return
	case l.failed:
		l.cfg.Log.Error("Plaintext PQC key validation failed; wallet PQC signing is disabled", "wallet", l.Label())
	default:
		l.Logf("Plaintext PQC key validation completed in %15dms", time.Since(l.checks).Milliseconds())
	}
	l.checks, l.failed = time.Time{}, false
}

// filling logs the end of the filling of deferred pools. more says that it goes on, and left that
// deferred pools are left.
func (l *keyLog) filling(more, left bool) {
	switch {
	case more && l.fill.IsZero():
		l.fill = time.Now()
		return
	case more || l.fill.IsZero():
		return
	case left:
		l.Logf("Deferred create-time keypool top up paused after a failed background step")
	default:
		l.Logf("Deferred create-time keypool top up completed in %15dms", time.Since(l.fill).Milliseconds())
	}
	l.fill = time.Time{}
}

// refilling logs pools with few addresses left that begin to be filled up.
func (l *keyLog) refilling(low []keys.LowPool) {
	for _, p := range low {
		if slices.ContainsFunc(l.refills, func(r refill) bool { return r.id == p.ID }) {
			continue
		}
		name := "receive"
		if p.Internal {
			name = "change"
		}
		l.Logf("P2MR %s keypool reached low-watermark; scheduling background refill "+
			"(descriptor id %v, remaining=%d, low_watermark=%d)", name, p.ID, p.Left, p.Mark)
		l.refills = append(l.refills, refill{p.ID, name, time.Now()})
	}
}

// refilled logs the pools that are full by now, or that are not filled any more because keys
// cannot be made. able says that keys can be made.
func (l *keyLog) refilled(isFilled func(chainhash.Hash) bool, able bool) {
	l.refills = slices.DeleteFunc(l.refills, func(r refill) bool {
		switch {
		case isFilled(r.id):
			l.Logf("P2MR %s keypool low-watermark refill completed in %15dms",
				r.name, time.Since(r.began).Milliseconds())
		case !able:
			l.Logf("P2MR %s keypool low-watermark refill paused after a failed background step", r.name)
		default:
			return false
		}
		return true
	})
}
