package keys

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
)

// A Job is a number of keys of P2MR, or of scripts, that a wallet wants.
type Job struct {
	id          chainhash.Hash
	desc        *descriptor.Descriptor // with its private keys
	first, last uint32
}

// Size returns the number of indices.
func (j *Job) Size() int { return int(j.last-j.first) + 1 }

// A Batch are keys of P2MR that were made, private ones among them, or
// scripts.
type Batch struct {
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
func (j *Job) Make(ctx context.Context) (*Batch, error) {
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
	return &Batch{id: j.id, cache: entries, keys: keys}, nil
}

// Zero wipes the private keys.
func (b *Batch) Zero() {
	for _, key := range b.keys {
		clear(key.Secret)
	}
}

// expand derives the scripts of a job. Where that fails there are none: the
// request that they are for tells why.
//
// Errors: that of the context.
func (j *Job) expand(ctx context.Context) (*Batch, error) {
	b := &Batch{id: j.id, first: j.first, scripts: make([][][]byte, 0, j.Size())}
	err := j.desc.ExpandRange(ctx, j.first, j.last, cores.Count(), func(_ uint32, scripts [][]byte) error {
		b.scripts = append(b.scripts, scripts)
		return nil
	})
	if err != nil {
		b.scripts = nil
	}
	return b, ctx.Err()
}

// SupplyAll hands a pool keys that were made. With an error it wipes them.
//
// Errors: the given one, those of [Pool.Supply].
func SupplyAll(p *Pool, batches []*Batch, err error) error {
	for i, b := range batches {
		if err != nil {
			ZeroAll(batches[i:])
			break
		}
		err = p.Supply(b)
	}
	return err
}

// ZeroAll wipes private
func ZeroAll(batches []*Batch) {
	for _, b := range batches {
		b.Zero()
	}
}

// MakeAll makes  With an error it returns the keys that were made before.
func MakeAll(ctx context.Context, jobs []*Job) ([]*Batch, error) {
	batches := make([]*Batch, 0, len(jobs))
	for _, job := range jobs {
		b, err := job.Make(ctx)
		if err != nil {
			return batches, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}
