package walletfile

import (
	"github.com/btcsuite/btcd/wire"
)

// Version is the record of the client that wrote the wallet last: 300200 for
// Core 30.2.
type Version int32

// Key returns the key of the record.
func (Version) Key() []byte { return KeyPrefix("version") }

// Value returns the value of the record.
func (v Version) Value() []byte { return appendUint32(nil, uint32(v)) }

func parseVersion(_, value *cursor) Entry { return Version(value.int32()) }

// MinVersion is a record of old wallets that Core 30 neither reads nor writes.
type MinVersion int32

// Key returns the key of the record.
func (MinVersion) Key() []byte { return KeyPrefix("minversion") }

// Value returns the value of the record.
func (v MinVersion) Value() []byte { return appendUint32(nil, uint32(v)) }

func parseMinVersion(_, value *cursor) Entry { return MinVersion(value.int32()) }

// OrderPosNext is the record of the place that the next transaction gets in the
// order of transactions.
type OrderPosNext int64

// Key returns the key of the record.
func (OrderPosNext) Key() []byte { return KeyPrefix("orderposnext") }

// Value returns the value of the record.
func (n OrderPosNext) Value() []byte { return appendUint64(nil, uint64(n)) }

func parseOrderPosNext(_, value *cursor) Entry { return OrderPosNext(value.int64()) }

// LockedOutput is the record of an output that lockunspent keeps from being
// spent.
type LockedOutput wire.OutPoint

// Key returns the key of the record.
func (o LockedOutput) Key() []byte {
	return appendUint32(append(KeyPrefix("lockedutxo"), o.Hash[:]...), o.Index)
}

// Value returns the value of the record.
func (LockedOutput) Value() []byte { return []byte{'1'} }

func parseLockedOutput(key, _ *cursor) Entry {
	return LockedOutput{Hash: key.hash(), Index: key.uint32()}
}
