package script

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/btcsuite/btcd/wire"
)

// A digest hashes a message by SHA256. Short messages never leave its buffer.
type digest struct {
	sha     hash.Hash
	started bool // sha has the bytes before those of buf
	buf     []byte
}

const digestSize = 1024

var digests = sync.Pool{New: func() any {
	return &digest{sha: sha256.New(), buf: make([]byte, 0, digestSize)}
}}

func newDigest() *digest {
	d := digests.Get().(*digest)
	d.reset()
	return d
}

func (d *digest) release() { digests.Put(d) }

func (d *digest) reset() {
	d.started = false
	d.buf = d.buf[:0]
}

// room makes sure that the buffer takes n bytes more, at most digestSize.
func (d *digest) room(n int) {
	if len(d.buf)+n > cap(d.buf) {
		d.flush()
	}
}

func (d *digest) flush() {
	if !d.started {
		d.started = true
		d.sha.Reset()
	}
	d.sha.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *digest) byte(b byte) {
	d.room(1)
	d.buf = append(d.buf, b)
}

func (d *digest) put32(n uint32) {
	d.room(4)
	d.buf = binary.LittleEndian.AppendUint32(d.buf, n)
}

func (d *digest) put64(n uint64) {
	d.room(8)
	d.buf = binary.LittleEndian.AppendUint64(d.buf, n)
}

func (d *digest) bytes(b []byte) {
	if len(b) > cap(d.buf)-len(d.buf) {
		d.flush()
		if len(b) > cap(d.buf) {
			d.sha.Write(b)
			return
		}
	}
	d.buf = append(d.buf, b...)
}

// size writes a length as transactions have them.
func (d *digest) size(n int) {
	d.room(9)
	d.buf = appendSize(d.buf, n)
}

func (d *digest) script(script []byte) {
	d.size(len(script))
	d.bytes(script)
}

func (d *digest) outpoint(at *wire.OutPoint) {
	d.bytes(at.Hash[:])
	d.put32(at.Index)
}

func (d *digest) output(out *wire.TxOut) {
	d.put64(uint64(out.Value))
	d.script(out.PkScript)
}

// sum returns the hash of the written bytes.
func (d *digest) sum() [32]byte {
	if !d.started {
		return sha256.Sum256(d.buf)
	}
	d.flush()
	return [32]byte(d.sha.Sum(d.buf[:0]))
}

// double returns the hash of the hash.
func (d *digest) double() [32]byte {
	once := d.sum()
	return sha256.Sum256(once[:])
}

// A midstate is a digest that was left off.
type midstate struct {
	started   bool
	sha, tail []byte
}

func (m *midstate) save(d *digest) {
	m.tail = append(m.tail[:0], d.buf...)
	if m.started = d.started; m.started {
		m.sha, _ = d.sha.(encoding.BinaryAppender).AppendBinary(m.sha[:0]) // SHA256's cannot fail
	}
}

func (m *midstate) load(d *digest) {
	d.buf = append(d.buf[:0], m.tail...)
	if d.started = m.started; d.started {
		_ = d.sha.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.sha) // nor its own state
	}
}

// appendSize appends a length as transactions have them.
func appendSize(b []byte, n int) []byte {
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n <= 0xffff:
		return append(b, 0xfd, byte(n), byte(n>>8))
	case n <= 0xffffffff:
		return binary.LittleEndian.AppendUint32(append(b, 0xfe), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xff), uint64(n))
}
