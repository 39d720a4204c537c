package keys

import (
	"math"
	"strings"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// An Importer adds descriptors: the standard ones of a new wallet, and those that
// clients hand over.
type Importer struct {
	set   *Set
	pool  *Pool
	vault *vault.Vault
	flags *records.Flags
}

// NewImporter returns the importer of a set and its pool.
func NewImporter(pool *Pool) *Importer {
	return &Importer{set: pool.set, pool: pool, vault: pool.vault, flags: pool.flags}
}

// ImportTimes are the times of the tip: that of its header, and the median time
// of the last blocks, which stands for now.
type ImportTimes struct{ Tip, Median int64 }

// Imported is what became of an import.
type Imported struct {
	Results []messages.ImportResult // one for each descriptor, in order

	// Rescan is set when at least one was imported. The chain must be looked
	// through again from the first block whose MaxTime is not below From, less
	// two hours.
	Rescan bool
	From   int64
}

// Import adds descriptors to the wallet, each on its own. With the last of them
// [Importer.EndImport] is called.
//
// Errors: [*messages.WalletError] if it is locked.
func (im *Importer) Import(items []messages.ImportItem, times ImportTimes) (Imported, error) {
	if err := im.vault.NeedUnlocked(); err != nil {
		return Imported{}, err
	}
	done := Imported{From: times.Tip, Results: make([]messages.ImportResult, len(items))}
	for i := range items {
		created := items[i].Timestamp
		if created == messages.NowTimestamp {
			created = times.Median
		}
		created = max(created, 1)
		done.From = min(done.From, created)
		r := &importing{Importer: im, item: &items[i], created: created}
		done.Results[i] = messages.ImportResult{Err: r.run(), Warnings: r.warnings}
		if len(r.branches) > 0 {
			r.branches[0].Wipe() // the wallet has the keys now
		}
		done.Rescan = done.Rescan || done.Results[i].Err == nil
	}
	return done, nil
}

// EndImport ends an import that was handed over piece by piece.
func (im *Importer) EndImport() { im.set.NoteActive() }

// ImportJobs returns the keys and scripts that [Importer.Import] wants.
func (im *Importer) ImportJobs(items []messages.ImportItem) []*Job {
	var jobs []*Job
	scripts := scriptJobs{left: maxExpanded}
	for i := range items {
		r := &importing{Importer: im, item: &items[i]}
		ranged := strings.Contains(r.item.Desc, "*")
		if !ranged && !im.set.params.Kinds.SlowKeys {
			continue // one script
		}
		if r.parse() != nil || r.checkRange() != nil || r.checkNext() != nil {
			continue
		}
		ahead := (&descriptorManager{notes: r.notes}).ahead(im.set.params.KeyPool)
		end := max(int64(r.end), int64(r.next)+int64(ahead))
		for _, d := range r.branches {
			job := &Job{id: walletfile.DescriptorID(d), desc: d, first: uint32(r.start)}
			known := im.set.byID[job.id]
			if known != nil {
				job.id = known.id()
			}
			if d.IsRanged() {
				job.last = uint32(min(end, math.MaxInt32) - 1)
			}
			if !d.HasP2MRSource() {
				scripts.add(job)
				continue
			}
			if !d.HasAllPrivateKeys() || im.flags.Has(walletfile.DisablePrivateKeys) {
				continue
			}
			if known != nil && r.start == known.record.RangeStart {
				job.first = uint32(known.lastDerived + 1)
			}
			if job.first <= job.last {
				jobs = append(jobs, job)
			}
		}
	}
	return append(jobs, scripts.jobs...)
}
