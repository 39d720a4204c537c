package peers

import (
	"testing"
	"time"
)

// Guests with a merit are spared; of the others the youngest of the largest group
// goes.
func TestEvict(t *testing.T) {
	at := func(sec int64) time.Time { return time.Unix(1_700_000_000+sec, 0) }
	var inbound []inboundPeer
	for i := range int64(80) {
		inbound = append(inbound, inboundPeer{id: i, group: uint64(i % 3), since: at(i)})
	}
	spared := map[int64]bool{}
	for i := int64(70); i < 74; i++ {
		inbound[i].lastBlock, spared[i] = at(i), true
	}
	for i := int64(60); i < 64; i++ {
		inbound[i].lastTx, spared[i] = at(i), true
	}
	for i := int64(50); i < 58; i++ {
		inbound[i].ping, spared[i] = time.Millisecond, true
	}
	for range 40 {
		id, ok := chooseEvicted(inbound)
		if !ok {
			break
		}
		if spared[id] {
			t.Fatalf("peer %d had what protects it", id)
		}
		if id < 20 {
			t.Fatalf("peer %d is here longer than most", id)
		}
		for i := range inbound {
			if inbound[i].id == id {
				inbound = append(inbound[:i], inbound[i+1:]...)
				break
			}
		}
	}
	if _, ok := chooseEvicted(inbound[:4]); ok {
		t.Error("few inbound are all spared")
	}
}
