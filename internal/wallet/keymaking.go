package wallet

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Keys of P2MR take milliseconds each, and are made by others: a wallet says
// which it wants with [Wallet.KeyJobs], and is handed them with
// [Wallet.SupplyKeys]. Meanwhile the range of a descriptor ends where its keys
// do.

// warmPool is how many addresses a new wallet has at once where all are P2MR, and
// in what steps the others follow.
const warmPool = 16

// A KeyJob is a number of keys of P2MR, or of scripts, that a wallet wants.
type KeyJob struct {
	id          chainhash.Hash
	desc        *descriptor.Descriptor // with its private keys
	first, last uint32
}

// Size returns the number of indices.
func (j *KeyJob) Size() int { return int(j.last-j.first) + 1 }

// A KeyBatch are keys of P2MR that were made, private ones among them, or
// scripts.
type KeyBatch struct {
	id    chainhash.Hash
	cache []descriptor.CacheEntry
	keys  []descriptor.P2MRKey

	// Of a descriptor without keys of P2MR: scripts alone, from an index on.
	first   uint32
	scripts [][][]byte
}

// Make makes the keys or scripts, on all processors. It may run in any goroutine.
//
// Errors: those of [descriptor.Descriptor.P2MRKeys].
func (j *KeyJob) Make(ctx context.Context) (*KeyBatch, error) {
	if !j.desc.HasP2MRSource() {
		return j.expand(ctx)
	}
	entries, err := j.desc.CacheEntries(j.first, j.last)
	if err != nil {
		return nil, err
	}
	keys, err := j.desc.P2MRKeys(ctx, j.first, j.last)
	if err != nil {
		return nil, err
	}
	return &KeyBatch{id: j.id, cache: entries, keys: keys}, nil
}

// Zero wipes the private keys.
func (b *KeyBatch) Zero() {
	for _, key := range b.keys {
		clear(key.Secret)
	}
}

// KeyJobs returns what keys the wallet wants and can have made: those of at most
// limit indices. There are none while it is locked.
func (w *Wallet) KeyJobs(limit int) []*KeyJob {
	var jobs []*KeyJob
	for _, s := range w.sources {
		first := s.lastDerived + 1
		if s.wanted <= first || limit <= 0 || w.Locked() || !s.hasPrivateKeys() {
			continue
		}
		full, err := w.withPrivateKeys(s)
		if err != nil || !full.HasAllPrivateKeys() {
			continue
		}
		last := min(int64(s.wanted), int64(first)+int64(limit)) - 1
		limit -= int(last-int64(first)) + 1
		// Without a cache: the wallet's own may change meanwhile.
		jobs = append(jobs, &KeyJob{id: s.id(), desc: full.WithCache(nil), first: uint32(first), last: uint32(last)})
	}
	return jobs
}

// Wanting reports whether there are keys that [Wallet.KeyJobs] would have made.
func (w *Wallet) Wanting() bool {
	return !w.Locked() && slices.ContainsFunc(w.sources, func(s *source) bool {
		return s.wanted > s.lastDerived+1 && s.hasPrivateKeys()
	})
}

// SupplyKeys takes keys that were made, and wipes them. They are stored with
// their descriptor; keys of one that is still to come wait for it until
// [Wallet.DropKeys]. A wallet that has been locked meanwhile takes none.
//
// Errors: one for keys that are not those of the cache.
func (w *Wallet) SupplyKeys(b *KeyBatch) error {
	if b.scripts != nil {
		w.expanded[b.id] = b
		return nil
	}
	s := w.byID[b.id]
	if s == nil {
		w.made[b.id] = append(w.made[b.id], b)
		return nil
	}
	defer b.Zero()
	if w.Locked() {
		return nil
	}
	if err := w.takeKeys(s, b); err != nil {
		return err
	}
	return w.topUpP2MR(s, s.wanted)
}

// DropKeys wipes keys that no descriptor has come for.
func (w *Wallet) DropKeys() {
	for _, batches := range w.made {
		for _, b := range batches {
			b.Zero()
		}
	}
	clear(w.made)
	clear(w.expanded)
}

