package segment

import (
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// View reads the store as it was when the view was made, and keeps what it
// reads mapped. A view may be used by many goroutines.
type View struct {
	store   *Store
	slots   []slot
	active  []uint32
	regions []*region
	groups  []*lineGroup
	ranges  []*rangeFile
	release sync.Once

	mappings sync.Once
	ends     []uintptr // of mappings, ascending; once mappings is done
}

// View pins the store's present state. Release it. Of a closed store the view
// is empty.
func (s *Store) View() *View {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &View{store: s}
	}
	v := &View{
		store: s, slots: s.catalog.slots, active: s.catalog.active, regions: s.regions, groups: s.groups,
		ranges: s.ranges,
	}
	for _, r := range v.regions {
		r.acquire()
	}
	for _, g := range v.groups {
		g.acquire()
	}
	for _, r := range v.ranges {
		r.acquire()
	}
	return v
}

// Release ends the view and the validity of all bytes it returned. The caller
// sees to it that nobody uses them any more.
func (v *View) Release() {
	v.release.Do(func() {
		for _, r := range v.regions {
			r.release()
		}
		for _, g := range v.groups {
			g.release()
		}
		for _, r := range v.ranges {
			r.release()
		}
	})
}

// Tip returns the height of the last block of the view's active chain, -1
// when it is empty.
func (v *View) Tip() int32 { return int32(len(v.active)) - 1 }

// Filters puts the filters of blocks, which have consecutive heights from the
// given one on, into dst, which is as long. The blocks need not be of the
// active chain; those that are cost no lookup.
//
// The bytes are checked against their CRC-32. They lie in a read-only mapping
// and are valid until Release; their capacity is 64 more than their length, and
// the bytes there may be read but mean nothing. Callers must read all these
// bytes under [Guard].
//
// Errors: [ErrNotFound] with the first block that the view does not have,
// [*DamagedError]. The elements of dst before the error's block are valid.
func (v *View) Filters(from int32, blocks []chainhash.Hash, dst [][]byte) error {
	var n int
	var err error
	fault := Guard(func() {
		for n = range blocks {
			if dst[n], err = v.filter(int64(from)+int64(n), &blocks[n]); err != nil {
				return
			}
		}
	})
	if fault != nil {
		s, _ := v.slot(int64(from)+int64(n), &blocks[n])
		return v.damaged(s, fault)
	}
	return err
}

// filter returns the checked filter of a block.
func (v *View) filter(height int64, block *chainhash.Hash) ([]byte, error) {
	s, ok := v.slot(height, block)
	if !ok {
		return nil, fmt.Errorf("block %v: %w", block, ErrNotFound)
	}
	return v.checked(s)
}

// checked returns the checked filter of a slot. It must run under [Guard].
func (v *View) checked(s *slot) ([]byte, error) {
	filter, err := v.regions[s.segment].bytes(s)
	if err != nil {
		return nil, v.damaged(s, err)
	}
	if crc32.ChecksumIEEE(filter) != s.crc {
		return nil, v.damaged(s, errChecksum)
	}
	return filter, nil
}

// Stored is what a view has of a block's filter, none of it checked.
type Stored struct {
	Block  *chainhash.Hash // the view's, not to be changed
	Filter []byte          // as of [View.Filters]
	CRC    uint32          // CRC-32 (IEEE) of Filter

	Lines    []byte // probe lines; empty: there are none
	Items    uint32 // of the filter, where there are lines
	LinesCRC uint32 // CRC-32 (IEEE) of Lines

	// Whether they lie in a mapped file, as [View.Fetch] needs it.
	FilterMapped, LinesMapped bool
}

// Active reports whether the block is the one at its height on the view's active
// chain. Then the blocks before it are those below.
func (v *View) Active(height int32, block *chainhash.Hash) bool {
	return height >= 0 && int(height) < len(v.active) && v.slots[v.active[height]].block == *block
}

// BlockAt returns the block at a height of the active chain, which must be that
// high.
func (v *View) BlockAt(height int32) *chainhash.Hash { return &v.slots[v.active[height]].block }

// Stored fills in what the store has for a block's filter, without reading the
// filter's bytes. The block is the one given, or with nil the one at the height
// of the active chain, which must be that high.
//
// Errors: as of [View.Filters].
func (v *View) Stored(height int32, block *chainhash.Hash, to *Stored) error {
	var n uint32
	if block == nil {
		n = v.active[height]
	} else if at, ok := v.number(int64(height), block); ok {
		n = at
	} else {
		return fmt.Errorf("block %v: %w", block, ErrNotFound)
	}
	s := &v.slots[n]
	r := v.regions[s.segment]
	if to.FilterMapped = r.mem != nil; to.FilterMapped {
		to.Filter = r.mapped(s)
	} else {
		var err error
		if to.Filter, err = r.bytes(s); err != nil {
			return v.damaged(s, err)
		}
	}
	to.Block, to.CRC = &s.block, s.crc
	to.Lines, to.Items, to.LinesCRC, to.LinesMapped = nil, 0, 0, false
	if group, i := int(n/groupSize), int(n%groupSize); group < len(v.groups) && i < v.groups[group].len() {
		g := v.groups[group]
		e := &g.entries[i]
		to.Lines, to.Items, to.LinesCRC, to.LinesMapped = e.lines, e.items, e.sum, g.mem != nil
	}
	return nil
}

// slot finds a block: on the active chain by its height, else by its hash.
func (v *View) slot(height int64, block *chainhash.Hash) (*slot, bool) {
	n, ok := v.number(height, block)
	if !ok {
		return nil, false
	}
	return &v.slots[n], true
}

// number is slot for the slot's number.
func (v *View) number(height int64, block *chainhash.Hash) (uint32, bool) {
	if height >= 0 && height < int64(len(v.active)) {
		if n := v.active[height]; v.slots[n].block == *block {
			return n, true
		}
	}
	v.store.mu.RLock()
	n, ok := v.store.catalog.find(block)
	v.store.mu.RUnlock()
	return n, ok && int(n) < len(v.slots) // or stored after the view was made
}

func (v *View) damaged(s *slot, reason error) *DamagedError {
	return &DamagedError{
		Segment: int(v.regions[s.segment].number),
		Block:   s.block,
		Reason:  reason,
	}
}
