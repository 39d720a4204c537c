package keys

import (
	"errors"
	"maps"
	"math"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// A Gap is how many unused indices are to follow the highest used one in each range, while a check lasts.
type Gap struct {
	pool *Pool
	size int32 // 0: there is no check
}

// GapOf returns the gap of a pool.
func GapOf(p *Pool) *Gap { return p.gap }

// Begin has ranges widen until a gap of unused indices follows the highest index that a payment was made to. The
// ranges of known payments widen with [Gap.Widen], the others as payments come.
func (g *Gap) Begin(size int32, paid Payments) {
	g.size = size
	for _, m := range g.pool.set.managers {
		m.used = -1
	}
	for _, s := range g.pool.set.scripts {
		if !paid.PaysTo(s.bytes) {
			continue
		}
		for _, by := range s.owners {
			by.manager.used = max(by.manager.used, by.index)
		}
	}
}

// End ends the check. Keys that are not made by then are wanted no more.
func (g *Gap) End() {
	if g.size == 0 {
		return
	}
	g.size = 0
	for _, m := range g.pool.set.managers {
		switch {
		case !m.wanting():
		case m.deferred:
			m.wanted = 0 // the rest of the pool comes later
		default:
			m.wanted = min(m.wanted, g.pool.poolEnd(m, 0))
		}
	}
}

// end returns where a range ends at least, the end not included; 0: anywhere.
func (g *Gap) end(m *descriptorManager) int32 {
	if g.size == 0 || !m.desc.IsRanged() {
		return 0
	}
	last := widen.Last(m.record.RangeStart, m.record.RangeEnd-1, m.used, g.size)
	return int32(min(int64(last)+1, math.MaxInt32))
}

// short reports whether the scripts of a descriptor end before its gap does.
func (g *Gap) short(m *descriptorManager) bool { return m.lastDerived+1 < g.end(m) }

// Check fails where a range has to widen and the wallet is locked, so that keys cannot be derived.
//
// Errors: [*messages.WalletError].
func (g *Gap) Check() error {
	if !g.pool.vault.Locked() {
		return nil
	}
	for _, m := range g.pool.set.managers {
		if !g.short(m) || !g.pool.vault.HasKeys(m.id()) {
			continue
		}
		if m.slow() || needsPrivate(m) {
			return codes.ErrLocked
		}
	}
	return nil
}

// needsPrivate reports whether the next index of a descriptor needs private keys.
func needsPrivate(m *descriptorManager) bool {
	_, err := m.desc.Expand(uint32(m.lastDerived + 1))
	return errors.Is(err, descriptor.ErrNeedsPrivateKey)
}

// maxWidened bounds the indices that a gap adds at once.
const maxWidened = maxExpanded

// Jobs returns the scripts that [Gap.Widen] wants, as far as these need no private keys.
//
// Errors: [*messages.WalletError] for a gap that wants too many.
func (g *Gap) Jobs() ([]*Job, error) {
	jobs := scriptJobs{left: maxExpanded}
	all := int64(0)
	for _, m := range g.pool.set.managers {
		if !g.short(m) {
			continue
		}
		end := g.end(m)
		all += int64(end) - int64(m.lastDerived+1)
		if m.slow() || len(m.cache.keys) > maxCopied || needsPrivate(m) {
			continue
		}
		// The wallet's own cache may change meanwhile.
		known := &keyCache{keys: maps.Clone(m.cache.keys)}
		jobs.add(&Job{
			id: m.id(), desc: m.desc.WithCache(known), first: uint32(m.lastDerived + 1), last: uint32(end - 1),
		})
	}
	if all > maxWidened {
		return nil, codes.Errorf(codes.Parameter, "The gap needs %d further addresses of the wallet's descriptors, "+
			"at most %d", all, maxWidened)
	}
	return jobs.jobs, nil
}

// Widen widens the ranges that end before their gaps do. A range that cannot be widened stays as it is.
func (g *Gap) Widen() {
	for _, m := range g.pool.set.managers {
		if g.short(m) {
			_ = topUpTo(g.pool, m, g.end(m))
		}
	}
}

// Checks are what a check tells of the descriptors that have scripts.
type Checks struct {
	List []messages.CheckedDescriptor // in the order in which the descriptors came

	set   *Set
	place map[*descriptorManager]int // in the list
}

// Checks returns the descriptors with their ranges, and without payments.
func (g *Gap) Checks() *Checks {
	set := g.pool.set
	c := &Checks{set: set, place: make(map[*descriptorManager]int)}
	for _, m := range set.managers {
		if !descriptor.HasScripts(m.desc) {
			continue
		}
		d := messages.CheckedDescriptor{Ranged: m.desc.IsRanged(), HighestUsed: -1, FirstHeight: -1, LastHeight: -1}
		d.Desc, _ = set.shown(m)
		d.Active, d.Internal = set.isActive(m)
		if d.Ranged {
			d.Range = [2]int32{m.record.RangeStart, m.lastDerived}
			d.Before, d.HighestUsed, d.Exhausted = d.Range, m.used, g.short(m)
		}
		c.place[m] = len(c.List)
		c.List = append(c.List, d)
	}
	return c
}

// Since sets the ranges from before the check.
func (c *Checks) Since(before *Checks) {
	for m, at := range before.place {
		if now, there := c.place[m]; there {
			c.List[now].Before = before.List[at].Range
		}
	}
}

// Paid counts a payment in a block. A fresh one was not known before the check.
func (c *Checks) Paid(pkScript []byte, height int32, fresh bool) {
	ours := c.set.scripts[string(pkScript)]
	if ours == nil {
		return
	}
	for _, by := range ours.owners {
		at, there := c.place[by.manager]
		if !there {
			continue
		}
		d := &c.List[at]
		if d.Payments++; fresh {
			d.New++
		}
		if d.FirstHeight < 0 || height < d.FirstHeight {
			d.FirstHeight = height
		}
		d.LastHeight = max(d.LastHeight, height)
	}
}
