package peers

import (
	"testing"
	"time"
)

// Guests with a merit are spared; of the others the youngest of the largest group
// goes.
func TestEvict(t *testing.T) {
	at := func(sec int64) time.Time { return time.Unix(1_700_000_000+sec, 0) }
	var guests []guest
	for i := range int64(80) {
		guests = append(guests, guest{id: i, group: uint64(i % 3), since: at(i)})
	}
	spared := map[int64]bool{}
	for i := int64(70); i < 74; i++ {
		guests[i].lastBlock, spared[i] = at(i), true
	}
	for i := int64(60); i < 64; i++ {
		guests[i].lastTx, spared[i] = at(i), true
	}
	for i := int64(50); i < 58; i++ {
		guests[i].ping, spared[i] = time.Millisecond, true
	}
	for range 40 {
		id, ok := evict(guests)
		if !ok {
			break
		}
		if spared[id] {
			t.Fatalf("guest %d had merits", id)
		}
		if id < 20 {
			t.Fatalf("guest %d is here longer than most", id)
		}
		for i := range guests {
			if guests[i].id == id {
				guests = append(guests[:i], guests[i+1:]...)
				break
			}
		}
	}
	if _, ok := evict(guests[:4]); ok {
		t.Error("few guests are all spared")
	}
}