// takeKeys stores keys with their descriptor.
func (w *Wallet) takeKeys(s *source, b *KeyBatch) error {
	added, err := s.cache.merge(b.cache)
	for _, e := range added {
		w.log.Put(cacheRecord(s.id(), e))
	}
	if err != nil {
		return err
	}
	for i := range b.keys {
		key := &b.keys[i]
		fresh, err := s.cache.mergeP2MR(key.Expression, key.Index, key.Public)
		if err != nil {
			return err
		}
		w.addPQC(s, key)
		if fresh {
			w.log.Put(walletfile.P2MRCache{
				Descriptor: s.id(), Expression: uint32(key.Expression), Index: key.Index, Public: key.Public,
			})
		}
	}
	return nil
}

// topUpP2MR derives scripts as far as there are keys, and notes that further ones
// are wanted up to end.
func (w *Wallet) topUpP2MR(s *source, end int32) error {
	for _, b := range w.made[s.id()] {
		err := w.takeKeys(s, b)
		b.Zero()
		if err != nil {
			return err
		}
	}
	delete(w.made, s.id())
	first := s.lastDerived + 1
	have := first
	for have < end && s.derivable(have) {
		have++
	}
	if have > first {
		if err := w.derive(s, first, have-1); err != nil {
			return err
		}
		s.lastDerived = have - 1
	}
	s.record.RangeEnd = have
	if s.desc.IsRanged() {
		s.record.RangeStart = min(s.record.RangeStart, have)
	}
	if s.wanted = 0; have < end {
		s.wanted = end
	}
	if int64(have) >= int64(s.record.NextIndex)+int64(w.params.KeyPool) {
		s.deferred = false
	}
	w.noteFill(s)
	w.write(s)
	return nil
}

// derivable reports whether the keys of an index are in the cache.
func (s *source) derivable(index int32) bool {
	for _, at := range s.desc.P2MRPlaces(uint32(index)) {
		if _, ok := s.cache.p2mr[at]; !ok {
			return false
		}
	}
	return true
}

// noteFill notes, in the files of P2MR's dialect, whether the range is still to
// be filled.
func (w *Wallet) noteFill(s *source) {
	if w.params.Network.Dialect == descriptor.P2MR {
		pending := s.deferred
		s.record.FillPending = &pending
	}
}

// isDeferred reports whether the key pool of a descriptor from the file is to be
// filled up later.
func (w *Wallet) isDeferred(s *source) bool {
	if pending := s.record.FillPending; pending != nil {
		return *pending
	}
	short := int64(s.record.RangeEnd) < int64(s.record.NextIndex)+int64(w.params.KeyPool)
	return s.p2mr() && s.desc.IsRanged() && short
}

// Deferring reports whether key pools are to be filled up later.
func (w *Wallet) Deferring() bool {
	return slices.ContainsFunc(w.activeSources(), func(s *source) bool { return s.deferred })
}

// firstPool returns how many addresses a new descriptor has at once; 0 stands for
// the whole pool. It notes if the rest comes later.
func (w *Wallet) firstPool(s *source) int32 {
	if !w.params.Network.Restricted || !s.p2mr() || w.params.KeyPool <= warmPool {
		return 0
	}
	s.deferred = true
	return warmPool
}

// FillDeferred wants the next keys of the pools that a new wallet had put off. It
// is false when there are none, or the wallet is locked.
func (w *Wallet) FillDeferred() bool {
	more := false
	for _, s := range w.activeSources() {
		if !s.deferred || w.Locked() {
			continue
		}
		whole := int64(s.record.NextIndex) + int64(w.params.KeyPool)
		target := min(whole, int64(s.record.RangeEnd)+warmPool, math.MaxInt32)
		_ = w.topUpP2MR(s, int32(target)) // only notes the wish
		more = true
	}
	return more
}

// refillSoon wants the key pool filled up once few addresses are left.
func (w *Wallet) refillSoon(s *source) {
	low := min(w.params.KeyPool, max(warmPool, w.params.KeyPool/10))
	if s.p2mr() && !s.deferred && int32(s.poolSize()) <= low {
		_ = w.topUp(s, 0) // only notes the wish
	}
}

