package walletfile_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// The key of a slot's record tells the slot, and no other key does.
func TestSlotOf(t *testing.T) {
	for _, want := range []walletfile.Slot{
		{Type: walletfile.Legacy}, {Type: walletfile.Bech32m, Internal: true}, {Type: walletfile.MerkleRoot},
	} {
		if got, ok := walletfile.SlotOf(want.Key()); !ok || got != want {
			t.Errorf("%+v, %v, want %+v", got, ok, want)
		}
	}
	key := walletfile.Slot{}.Key()
	for _, other := range [][]byte{nil, key[:len(key)-1], append(key[:len(key):len(key)], 0), make([]byte, len(key))} {
		if got, ok := walletfile.SlotOf(other); ok {
			t.Errorf("%x: %+v", other, got)
		}
	}
}
