package wallet

import (
	"context"
	"maps"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
)

// Scripts of long ranges take milliseconds too. A request may have them derived
// by others before it is carried out: jobs for descriptors without keys of P2MR
// bring their scripts, which wait for the descriptor until [Wallet.DropKeys].

const (
	// fewIndices are derived by the wallet itself: a fraction of a millisecond.
	fewIndices = 32

	// maxExpanded bounds the indices that are derived for one request before it
	// is carried out.
	maxExpanded = 2 * descriptor.MaxRange

	// maxCopied is how large a cache may be to be copied for a job.
	maxCopied = 1024
)

// expand derives the scripts of a job. Where that fails there are none: the
// request that they are for tells why.
//
// Errors: that of the context.
func (j *KeyJob) expand(ctx context.Context) (*KeyBatch, error) {
	b := &KeyBatch{id: j.id, first: j.first, scripts: make([][][]byte, 0, j.Size())}
	err := j.desc.ExpandRange(ctx, j.first, j.last, cores.Count(), func(_ uint32, scripts [][]byte) error {
		b.scripts = append(b.scripts, scripts)
		return nil
	})
	if err != nil {
		b.scripts = nil
	}
	return b, ctx.Err()
}

// eachScript visits the scripts of some indices of a descriptor: those that were
// derived before, or else derives them.
func (w *Wallet) eachScript(s *source, first, last int32, visit func(index uint32, scripts [][]byte) error) error {
	b := w.expanded[s.id()]
	if b == nil || int64(first) < int64(b.first) || int64(last) >= int64(b.first)+int64(len(b.scripts)) {
		return s.desc.ExpandRange(context.Background(), uint32(first), uint32(last), cores.Count(), visit)
	}
	for index := int64(first); index <= int64(last); index++ {
		if err := visit(uint32(index), b.scripts[index-int64(b.first)]); err != nil {
			return err
		}
	}
	return nil
}

// scriptJobs are jobs for scripts, of a bounded number of indices.
type scriptJobs struct {
	jobs []*KeyJob
	left int64 // indices
}

// add adds a job, unless its scripts are few, or too many.
func (j *scriptJobs) add(job *KeyJob) {
	n := int64(job.last) - int64(job.first) + 1
	if n <= fewIndices || n > j.left || n > descriptor.MaxRange {
		return
	}
	j.left -= n
	j.jobs = append(j.jobs, job)
}

// RefillJobs returns the scripts that [Wallet.RefillKeyPool] wants, as far as no
// private keys are needed for them.
func (w *Wallet) RefillJobs(size int) []*KeyJob {
	jobs := scriptJobs{left: maxExpanded}
	if size > maxIndices {
		return nil
	}
	for _, s := range w.activeSources() {
		if s.p2mr() || !s.desc.IsRanged() || len(s.cache.keys) == 0 || len(s.cache.keys) > maxCopied {
			continue
		}
		// The wallet's own cache may change meanwhile.
		known := &keyCache{keys: maps.Clone(s.cache.keys)}
		job := &KeyJob{id: s.id(), desc: s.desc.WithCache(known), first: uint32(s.lastDerived + 1)}
		if end := w.poolEnd(s, int32(size)); end > s.lastDerived+1 {
			job.last = uint32(end - 1)
			jobs.add(job)
		}
	}
	return jobs.jobs
}
