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
	release sync.Once
}

// View pins the store's present state. Release it. Of a closed store the view
// is empty.
func (s *Store) View() *View {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &View{store: s}
	}
	v := &View{store: s, slots: s.catalog.slots, active: s.catalog.active, regions: s.regions}
	for _, r := range v.regions {
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
// and are valid until Release; their capacity is 64 more than their length,
// and what lies there may be read but means nothing. Whoever reads them does
// so under [Guard].
//
// Errors: [ErrNotFound] with the first block that the view does not have,
// [*DamagedError]. The elements of dst before the one it concerns are valid.
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
	filter, err := v.regions[s.segment].bytes(s)
	if err != nil {
		return nil, v.damaged(s, err)
	}
	if crc32.ChecksumIEEE(filter) != s.crc {
		return nil, v.damaged(s, errChecksum)
	}
	return filter, nil
}

// slot finds a block: on the active chain by its height, else by its hash.
func (v *View) slot(height int64, block *chainhash.Hash) (*slot, bool) {
	if height >= 0 && height < int64(len(v.active)) {
		if s := &v.slots[v.active[height]]; s.block == *block {
			return s, true
		}
	}
	v.store.mu.RLock()
	n, ok := v.store.catalog.find(block)
	v.store.mu.RUnlock()
	if !ok || int(n) >= len(v.slots) { // or stored after the view was made
		return nil, false
	}
	return &v.slots[n], true
}

func (v *View) damaged(s *slot, reason error) *DamagedError {
	return &DamagedError{
		Segment: int(v.regions[s.segment].number),
		Block:   s.block,
		Reason:  reason,
	}
}