// WantAddress wants the key of the next address, and reports whether it is
// missing.
func (w *Wallet) WantAddress(r messages.NewAddress) bool {
	kind := w.defaultFor(r.Change)
	if r.HasType {
		kind = outputTypes[r.Type]
	}
	s := w.active[walletfile.Slot{Type: kind, Internal: r.Change}]
	if s == nil || !s.p2mr() || s.record.NextIndex < s.record.RangeEnd {
		return false
	}
	_ = w.topUp(s, 1) // only notes the wish
	return len(w.KeyJobs(1)) > 0
}

// SetupJobs returns the keys and scripts that [Wallet.Setup] wants with a seed.
func (w *Wallet) SetupJobs(seed *walletfile.Secret) ([]*KeyJob, error) {
	root, err := rootOf(seed)
	if err != nil {
		return nil, err
	}
	defer root.secret.Zero()
	var jobs []*KeyJob
	scripts := scriptJobs{left: maxExpanded}
	for _, slot := range w.standardSlots() {
		public, err := w.standard(root, slot)
		if err != nil {
			return nil, err
		}
		key := descriptor.PrivateKey{Compressed: true, Scalar: [32]byte(root.secret.Bytes())}
		options := descriptor.Options{PrivateKeys: []descriptor.PrivateKey{key}}
		full, err := descriptor.Parse(public.String(), w.params.Network, options)
		if err != nil {
			return nil, err
		}
		pool := w.params.KeyPool
		if !public.HasP2MRSource() {
			scripts.add(&KeyJob{id: walletfile.DescriptorID(public), desc: full[0], last: uint32(pool - 1)})
			continue
		}
		if w.params.Network.Restricted {
			pool = min(pool, warmPool)
		}
		jobs = append(jobs, &KeyJob{id: walletfile.DescriptorID(public), desc: full[0], last: uint32(pool - 1)})
	}
	return append(jobs, scripts.jobs...), nil
}

// ImportJobs returns the keys and scripts that [Wallet.Import] wants.
func (w *Wallet) ImportJobs(items []messages.ImportItem) []*KeyJob {
	var jobs []*KeyJob
	scripts := scriptJobs{left: maxExpanded}
	for i := range items {
		m := &importer{wallet: w, item: &items[i]}
		ranged := strings.Contains(m.item.Desc, "*")
		if !ranged && w.params.Network.Dialect != descriptor.P2MR {
			continue // one script
		}
		if m.parse() != nil || m.checkRange() != nil || m.checkNext() != nil {
			continue
		}
		end := max(int64(m.end), int64(m.next)+int64(w.params.KeyPool))
		for _, d := range m.branches {
			job := &KeyJob{id: walletfile.DescriptorID(d), desc: d}
			if d.IsRanged() {
				job.last = uint32(end - 1)
			}
			if !d.HasP2MRSource() {
				scripts.add(job)
				continue
			}
			if !d.HasAllPrivateKeys() || w.flags.Has(walletfile.DisablePrivateKeys) {
				continue
			}
			if known := w.byID[job.id]; known != nil {
				job.first = uint32(known.lastDerived + 1)
			}
			if job.first <= job.last {
				jobs = append(jobs, job)
			}
		}
	}
	return append(jobs, scripts.jobs...)
}

// SetupWithKeys is [Wallet.Setup] with the keys of P2MR made first, in the
// caller's goroutine and on all processors.
//
// Errors: one if the wallet is locked, that of the context.
func (w *Wallet) SetupWithKeys(ctx context.Context, seed *walletfile.Secret, now int64) error {
	defer w.DropKeys()
	jobs, err := w.SetupJobs(seed)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		b, err := job.Make(ctx)
		if err == nil {
			err = w.SupplyKeys(b) //nolint:contextcheck // takes a moment
		}
		if err != nil {
			return err
		}
	}
	return w.Setup(seed, now) //nolint:contextcheck // takes a moment
}
