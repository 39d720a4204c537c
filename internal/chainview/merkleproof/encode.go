package merkleproof

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Why bytes are no proof, in Core's words.
var (
	ErrShort        = errors.New("DataStream::read(): end of data: iostream error")
	ErrNotCanonical = errors.New("non-canonical ReadCompactSize(): iostream error")
	ErrTooLarge     = errors.New("ReadCompactSize(): size too large: iostream error")
)

// maxSize is the most elements that a list may say that it has.
const maxSize = 0x02000000

// minTxSize is how many bytes a transaction has at least, without its witness.
const minTxSize = 60

// MaxTxs returns how many transactions a block of a weight can have; scale is how much a byte
// outside of witnesses weighs.
func MaxTxs(weight, scale int64) uint32 { return uint32(weight / (minTxSize * scale)) }

// Read reads the header of a block, which has a length, and the proof that follows it.
//
// Errors: those of [Decode].
func Read(raw []byte, headerLen int) (header wire.BlockHeader, proof *Proof, err error) {
	if headerLen < wire.MaxBlockHeaderPayload || headerLen > len(raw) {
		return header, nil, ErrShort
	}
	if err := header.Deserialize(bytes.NewReader(raw)); err != nil {
		return header, nil, ErrShort
	}
	proof, err = Decode(raw[headerLen:])
	return header, proof, err
}

// Append appends the serialized proof.
func (p *Proof) Append(to []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, p.Txs)
	to = appendSize(to, len(p.Hashes))
	for i := range p.Hashes {
		to = append(to, p.Hashes[i][:]...)
	}
	return append(appendSize(to, len(p.Bits)), p.Bits...)
}

func appendSize(to []byte, n int) []byte {
	switch {
	case n < 0xfd:
		return append(to, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(to, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(to, 0xfe), uint32(n))
	}
}

// Decode reads a serialized proof. Bytes after the proof are ignored. The proof shares
// no memory with raw.
//
// Errors: [ErrShort], [ErrNotCanonical], [ErrTooLarge].
func Decode(raw []byte) (*Proof, error) {
	if len(raw) < 4 {
		return nil, ErrShort
	}
	p := &Proof{Txs: binary.LittleEndian.Uint32(raw)}
	hashes, raw, err := list(raw[4:], chainhash.HashSize)
	if err != nil {
		return nil, err
	}
	for ; len(hashes) > 0; hashes = hashes[chainhash.HashSize:] {
		p.Hashes = append(p.Hashes, chainhash.Hash(hashes[:chainhash.HashSize]))
	}
	bits, _, err := list(raw, 1)
	p.Bits = append(p.Bits, bits...)
	return p, err
}

// list reads a list of elements of a size, and returns what follows it.
func list(raw []byte, each int) (elements, rest []byte, err error) {
	if len(raw) == 0 {
		return nil, nil, ErrShort
	}
	n, at := uint64(raw[0]), 1
	if width, least := sizeOf(raw[0]); width > 0 {
		if len(raw) <= width {
			return nil, nil, ErrShort
		}
		var wide [8]byte
		copy(wide[:], raw[1:1+width])
		if n, at = binary.LittleEndian.Uint64(wide[:]), 1+width; n < least {
			return nil, nil, ErrNotCanonical
		}
	}
	switch {
	case n > maxSize:
		return nil, nil, ErrTooLarge
	case uint64(len(raw)-at) < n*uint64(each):
		return nil, nil, ErrShort
	}
	end := at + int(n)*each
	return raw[at:end], raw[end:], nil
}

// sizeOf returns how many bytes follow the first one of a size, and the least that they
// may say.
func sizeOf(first byte) (width int, least uint64) {
	switch first {
	case 0xfd:
		return 2, 0xfd
	case 0xfe:
		return 4, 1 << 16
	case 0xff:
		return 8, 1 << 32
	}
	return 0, 0
}
