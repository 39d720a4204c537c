package filter

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
)

// Filters that say nothing are not read: a scan that needs one fails.
func TestSourceFrom(t *testing.T) {
	s := openStore(t, t.TempDir())
	fill(t, s)
	first := int32(0)
	source := NewSourceFrom(s, func() int32 { return first })
	read := func(from int32) error {
		v := source.View()
		defer v.Release()
		return v.Filters(from, true, make([]filters.Filter, 2))
	}
	if err := read(0); err != nil {
		t.Error(err)
	}
	first = 100
	for height, pruned := range map[int32]bool{0: true, 98: true, 99: true, 100: false, 2000: false} {
		if err := read(height); errors.Is(err, chainview.ErrPruned) != pruned || !pruned && err != nil {
			t.Errorf("from height %d on: %v", height, err)
		}
	}
}
