package slots_test

import (
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/internal/slots"
)

// TestSlots gives out slots, some of which are aborted, over two instances.
func TestSlots(t *testing.T) {
	var given atomic.Uint64
	s := slots.New(&given)
	first := s.Reserve()
	s.Abort()
	select {
	case <-first.Aborted:
	default:
		t.Error("the holder does not hear of the abort")
	}
	second := s.Reserve()
	s.Abort()
	third := s.Reserve()
	if s.Last(second.ID) || !s.Last(third.ID) {
		t.Error("the last slot is another")
	}
	for _, test := range []struct {
		id   uint64
		want bool
	}{{third.ID, false}, {first.ID, true}, {first.ID, false}, {second.ID, true}, {99, false}} {
		if got := s.Orphan(test.id); got != test.want {
			t.Errorf("slot %d: aborted before its holder came: %v, want %v", test.id, got, test.want)
		}
	}
	if next := slots.New(&given).Reserve(); next.ID <= third.ID {
		t.Errorf("slot %d is given twice", next.ID)
	}
}
