package wallet

import (
	"context"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	// beyondPools is how many key pools are looked for beyond the reach of a restore, and beyondIndices how many
	// indices at most.
	beyondPools   = 10
	beyondIndices = 1000

	// maxBeyond bounds the indices that are looked for.
	maxBeyond = 200_000
)

// Beyond finds out whether there are payments beyond the reach of a restore. A restored wallet derives a key pool of
// addresses behind the highest that was paid to. Beyond knows no blocks: its caller looks for the scripts of
// [Beyond.Next] in blocks, and notes those that were paid to by [Beyond.Paid].
type Beyond struct {
	all     []*reach
	scripts map[string][]spot
	indices int  // that were given out
	last    bool // those beyond the reach were given out
	unknown bool // some cannot be looked for
}

// A reach is a descriptor.
type reach struct {
	desc    *descriptor.Descriptor
	first   int32
	keyPool int32
	last    int32   // of the reach
	given   int32   // the last index that was given out
	paid    []int32 // indices, ascending
}

// A spot is an index of a descriptor.
type spot struct {
	of    *reach
	index int32
}

// NewBeyond takes the ranged descriptors of a wallet's file, with the key pool of the restored wallet. It keeps no
// secret.
func NewBeyond(content *walletfile.Wallet, keyPool int32) *Beyond {
	b := &Beyond{scripts: make(map[string][]spot)}
	active := make(map[string]bool, len(content.Active))
	for _, id := range content.Active {
		active[string(id[:])] = true
	}
	keyPool = min(max(keyPool, 1), maxBeyond)
	for _, d := range content.Descriptors {
		if !d.Parsed.IsRanged() || d.RangeStart < 0 {
			continue
		}
		r := &reach{
			desc: d.Cached(), first: d.RangeStart, given: d.RangeStart - 1, keyPool: keyPool,
			last: max(d.RangeEnd, d.RangeStart) - 1,
		}
		if active[string(d.ID[:])] {
			r.last = widen.Last(r.first, r.last, d.NextIndex-1, keyPool)
		}
		b.all = append(b.all, r)
	}
	return b
}

// Next returns the scripts to look for next, in all blocks; none: there are no more.
func (b *Beyond) Next(ctx context.Context) [][]byte {
	clear(b.scripts)
	for {
		for _, r := range b.all {
			end := r.last
			if b.last {
				end = widen.Last(r.first, end, end, min(beyondPools*r.keyPool, beyondIndices))
			}
			b.give(ctx, r, end)
		}
		if len(b.scripts) > 0 || b.last {
			break
		}
		b.last = true
	}
	scripts := make([][]byte, 0, len(b.scripts))
	for script := range b.scripts {
		scripts = append(scripts, []byte(script))
	}
	return scripts
}

// give gives out the indices of a descriptor up to one.
func (b *Beyond) give(ctx context.Context, r *reach, last int32) {
	if r.given >= last {
		return
	}
	if b.indices += int(last - r.given); b.indices > maxBeyond {
		b.unknown = true
		return
	}
	err := r.desc.ExpandRange(ctx, uint32(r.given+1), uint32(last), 1, func(index uint32, scripts [][]byte) error {
		for _, script := range scripts {
			b.scripts[string(script)] = append(b.scripts[string(script)], spot{r, int32(index)})
		}
		return nil
	})
	if err != nil {
		b.unknown = true // keys behind hardened steps are not in the file
	}
	r.given = last
}

// Paid notes that a block pays to a script.
func (b *Beyond) Paid(script []byte) {
	for _, s := range b.scripts[string(script)] {
		if at, there := slices.BinarySearch(s.of.paid, s.index); !there {
			s.of.paid = slices.Insert(s.of.paid, at, s.index)
		}
		for _, index := range s.of.paid {
			if index <= s.of.last {
				s.of.last = widen.Last(s.of.first, s.of.last, index, s.of.keyPool)
			}
		}
	}
}

// Fail notes that not all blocks can be looked at.
func (b *Beyond) Fail() { b.unknown = true }

// Result returns what is known by now.
func (b *Beyond) Result() (got messages.WalletBeyond) {
	for _, r := range b.all {
		before := r.first - 1
		for _, index := range r.paid {
			if index > r.last && b.last {
				got.Found, got.Gap = true, max(got.Gap, index-before)
			}
			before = index
		}
	}
	got.Known = got.Found || b.last && !b.unknown
	return got
}
