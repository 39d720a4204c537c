package keys

import (
	"context"
	"maps"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
)

// Scripts of long ranges take milliseconds too. A request may have them derived
// by others before it is carried out: jobs for descriptors without keys of P2MR
// bring their scripts, which wait for the descriptor until [Pool.Drop].

const (
	// fewIndices are derived by the wallet itself: a fraction of a millisecond.
	fewIndices = 32

	// maxExpanded bounds the indices that are derived for one request before it
	// is carried out.
	maxExpanded = 2 * descriptor.MaxRange

	// maxCopied is how large a cache may be to be copied for a job.
	maxCopied = 1024
)

// eachScript visits the scripts of some indices of a descriptor: those that were
// derived before, or else derives them.
func (p *Pool) eachScript(
	m *descriptorManager, first, last int32, visit func(index uint32, scripts [][]byte) error,
) error {
	b := p.pendingScripts[m.id()]
	if b == nil || int64(first) < int64(b.first) || int64(last) >= int64(b.first)+int64(len(b.scripts)) {
		return m.desc.ExpandRange(context.Background(), uint32(first), uint32(last), cores.Count(), visit)
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
	jobs []*Job
	left int64 // indices
}

// add adds a job, unless its scripts are few, or too many.
func (j *scriptJobs) add(job *Job) {
	n := int64(job.last) - int64(job.first) + 1
	if n <= fewIndices || n > j.left || n > descriptor.MaxRange {
		return
	}
	j.left -= n
	j.jobs = append(j.jobs, job)
}

// RefillJobs returns the scripts that [Pool.Refill] wants, as far as these need
// no private keys.
func (p *Pool) RefillJobs(size int) []*Job {
	jobs := scriptJobs{left: maxExpanded}
	if size > maxIndices {
		return nil
	}
	for _, m := range p.set.activeManagers() {
		if m.slow() || len(m.cache.keys) > maxCopied {
			continue
		}
		// The wallet's own cache may change meanwhile.
		known := &keyCache{keys: maps.Clone(m.cache.keys)}
		jobs.add(&Job{
			id: m.id(), desc: m.desc.WithCache(known),
			first: uint32(m.lastDerived + 1), last: uint32(p.poolEnd(m, int32(size)) - 1),
		})
	}
	return jobs.jobs
}
