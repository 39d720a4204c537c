package addrman

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// The file of addresses as revisions up to 9dfadae wrote it: magic, key, number of entries, entries, and the SHA-256
// of all that. Integers are little-endian. An entry begins with address,
// services (8 bytes) and source. The times follow when it was last seen, tried
// and reached (8 each, seconds since 1970), then failures (4) and a byte that
// is 1 for a reached address. An address is network and length (1 each), host,
// and port (2).
const oldMagic = "trawl addresses 1\n"

// errOldFile reports a file that is not one of addresses, or damaged.
var errOldFile = errors.New("addresses cannot be read")

// IsOld reports whether a file begins like the files of revisions up to 9dfadae.
func IsOld(file []byte) bool { return bytes.HasPrefix(file, []byte(oldMagic)) }

// parseOld reads such a file. Addresses for which there is no place are left out.
func parseOld(file []byte, systems *asmap.Map) (*Manager, error) {
	if len(file) < len(oldMagic)+sha256.Size {
		return nil, fmt.Errorf("%w: no such file", errOldFile)
	}
	body, sum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: wrong checksum", errOldFile)
	}
	m := empty(systems)
	r := oldReader{b: body[len(oldMagic):]}
	if copy(m.key[:], r.next(len(m.key))); m.key == [32]byte{} {
		return nil, fmt.Errorf("%w: no key", errOldFile)
	}
	for range r.uint32() {
		e := r.entry()
		if r.err != nil {
			return nil, r.err
		}
		m.restore(e)
	}
	if len(r.b) > 0 || r.err != nil {
		return nil, fmt.Errorf("%w: wrong length", errOldFile)
	}
	return m, nil
}

// restore gives an entry of a file its place.
func (m *Manager) restore(e *entry) {
	if m.known[e.addr] != nil || !e.addr.IsRoutable() || len(m.list) >= maxAddrs {
		return
	}
	if e.tried && !e.lastSuccess.IsZero() {
		if place := m.triedPlace(e.addr); *place == nil {
			*place = e
			m.insert(e)
			return
		}
	}
	e.tried = false
	if place := m.place(e.addr, e.source); *place == nil {
		*place = e
		e.places = 1
		m.insert(e)
	}
}

// An oldReader reads the bytes of a file. After an error it yields zeros.
type oldReader struct {
	b   []byte
	err error
}

func (r *oldReader) next(n int) []byte {
	if n > len(r.b) {
		r.err = fmt.Errorf("%w: too short", errOldFile)
		r.b = nil
		return make([]byte, n)
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

func (r *oldReader) uint32() uint32 { return binary.LittleEndian.Uint32(r.next(4)) }
func (r *oldReader) uint64() uint64 { return binary.LittleEndian.Uint64(r.next(8)) }

func (r *oldReader) time() time.Time {
	sec := int64(r.uint64())
	if sec <= 0 || sec > 1<<40 {
		return time.Time{}
	}
	return time.Unix(sec, 0)
}

func (r *oldReader) addr() netaddr.Addr {
	head := r.next(2)
	host := r.next(int(head[1]))
	a, err := netaddr.FromV2(head[0], host, binary.LittleEndian.Uint16(r.next(2)))
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%w: %w", errOldFile, err)
	}
	return a
}

func (r *oldReader) entry() *entry {
	e := &entry{addr: r.addr()}
	e.services = wire.ServiceFlag(r.uint64())
	e.source = r.addr()
	e.seen, e.lastTry, e.lastSuccess = r.time(), r.time(), r.time()
	e.attempts = int(min(r.uint32(), 1000))
	e.tried = r.next(1)[0] == 1
	return e
}
