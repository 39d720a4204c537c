package keys

import (
	"maps"
	"math"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Keys of P2MR take milliseconds each, and are made by others: a wallet says
// which it wants with [Pool.Jobs], and is handed them with [Pool.Supply]. Meanwhile
// the range of a descriptor ends where its keys do.

// warmPool is how many addresses a new wallet has at once where all are P2MR, and
// in what steps the others follow.
const warmPool = 16

// Jobs returns what keys the wallet wants and can have made: those of at most
// limit indices. There are none while it is locked.
func (p *Pool) Jobs(limit int) []*Job {
	var jobs []*Job
	for _, m := range p.set.managers {
		if limit <= 0 || !m.wanting() {
			continue
		}
		full := makerOf(p.set, m)
		if full == nil {
			continue
		}
		first := m.lastDerived + 1
		last := min(int64(m.wanted), int64(first)+int64(limit)) - 1
		limit -= int(last-int64(first)) + 1
		// Without a cache: the wallet's own may change meanwhile.
		jobs = append(jobs, &Job{id: m.id(), desc: full.WithCache(nil), first: uint32(first), last: uint32(last)})
	}
	return jobs
}

// makerOf returns a descriptor with the private keys that its wanted keys are made with, nil where the
// wallet does not have them now.
func makerOf(s *Set, m *descriptorManager) *descriptor.Descriptor {
	if s.vault.Locked() || !s.vault.HasKeys(m.id()) {
		return nil
	}
	full, err := s.withPrivateKeys(m)
	if err != nil {
		return nil
	}
	if !full.HasAllPrivateKeys() {
		full.Wipe()
		return nil
	}
	return full
}

// makeable reports whether keys of a descriptor are wanted and can be made.
func makeable(s *Set, m *descriptorManager) bool {
	if !m.wanting() {
		return false
	}
	full := makerOf(s, m)
	if full == nil {
		return false
	}
	full.Wipe()
	return true
}

// Wanting reports whether there are keys that [Pool.Jobs] would have made.
func (p *Pool) Wanting() bool {
	return !p.vault.Locked() && slices.ContainsFunc(p.set.managers, func(m *descriptorManager) bool {
		return m.wanting() && p.vault.HasKeys(m.id())
	})
}

// Supply takes keys that were made, and wipes them. They are stored with their
// descriptor; keys of a descriptor that is still to come wait until
// [Pool.Drop]. A wallet that has been locked meanwhile takes none.
//
// Errors: one for keys that are not those of the cache.
func (p *Pool) Supply(b *Batch) error {
	if b.scripts != nil {
		p.pendingScripts[b.id] = b
		return nil
	}
	m := p.set.byID[b.id]
	if m == nil {
		p.pendingKeys[b.id] = append(p.pendingKeys[b.id], b)
		return nil
	}
	defer b.Zero()
	if p.vault.Locked() {
		return nil
	}
	if err := p.takeKeys(m, b); err != nil {
		return err
	}
	return p.topUpSlow(m, m.wanted)
}

// Drop wipes keys that no descriptor has come for.
func (p *Pool) Drop() {
	for _, batches := range p.pendingKeys {
		for _, b := range batches {
			b.Zero()
		}
	}
	clear(p.pendingKeys)
	clear(p.pendingScripts)
}

// takeKeys stores keys with their descriptor.
func (p *Pool) takeKeys(m *descriptorManager, b *Batch) error {
	added, err := m.cache.merge(b.cache)
	for _, e := range added {
		p.log.Put(cacheRecord(m.id(), e))
	}
	if err != nil {
		return err
	}
	for i := range b.keys {
		key := &b.keys[i]
		fresh, err := m.cache.mergeSlow(key.Expression, key.Index, key.Public)
		if err != nil {
			return err
		}
		p.vault.AddPQC(m.id(), key)
		if fresh {
			p.log.Put(walletfile.P2MRCache{
				Descriptor: m.id(), Expression: uint32(key.Expression), Index: key.Index, Public: key.Public,
			})
		}
	}
	return nil
}

// hasKeys reports whether a descriptor that is to come has all its keys up to end.
// They wait for m, or are in the cache of old, which m replaces; old may be nil.
func (p *Pool) hasKeys(m, old *descriptorManager, end int32) bool {
	known := &keyCache{}
	if old != nil {
		known.slow = maps.Clone(old.cache.slow)
	}
	for _, b := range p.pendingKeys[m.id()] {
		for i := range b.keys {
			if _, err := known.mergeSlow(b.keys[i].Expression, b.keys[i].Index, b.keys[i].Public); err != nil {
				return false
			}
		}
	}
	for index := m.lastDerived + 1; index < end; index++ {
		if !known.derivable(m.desc, index) {
			return false
		}
	}
	return true
}

// takePending takes the keys that have waited for a descriptor. They wait no more, even
// if some cannot be taken: they are wiped then, and must not be taken later.
func (p *Pool) takePending(m *descriptorManager) (err error) {
	batches := p.pendingKeys[m.id()]
	delete(p.pendingKeys, m.id())
	for _, b := range batches {
		if err == nil {
			err = p.takeKeys(m, b)
		}
		b.Zero()
	}
	return err
}

// topUpSlow derives scripts as far as there are keys, and notes that further ones
// are wanted up to end.
func (p *Pool) topUpSlow(m *descriptorManager, end int32) error {
	end = max(end, p.gap.end(m))
	if err := p.takePending(m); err != nil {
		return err
	}
	first := m.lastDerived + 1
	have := first
	for have < end && m.cache.derivable(m.desc, have) {
		have++
	}
	if have > first {
		if err := p.derive(m, first, have-1); err != nil {
			return err
		}
		m.lastDerived = have - 1
	}
	m.record.RangeEnd = have
	if m.wanted = 0; have < end {
		m.wanted = end
	}
	if int64(have) >= int64(m.record.NextIndex)+int64(p.set.params.KeyPool) {
		m.deferred = false
	}
	p.noteFill(m)
	p.set.write(m)
	return nil
}

// noteFill notes, in the files of networks with such keys, whether the range is
// still to be filled.
func (p *Pool) noteFill(m *descriptorManager) {
	if p.set.params.Kinds.SlowKeys {
		pending := m.deferred
		m.record.FillPending = &pending
	}
}

// isDeferred reports whether the key pool of a descriptor from the file is to be
// filled up later.
func (p *Pool) isDeferred(m *descriptorManager) bool {
	if pending := m.record.FillPending; pending != nil {
		return *pending
	}
	short := int64(m.record.RangeEnd) < int64(m.record.NextIndex)+int64(p.set.params.KeyPool)
	return m.slow() && m.desc.IsRanged() && short
}

// Deferring reports whether key pools are to be filled up later.
func (p *Pool) Deferring() bool {
	return slices.ContainsFunc(p.set.activeManagers(), func(m *descriptorManager) bool { return m.deferred })
}

// firstPool returns how many addresses a new descriptor has at once; 0 stands for
// the whole pool. It notes if the rest comes later.
func (p *Pool) firstPool(m *descriptorManager) int32 {
	if !p.set.params.Kinds.OnlySlowKeys || !m.slow() || p.set.params.KeyPool <= warmPool {
		return 0
	}
	m.deferred = true
	return warmPool
}

// FillDeferred wants the next keys of the pools that a new wallet had put off. It
// is false when there are none, or the wallet is locked.
func (p *Pool) FillDeferred() bool {
	more := false
	for _, m := range p.set.activeManagers() {
		if !m.deferred || p.vault.Locked() {
			continue
		}
		whole := int64(m.record.NextIndex) + int64(p.set.params.KeyPool)
		target := min(whole, int64(m.record.RangeEnd)+warmPool, math.MaxInt32)
		_ = p.topUpSlow(m, int32(target)) // only notes the wish
		more = true
	}
	return more
}

// refillSoon wants the key pool filled up once few addresses are left.
func (p *Pool) refillSoon(m *descriptorManager) {
	if m.slow() && !m.deferred && m.poolSize() <= lowMark(p.set.params.KeyPool) {
		_ = p.topUp(m, 0) // only notes the wish
	}
}

// lowMark is with how few addresses left a key pool of slow keys is filled up again.
func lowMark(keyPool int32) int { return int(min(keyPool, max(warmPool, keyPool/10))) }

// A LowPool is a key pool of slow keys that has few addresses left.
type LowPool struct {
	ID         chainhash.Hash // of the descriptor
	Internal   bool           // for change
	Left, Mark int            // addresses, and how many are few
}

// LowPools returns the key pools that are to be filled up since they have few addresses left. There are
// none while the wallet is locked, or fills the pools of its beginning.
func (p *Pool) LowPools() []LowPool {
	if p.vault.Locked() || p.Deferring() {
		return nil
	}
	var low []LowPool
	for _, internal := range []bool{false, true} {
		m := p.set.active[walletfile.Slot{Type: walletfile.MerkleRoot, Internal: internal}]
		if m != nil && m.wanting() && m.poolSize() <= lowMark(p.set.params.KeyPool) && p.vault.HasKeys(m.id()) {
			low = append(low, LowPool{m.id(), internal, max(m.poolSize(), 0), lowMark(p.set.params.KeyPool)})
		}
	}
	return low
}

// IsFilled reports whether a descriptor has all the keys that it wants.
func (s *Set) IsFilled(id chainhash.Hash) bool {
	m := s.byID[id]
	return m == nil || !m.wanting()
}

// WantAddress wants the key of the next address, and reports whether it is
// missing.
func (p *Pool) WantAddress(r messages.NewAddress) bool {
	kind := p.set.defaultFor(r.Change)
	if r.HasType {
		named, ok := p.set.params.Kinds.Named(r.Type)
		if !ok {
			return false
		}
		kind = typeOf(named)
	}
	m := p.set.active[walletfile.Slot{Type: kind, Internal: r.Change}]
	if m == nil || !m.slow() || m.record.NextIndex < m.record.RangeEnd {
		return false
	}
	_ = p.topUp(m, 1) // only notes the wish
	return len(p.Jobs(1)) > 0
}
