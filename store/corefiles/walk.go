package corefiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// A pair is a finished block file, and its undo file. All but what mu guards stays.
type pair struct {
	number int
	stamp  stamp // of the block file
	blocks []block

	mu     sync.Mutex
	undo   stamp     // of the undo file when it was walked; zero: it was not
	walked time.Time // when that was tried
}

// A block is what is known of a block in a file.
type block struct {
	hash, prev   chainhash.Hash
	offset, size uint32 // of the block, without the header of its record
	txs          uint32

	undoOffset, undoSize uint32 // of undo data; size 0: not known. The pair's mu guards them
	records              uint8  // undo records that fit; up to 2
	shared               bool   // a record that fits may be another block's
}

const (
	recordHeader = blockfile.HeaderSize
	blockHeader  = 80
	maxSize      = 9 // bytes of a CompactSize
	window       = 1 << 20
	firstWindow  = 4 << 10 // of a search for the next record, which grows to window

	// maxGaps is how many times something else than a record is passed over in a file, until
	// the file is taken for none of blocks. Crashes and old versions have left a few.
	maxGaps = 10_000
)

// walk finds the blocks of a file by their headers. There are none where the last one
// does not end where the file ends.
func (p *pair) walk(file *os.File, size int64, d *Dir) error {
	var head [recordHeader + blockHeader + maxSize]byte
	var blocks []block
	at, gaps := int64(0), 0
	for size-at >= recordHeader+blockHeader {
		n, err := file.ReadAt(head[:], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		b := head[:n]
		if len(b) < recordHeader+blockHeader || allZero(b[:recordHeader]) {
			return nil // cut short, or Core is still to write: zeros are not obfuscated
		}
		d.key.XOR(b, at)
		length := int64(binary.LittleEndian.Uint32(b[4:]))
		txs, ok := compactSize(b[recordHeader+blockHeader:])
		if [4]byte(b) != d.o.Magic || length <= blockHeader || length > int64(d.o.MaxBlock) ||
			length > size-at-recordHeader || !ok || txs == 0 || txs > uint64(length) {
			if at, err = d.nextRecord(file, at+1, size); err != nil || at < 0 || gaps == maxGaps {
				return err
			}
			gaps++
			continue
		}
		blocks = append(blocks, block{
			hash: chainhash.DoubleHashH(b[recordHeader : recordHeader+blockHeader]),
			prev: chainhash.Hash(b[recordHeader+4:]), offset: uint32(at + recordHeader), size: uint32(length),
			txs: uint32(txs),
		})
		at += recordHeader + length
	}
	if at == size {
		p.blocks = blocks
	}
	return nil
}

// nextRecord returns the next place with a magic, -1 where there is none.
func (d *Dir) nextRecord(file io.ReaderAt, from, size int64) (int64, error) {
	// A file may be full of false magics: the next record is mostly near.
	for length := int64(firstWindow); from < size; length = min(4*length, window) {
		buf := make([]byte, min(length, size-from))
		n, err := file.ReadAt(buf, from)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return 0, err
		}
		d.key.XOR(buf[:n], from)
		if i := bytes.Index(buf[:n], d.o.Magic[:]); i >= 0 {
			return from + int64(i), nil
		}
		if n < len(d.o.Magic) || end {
			return -1, nil
		}
		from += int64(n - len(d.o.Magic) + 1)
	}
	return -1, nil
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// compactSize reads a CompactSize.
func compactSize(b []byte) (n uint64, ok bool) {
	switch {
	case len(b) > 0 && b[0] < 0xfd:
		return uint64(b[0]), true
	case len(b) >= 3 && b[0] == 0xfd:
		return uint64(binary.LittleEndian.Uint16(b[1:])), true
	case len(b) >= 5 && b[0] == 0xfe:
		return uint64(binary.LittleEndian.Uint32(b[1:])), true
	}
	return 0, false
}
