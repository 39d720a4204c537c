package scanner

import (
	"slices"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// uses are the scripts that blocks of a scan create or spend, by their places in the query. Workers note them.
type uses struct {
	mu     sync.Mutex
	blocks map[chainhash.Hash][]uint32 // ascending
}

// note notes the scripts of a block, and reports whether there are any. The slice spent has the scripts of the outputs
// that the block spends. Looking at a block again replaces what was noted before.
func (u *uses) note(q *filters.Query, block *chainhash.Hash, raw []byte, headerLen int, spent [][]byte) (bool, error) {
	var places []uint32
	add := func(script []byte) bool {
		if place, has := q.Place(script); has {
			places = append(places, uint32(place))
		}
		return true
	}
	for _, script := range spent {
		add(script)
	}
	if err := filters.EachOutputScript(raw, headerLen, add); err != nil {
		return false, err
	}
	u.set(block, places)
	return len(places) > 0, nil
}

// noteMatches adds the scripts that match a block's filter to the notes of the block. A script may match by chance:
// then a range becomes wider than necessary, which does no harm.
func (u *uses) noteMatches(q *filters.Query, block *chainhash.Hash, filter []byte, scripts [][]byte) error {
	places := slices.Clone(u.of(block))
	for _, script := range scripts {
		hit, err := filters.Match(block, filter, [][]byte{script})
		if err != nil {
			return err
		}
		if place, has := q.Place(script); hit && has {
			places = append(places, uint32(place))
		}
	}
	u.set(block, places)
	return nil
}

func (u *uses) set(block *chainhash.Hash, places []uint32) {
	slices.Sort(places)
	places = slices.Compact(places)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.blocks == nil {
		u.blocks = map[chainhash.Hash][]uint32{}
	}
	u.blocks[*block] = places
}

// of returns the scripts of a block.
func (u *uses) of(block *chainhash.Hash) []uint32 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.blocks[*block]
}
