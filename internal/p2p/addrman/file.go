package addrman

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// The file of addresses: magic, key, number of entries, entries, and the SHA-256
// of all that. Integers are little-endian. An entry is address, services (8
// bytes), source, times of being seen, tried and reached (8 each, seconds since
// 1970), failures (4) and a byte that is 1 for an address that was reached; an
// address is network and length (1 each), host, and port (2).
const magic = "trawl addresses 1\n"

// MaxFile is the longest file that is read, in bytes.
const MaxFile = 64 << 20

// ErrFile reports a file that is not one of addresses, or damaged.
var ErrFile = errors.New("addresses cannot be read")

// Marshal returns the addresses as a file.
func (m *Manager) Marshal() []byte {
	b := append([]byte(magic), m.key[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.list)))
	for _, e := range m.list {
		b = appendAddr(b, e.addr)
		b = binary.LittleEndian.AppendUint64(b, uint64(e.services))
		b = appendAddr(b, e.source)
		for _, at := range []time.Time{e.seen, e.lastTry, e.lastSuccess} {
			b = appendTime(b, at)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(min(e.attempts, 1000)))
		tried := byte(0)
		if e.tried {
			tried = 1
		}
		b = append(b, tried)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

func appendAddr(b []byte, a netaddr.Addr) []byte {
	network, host := a.V2()
	b = append(b, network, byte(len(host)))
	b = append(b, host...)
	return binary.LittleEndian.AppendUint16(b, a.Port())
}

func appendTime(b []byte, at time.Time) []byte {
	if at.IsZero() {
		return binary.LittleEndian.AppendUint64(b, 0)
	}
	return binary.LittleEndian.AppendUint64(b, uint64(at.Unix()))
}

// Parse reads what Marshal returns. Addresses for which there is no place any more
// are left out.
//
// Errors: ErrFile.
func Parse(file []byte) (*Manager, error) {
	if len(file) > MaxFile || len(file) < len(magic)+sha256.Size || !bytes.HasPrefix(file, []byte(magic)) {
		return nil, fmt.Errorf("%w: no such file", ErrFile)
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrFile)
	}
	m := empty()
	r := reader{b: body[len(magic):]}
	copy(m.key[:], r.next(len(m.key)))
	for range r.uint32() {
		e := r.entry()
		if r.err != nil {
			return nil, r.err
		}
		m.restore(e)
	}
	if len(r.b) > 0 || r.err != nil {
		return nil, fmt.Errorf("%w: wrong length", ErrFile)
	}
	return m, nil
}

// restore gives an entry of a file its place.
func (m *Manager) restore(e *entry) {
	if m.known[e.addr] != nil || !e.addr.IsRoutable() || len(m.list) >= Most {
		return
	}
	if e.tried {
		if place := m.triedPlace(e.addr); *place == nil {
			*place = e
			m.insert(e)
			return
		}
		e.tried = false
	}
	if place := m.place(e.addr, e.source); *place == nil {
		*place = e
		e.places = 1
		m.insert(e)
	}
}

// A reader reads the bytes of a file. After an error it yields zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) next(n int) []byte {
	if n > len(r.b) {
		r.err = fmt.Errorf("%w: too short", ErrFile)
		r.b = nil
		return make([]byte, n)
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.next(4)) }
func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.next(8)) }

func (r *reader) time() time.Time {
	sec := int64(r.uint64())
	if sec <= 0 || sec > 1<<40 {
		return time.Time{}
	}
	return time.Unix(sec, 0)
}

func (r *reader) addr() netaddr.Addr {
	head := r.next(2)
	host := r.next(int(head[1]))
	a, err := netaddr.FromV2(head[0], host, binary.LittleEndian.Uint16(r.next(2)))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%w: %w", ErrFile, err)
	}
	return a
}

func (r *reader) entry() *entry {
	e := &entry{addr: r.addr()}
	e.services = wire.ServiceFlag(r.uint64())
	e.source = r.addr()
	e.seen, e.lastTry, e.lastSuccess = r.time(), r.time(), r.time()
	e.attempts = int(min(r.uint32(), 1000))
	e.tried = r.next(1)[0] == 1
	return e
}
