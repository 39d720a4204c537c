// Package bloom is the filter of transactions that a peer may set for its connection
// (BIP37), as Bitcoin Core 30.2 reads it (src/common/bloom.cpp). It is pure.
package bloom

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	bip37 "github.com/btcsuite/btcd/btcutil/bloom"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
)

// ErrUnset reports an element for a filter that is not there.
var ErrUnset = errors.New("bad filteradd message")

// A Filter is what a peer wants announced: everything, until it sets a filter. It is safe
// for concurrent use.
type Filter struct {
	mu     sync.Mutex
	set    bool
	bits   []byte
	hashes uint32
	tweak  uint32
	update wire.BloomUpdateType
}

// Load sets the filter, whose bytes are copied.
func (f *Filter) Load(m *wire.MsgFilterLoad) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set, f.bits, f.hashes, f.tweak, f.update = true, slices.Clone(m.Filter), m.HashFuncs, m.Tweak, m.Flags
}

// Clear takes the filter away.
func (f *Filter) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set, f.bits = false, nil
}

// Add adds an element. Errors: [ErrUnset].
func (f *Filter) Add(data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.set {
		return ErrUnset
	}
	f.add(data)
	return nil
}

// IsSet reports whether there is a filter.
func (f *Filter) IsSet() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set
}

// Relevant reports whether the peer wants a transaction announced. As the filter says, the
// outputs that match are added to it, so that those who spend them match as well.
func (f *Filter) Relevant(tx *wire.MsgTx, id *chainhash.Hash) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.set {
		return true
	}
	found := f.has(id[:])
	for i, out := range tx.TxOut {
		if f.hasPush(out.PkScript) {
			found = true
			if f.follows(out.PkScript) {
				f.add(outPoint(id, uint32(i)))
			}
		}
	}
	if found {
		return true
	}
	return slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool {
		return f.has(outPoint(&in.PreviousOutPoint.Hash, in.PreviousOutPoint.Index)) || f.hasPush(in.SignatureScript)
	})
}

// updateMask are the bits of a filter's flags that say which outputs are added.
const updateMask = 3

// follows reports whether an output that matches is added.
func (f *Filter) follows(script []byte) bool {
	switch f.update & updateMask { //nolint:exhaustive // any other follows nothing
	case wire.BloomUpdateAll:
		return true
	case wire.BloomUpdateP2PubkeyOnly:
		form := descriptor.ScriptType(script)
		return form == "pubkey" || form == "multisig"
	}
	return false
}

func outPoint(id *chainhash.Hash, index uint32) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(id[:]), index)
}

// bit returns where one of the filter's hashes puts an element.
func (f *Filter) bit(n uint32, data []byte) (at uint32, mask byte) {
	const spread = 0xfba4c795 // BIP37
	i := bip37.MurmurHash3(n*spread+f.tweak, data) % (8 * uint32(len(f.bits)))
	return i / 8, 1 << (i % 8)
}

func (f *Filter) add(data []byte) {
	if len(f.bits) == 0 {
		return
	}
	for n := range f.hashes {
		at, mask := f.bit(n, data)
		f.bits[at] |= mask
	}
}

// has reports whether an element may be in the filter. In one without bits all are.
func (f *Filter) has(data []byte) bool {
	if len(f.bits) == 0 {
		return true
	}
	for n := range f.hashes {
		if at, mask := f.bit(n, data); f.bits[at]&mask == 0 {
			return false
		}
	}
	return true
}

// hasPush reports whether the filter may have something that a script pushes.
func (f *Filter) hasPush(script []byte) bool {
	for len(script) > 0 {
		data, rest, ok := push(script)
		if !ok {
			return false
		}
		if len(data) > 0 && f.has(data) {
			return true
		}
		script = rest
	}
	return false
}

// push returns what the first operation of a script pushes, and the rest of the script;
// false where the script ends in between.
func push(script []byte) (data, rest []byte, ok bool) {
	const pushData1, pushData2, pushData4 = 0x4c, 0x4d, 0x4e
	op, rest := script[0], script[1:]
	size, width := uint64(0), 0
	switch {
	case op < pushData1:
		size = uint64(op)
	case op == pushData1:
		width = 1
	case op == pushData2:
		width = 2
	case op == pushData4:
		width = 4
	}
	if len(rest) < width {
		return nil, nil, false
	}
	for i := range width {
		size |= uint64(rest[i]) << (8 * i)
	}
	rest = rest[width:]
	if uint64(len(rest)) < size {
		return nil, nil, false
	}
	return rest[:size], rest[size:], true
}
