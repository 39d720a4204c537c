package follower

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/store/attachdb"
)

const headerSize = attachdb.HeaderSize

var (
	// errUnlinked reports a header whose parent is not known: Core's chain has changed
	// while it was read, or Core sends nonsense.
	errUnlinked = errors.New("its parent is not known")

	// errHeader reports a header that breaks a rule of the network.
	errHeader = errors.New("it breaks a rule of the network")
)

// readHeader reads a serialized header of headerSize bytes.
func readHeader(raw []byte) wire.BlockHeader {
	return wire.BlockHeader{
		Version:   int32(binary.LittleEndian.Uint32(raw)),
		PrevBlock: chainhash.Hash(raw[4:]), MerkleRoot: chainhash.Hash(raw[36:]),
		Timestamp: time.Unix(int64(binary.LittleEndian.Uint32(raw[68:])), 0),
		Bits:      binary.LittleEndian.Uint32(raw[72:]), Nonce: binary.LittleEndian.Uint32(raw[76:]),
	}
}

// writeHeader is the inverse of readHeader.
func writeHeader(h *wire.BlockHeader) (raw [headerSize]byte) {
	b := binary.LittleEndian.AppendUint32(raw[:0], uint32(h.Version))
	b = append(b, h.PrevBlock[:]...)
	b = append(b, h.MerkleRoot[:]...)
	for _, n := range []uint32{uint32(h.Timestamp.Unix()), h.Bits, h.Nonce} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return raw
}

// check holds a header against the rules for headers, but for its time being not too far
// ahead: that Core has judged, by its own clock.
func (e *Engine) check(h *wire.BlockHeader, hash *chainhash.Hash, parent *chainview.Block) error {
	at := h.Timestamp.Unix()
	if !consensus.MeetsTarget(hash, h.Bits, e.net.Params.PowLimit) || h.Bits != e.net.NextBits(parent, at) ||
		at <= parent.MedianTimePast() || e.net.TooEarly(parent, at) || e.net.OldVersion(h.Version, parent.Height+1) {
		return errHeader
	}
	return nil
}
