package dbfiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/golang/snappy"
	"github.com/syndtr/goleveldb/leveldb/journal"
)

// errDamaged ends the reading of a file.
var errDamaged = errors.New("damaged")

// Of a table: its last bytes name the block of its index, whose entries name the
// blocks of pairs. A block ends with 1 byte of its compression and a checksum of 4.
const (
	footerSize  = 48
	tableMagic  = "\x57\xfb\x80\x8b\x24\x75\x47\xdb"
	trailerSize = 5
	maxBlock    = 16 << 20

	uncompressed = 0
	compressed   = 1 // by snappy
)

// seqSize is the size of the number of the change, with its kind, behind a key.
const seqSize = 8

func walkTable(file io.ReaderAt, size int64, visit Visit) error {
	footer := make([]byte, footerSize)
	if size < footerSize {
		return errDamaged
	}
	if _, err := file.ReadAt(footer, size-footerSize); err != nil {
		return err
	}
	if string(footer[footerSize-len(tableMagic):]) != tableMagic {
		return errDamaged
	}
	_, rest, err := handle(footer)
	if err != nil {
		return err
	}
	at, _, err := handle(rest)
	if err != nil {
		return err
	}
	index, err := readBlock(file, size, at)
	if err != nil {
		return err
	}
	more := true
	failed := eachPair(index, func(_, value []byte) bool {
		var data []byte
		if at, _, err = handle(value); err == nil {
			data, err = readBlock(file, size, at)
		}
		if err == nil {
			err = eachPair(data, func(key, value []byte) bool {
				more = visitInternal(key, value, visit)
				return more
			})
		}
		return err == nil && more
	})
	return errors.Join(err, failed)
}

// visitInternal gives a key without the number of its change.
func visitInternal(key, value []byte, visit Visit) bool {
	if len(key) < seqSize {
		return false
	}
	if key[len(key)-seqSize] == 0 {
		value = nil // deleted
	} else if value == nil {
		value = []byte{}
	}
	return visit(key[:len(key)-seqSize], value)
}

// A place is where a block lies.
type place struct{ at, length uint64 }

func handle(b []byte) (p place, rest []byte, err error) {
	for _, n := range []*uint64{&p.at, &p.length} {
		value, size := binary.Uvarint(b)
		if size <= 0 {
			return p, nil, errDamaged
		}
		*n, b = value, b[size:]
	}
	return p, b, nil
}

func readBlock(file io.ReaderAt, size int64, p place) ([]byte, error) {
	end := uint64(size) - footerSize
	if p.length > maxBlock || p.at > end || p.length+trailerSize > end-p.at {
		return nil, errDamaged
	}
	block := make([]byte, p.length+trailerSize)
	if _, err := file.ReadAt(block, int64(p.at)); err != nil {
		return nil, err
	}
	kind := block[p.length]
	block = block[:p.length]
	switch kind {
	case uncompressed:
		return block, nil
	case compressed:
		if n, err := snappy.DecodedLen(block); err != nil || n > maxBlock {
			return nil, errDamaged
		}
		plain, err := snappy.Decode(nil, block)
		if err != nil {
			return nil, errDamaged
		}
		return plain, nil
	}
	return nil, errDamaged
}

// eachPair reads the pairs of a block, whose keys leave out what they have in
// common with the one before.
func eachPair(block []byte, visit func(key, value []byte) bool) error {
	if len(block) < 4 {
		return errDamaged
	}
	restarts := uint64(binary.LittleEndian.Uint32(block[len(block)-4:]))
	if restarts > uint64(len(block)/4-1) {
		return errDamaged
	}
	block = block[:uint64(len(block))-4*(restarts+1)]
	var key []byte
	for len(block) > 0 {
		var n [3]uint64 // bytes in common, further bytes of the key, of the value
		for i := range n {
			value, size := binary.Uvarint(block)
			if size <= 0 {
				return errDamaged
			}
			n[i], block = value, block[size:]
		}
		left := uint64(len(block))
		if n[0] > uint64(len(key)) || n[1] > left || n[2] > left-n[1] {
			return errDamaged
		}
		key = append(key[:n[0]], block[:n[1]]...)
		if !visit(key, block[n[1]:n[1]+n[2]]) {
			return nil
		}
		block = block[n[1]+n[2]:]
	}
	return nil
}

// A batch in a journal begins with a number of 8 bytes and a count of 4.
const batchHeader = 12

// maxBatch bounds the bytes that are read of one batch.
const maxBatch = 16 << 20

func walkJournal(file io.ReaderAt, size int64, visit Visit) error {
	records := journal.NewReader(io.NewSectionReader(file, 0, size), nil, false, true)
	for {
		record, err := records.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		batch := new(bytes.Buffer)
		if _, err := io.Copy(batch, io.LimitReader(record, maxBatch)); err != nil {
			continue // what is behind a damaged one may be whole
		}
		if batch.Len() >= batchHeader && !eachChange(batch.Bytes()[batchHeader:], visit) {
			return nil
		}
	}
}

// eachChange reads the changes of a batch, as far as they are there. It returns
// false when visit has.
func eachChange(batch []byte, visit Visit) (more bool) {
	for len(batch) > 0 {
		kind := batch[0]
		key, rest, ok := counted(batch[1:])
		if !ok {
			return true
		}
		var value []byte
		switch kind {
		case 0: // deleted
		case 1:
			if value, rest, ok = counted(rest); !ok {
				return true
			}
		default:
			return true
		}
		if !visit(key, value) {
			return false
		}
		batch = rest
	}
	return true
}

// counted takes bytes with their number before them.
func counted(b []byte) (bytes, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n:n], b[n:], true
}
