package corefiles

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// maxUndo bounds undo data in bytes: each of up to 24,390 inputs of a block spends a script
// of up to 10,000 bytes.
const maxUndo = 256 << 20

// walkPause is how long an undo file is left alone after it was walked: Core may be
// writing to it all the time.
const walkPause = 10 * time.Second

// Undo returns the undo data of a block of the active chain, as blockfile reads it, in the
// memory of buf. Error: [ErrNotHere], those of the file system.
func (d *Dir) Undo(buf *[]byte, hash *chainhash.Hash) ([]byte, error) {
	p, b, err := d.find(hash)
	if err != nil {
		return nil, err
	}
	offset, size, was, err := d.undoPlace(p, b)
	if err != nil {
		return nil, err
	}
	raw, err := d.read(buf, blockfile.Undo, p.number, was, offset, size+blockfile.ChecksumSize)
	if err == nil && checksum(&b.prev, raw[:size]) != chainhash.Hash(raw[size:]) {
		err = errChanged
	}
	if err == nil { // the blocks of the pair are still those that it was assigned among
		err = d.unchanged(p)
	}
	if err != nil {
		return nil, d.lost(p, err)
	}
	return raw[:size], nil
}

func (d *Dir) unchanged(p *pair) error {
	info, err := d.root.Stat(nameOf(blockfile.Blocks, p.number))
	if err == nil && stampOf(info) != p.stamp {
		err = errChanged
	}
	return err
}

// undoPlace returns where the undo data of a block is, and when that was found out.
func (d *Dir) undoPlace(p *pair, b *block) (offset int64, size int, was stamp, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	file, info, err := d.open(nameOf(blockfile.Undo, p.number))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, was, fmt.Errorf("undo data of block %v: %w", b.hash, ErrNotHere)
	}
	if err != nil {
		return 0, 0, was, err
	}
	defer file.Close()
	if now := stampOf(info); p.undo != now {
		if time.Since(p.walked) < walkPause {
			return 0, 0, was, fmt.Errorf("undo data of block %v: %w", b.hash, ErrNotHere)
		}
		p.walked = time.Now()
		if err := d.unchanged(p); err != nil {
			return 0, 0, was, d.lost(p, err)
		}
		if err := p.assignAll(io.NewSectionReader(file, 0, now.size), now.size, d); err != nil {
			return 0, 0, was, err
		}
		p.undo = now
	}
	if b.records != 1 || b.shared {
		return 0, 0, was, fmt.Errorf("undo data of block %v: %w", b.hash, ErrNotHere)
	}
	return int64(b.undoOffset), int(b.undoSize), p.undo, nil
}

// assignAll reads an undo file and assigns its records to the blocks of the pair; to none
// where the last one does not end where the file ends. mu is held.
func (p *pair) assignAll(file io.Reader, size int64, d *Dir) error {
	a := newAssigner(p)
	in := bufio.NewReaderSize(file, window)
	var head [recordHeader]byte
	var body []byte
	at := int64(0)
	for at < size {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return a.none(err)
		}
		if allZero(head[:]) {
			return a.none(nil) // Core is still to write
		}
		d.key.XOR(head[:], at)
		at += recordHeader
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		if [4]byte(head[:]) != d.o.Magic || length == 0 || length > maxUndo || length+blockfile.ChecksumSize > size-at {
			return a.none(nil)
		}
		if need := int(length) + blockfile.ChecksumSize; cap(body) < need {
			body = make([]byte, need+need/4) // the file has as many
		}
		body = body[:length+blockfile.ChecksumSize]
		if _, err := io.ReadFull(in, body); err != nil {
			return a.none(err)
		}
		d.key.XOR(body, at)
		a.assign(uint32(at), body[:length], chainhash.Hash(body[length:]))
		at += length + blockfile.ChecksumSize
	}
	return nil
}

// An assigner gives records of undo data to blocks.
type assigner struct {
	pair     *pair
	next     int                      // where the search for the next record begins
	children map[chainhash.Hash][]int // blocks by their parent
}

func newAssigner(p *pair) *assigner {
	a := &assigner{pair: p, children: make(map[chainhash.Hash][]int, len(p.blocks))}
	for i := range p.blocks {
		b := &p.blocks[i]
		b.undoOffset, b.undoSize, b.records, b.shared = 0, 0, 0, false
		a.children[b.prev] = append(a.children[b.prev], i)
	}
	return a
}

// none takes all back: the file is not finished. A file that was cut short meanwhile is no
// error.
func (a *assigner) none(err error) error {
	for i := range a.pair.blocks {
		a.pair.blocks[i].records = 0
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// assign finds the block of a record, as a rule one behind that of the record before. The
// checksum covers the parent and the data: it fits every block with that parent.
func (a *assigner) assign(offset uint32, data []byte, sum chainhash.Hash) {
	txs, ok := compactSize(data)
	if !ok {
		return
	}
	blocks := a.pair.blocks
	tried := map[chainhash.Hash]bool{}
	for i := range blocks {
		at := (a.next + i) % len(blocks)
		b := &blocks[at]
		if uint64(b.txs) != txs+1 || tried[b.prev] {
			continue
		}
		tried[b.prev] = true
		if checksum(&b.prev, data) == sum {
			a.next = at + 1
			a.give(offset, data, b)
			return
		}
	}
}

// give notes a record at all blocks that it fits. All blocks that spend nothing have the
// same data, so that it does not matter which block's data it is.
func (a *assigner) give(offset uint32, data []byte, found *block) {
	var alike []*block
	for _, i := range a.children[found.prev] {
		if b := &a.pair.blocks[i]; b.txs == found.txs {
			alike = append(alike, b)
		}
	}
	different := false // blocks, not the same one twice
	for _, b := range alike {
		different = different || b.hash != found.hash
	}
	for _, b := range alike {
		b.shared = b.shared || different && len(data) > 1
		if len(data) > 1 || b.records == 0 {
			b.records = min(b.records+1, 2)
		}
		b.undoOffset, b.undoSize = offset, uint32(len(data))
	}
}

// checksum is blockfile.UndoChecksum without a copy of the data.
func checksum(prev *chainhash.Hash, data []byte) chainhash.Hash {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(data)
	var first [sha256.Size]byte
	return sha256.Sum256(h.Sum(first[:0]))
}
