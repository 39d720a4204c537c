package walletfile

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// OutputType is the kind of addresses that an active descriptor is for.
type OutputType uint8

// The output types in their order on disk. MerkleRoot is qbit's: P2MR.
const (
	Legacy OutputType = iota
	P2SHSegwit
	Bech32
	Bech32m
	MerkleRoot
)

// A Slot is a place for an active descriptor: one for receiving and one for
// change of each output type.
type Slot struct {
	Type     OutputType
	Internal bool // for change
}

// Active is the record of the descriptor that gives new addresses of a slot.
type Active struct {
	Slot

	ID chainhash.Hash
}

// Key returns the key of the record.
func (a Active) Key() []byte { return a.Slot.Key() }

// Value returns the value of the record.
func (a Active) Value() []byte { return cloneBytes(a.ID[:]) }

// Key returns the key of the slot's record.
func (s Slot) Key() []byte {
	name := "activeexternalspk"
	if s.Internal {
		name = "activeinternalspk"
	}
	return append(KeyPrefix(name), byte(s.Type))
}

// SlotOf returns the slot that a record of this key is of. It is false for records of other kinds.
func SlotOf(key []byte) (Slot, bool) {
	const size = 1 + len("activeexternalspk") + 1 // the length of the name, and the type
	if len(key) != size {
		return Slot{}, false
	}
	for _, internal := range []bool{false, true} {
		slot := Slot{Type: OutputType(key[size-1]), Internal: internal}
		if bytes.Equal(key, slot.Key()) {
			return slot, true
		}
	}
	return Slot{}, false
}

func parseActiveExternal(key, value *cursor) Entry { return parseActive(key, value, false) }
func parseActiveInternal(key, value *cursor) Entry { return parseActive(key, value, true) }

func parseActive(key, value *cursor, internal bool) Entry {
	return Active{Slot: Slot{Type: OutputType(key.uint8()), Internal: internal}, ID: value.hash()}
}
