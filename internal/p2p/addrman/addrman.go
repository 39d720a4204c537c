// Package addrman remembers addresses of nodes and chooses addresses to connect to, in the
// way of Bitcoin Core 30.2 (src/addrman.cpp). Addresses that were reached and addresses
// that are only known have a table each. An address's place in its table depends on a
// secret, on the address's group and on its source, so that nobody can fill the tables
// with addresses of their own.
//
// The package is pure: time and files are the caller's. A Manager has one user at
// a time.
package addrman

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// The sizes of the tables.
const (
	newBuckets   = 1024
	triedBuckets = 256
	bucketSize   = 64

	newBucketsPerSource  = 64 // for one group that sends addresses
	triedBucketsPerGroup = 8
	maxPlaces            = 8 // of an address in the table of new ones
)

// maxAddrs is how many addresses are remembered.
const maxAddrs = (newBuckets + triedBuckets) * bucketSize

// A Manager remembers addresses; make one with [New] or [Parse].
type Manager struct {
	key   [32]byte
	asmap *asmap.Map // says which addresses are in one hand
	known map[netaddr.Addr]*entry
	list  []*entry // all, for random choice
	fresh [newBuckets][bucketSize]*entry
	tried [triedBuckets][bucketSize]*entry
	rand  *mathrand.Rand

	checkEach int // see CheckEach
	say       func(string)
}

// An entry is an address, its history, and its places in the tables.
type entry struct {
	addr     netaddr.Addr
	services wire.ServiceFlag
	seen     time.Time // by some node, last
	source   netaddr.Addr
	tried    bool
	places   int // in the table of new ones
	at       int // in Manager.list

	lastTry     time.Time
	lastSuccess time.Time
	attempts    int // that failed since the last success
}

// An Address is an address and its history.
type Address struct {
	Addr     netaddr.Addr
	Services wire.ServiceFlag
	Seen     time.Time
	LastTry  time.Time // zero: never
	Tried    bool      // it was reached once
	Source   netaddr.Addr
}

// New returns a manager that knows nothing. Which addresses are in one hand is said by a
// map, or by the addresses alone with nil.
func New(systems *asmap.Map) *Manager {
	m := empty(systems)
	_, _ = rand.Read(m.key[:]) // never fails
	return m
}

// NewFixed is [New] with a key that everybody knows, that of Bitcoin Core's -test=addrman:
// where an address goes can be told before.
func NewFixed(systems *asmap.Map) *Manager {
	m := empty(systems)
	m.key[0] = 1
	return m
}

func empty(systems *asmap.Map) *Manager {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	return &Manager{
		asmap: systems,
		known: make(map[netaddr.Addr]*entry),
		rand:  mathrand.New(mathrand.NewChaCha8(seed)), //nolint:gosec // is cryptographic
	}
}

// When an address is worth nothing.
const (
	future      = 10 * time.Minute    // its time may be ahead of ours
	horizon     = 30 * 24 * time.Hour // since it was seen
	fewTries    = 3                   // that failed and none that did not
	manyTries   = 10                  // that failed since the last success,
	longAgo     = 7 * 24 * time.Hour  // which is so long ago
	justTried   = time.Minute
	recentTry   = 10 * time.Minute
	recentTries = 8
)

// isTerrible reports whether an address may be forgotten.
func (e *entry) isTerrible(now time.Time) bool {
	switch {
	case now.Sub(e.lastTry) <= justTried:
		return false
	case e.seen.After(now.Add(future)), now.Sub(e.seen) > horizon:
		return true
	case e.lastSuccess.IsZero() && e.attempts >= fewTries:
		return true
	default:
		return now.Sub(e.lastSuccess) > longAgo && e.attempts >= manyTries
	}
}

// chance is how likely an address is taken that was chosen.
func (e *entry) chance(now time.Time) float64 {
	chance := 1.0
	if now.Sub(e.lastTry) < recentTry {
		chance = 0.01
	}
	for range min(e.attempts, recentTries) {
		chance *= 0.66
	}
	return chance
}

// keyed is the beginning of a hash of Bitcoin Core's, which is over the parts one
// after the other.
func (m *Manager) keyed() []byte {
	return append(make([]byte, 0, len(m.key)+64), m.key[:]...)
}

// cheapHash is the first part of a hash of bytes.
func cheapHash(b []byte) uint64 {
	sum := chainhash.DoubleHashB(b)
	return binary.LittleEndian.Uint64(sum)
}

// appendCounted appends bytes after their number, which is less than 253.
func appendCounted(b, part []byte) []byte { return append(append(b, byte(len(part))), part...) }

// place returns where an address goes in the table of new ones, when source has sent it.
func (m *Manager) place(a, source netaddr.Addr) **entry {
	return m.placeIn(m.newBucket(a, source), a)
}

func (m *Manager) newBucket(a, source netaddr.Addr) uint32 {
	from := m.asmap.Group(source)
	nth := cheapHash(appendCounted(appendCounted(m.keyed(), m.asmap.Group(a)), from)) % newBucketsPerSource
	return uint32(cheapHash(binary.LittleEndian.AppendUint64(appendCounted(m.keyed(), from), nth)) % newBuckets)
}

// placeIn returns where an address goes in a bucket of the table of new ones.
func (m *Manager) placeIn(bucket uint32, a netaddr.Addr) **entry {
	return &m.fresh[bucket][m.position('N', bucket, a)]
}

// triedPlace returns where an address goes in the table of those reached.
func (m *Manager) triedPlace(a netaddr.Addr) **entry {
	nth := cheapHash(appendCounted(m.keyed(), keyOf(a))) % triedBucketsPerGroup
	grouped := appendCounted(m.keyed(), m.asmap.Group(a))
	bucket := uint32(cheapHash(binary.LittleEndian.AppendUint64(grouped, nth)) % triedBuckets)
	return &m.tried[bucket][m.position('K', bucket, a)]
}

// position is the place in a bucket of the table of new addresses, 'N', or of those
// reached, 'K'.
func (m *Manager) position(table byte, bucket uint32, a netaddr.Addr) uint64 {
	b := binary.LittleEndian.AppendUint32(append(m.keyed(), table), bucket)
	return cheapHash(appendCounted(b, keyOf(a))) % bucketSize
}

// keyOf is an address with its port as it goes into hashes.
func keyOf(a netaddr.Addr) []byte {
	var host []byte
	if a.IsV1Compatible() {
		v1 := a.V1()
		host = v1[:]
	} else {
		_, host = a.V2()
	}
	return binary.BigEndian.AppendUint16(host, a.Port())
}

// Add remembers an address that source has sent. penalty is how much too new its time
// is believed to be. It reports whether it is new in some place.
func (m *Manager) Add(a codec.Address, source netaddr.Addr, penalty time.Duration, now time.Time) bool {
	if !a.Addr.IsRoutable() {
		return false
	}
	defer m.checked()()
	if a.Addr == source {
		penalty = 0
	}
	seen := time.Unix(int64(a.Time), 0).Add(-penalty)
	e := m.known[a.Addr]
	if e != nil && !m.refresh(e, a, seen, now) {
		return false
	}
	if e == nil {
		e = &entry{addr: a.Addr, services: a.Services, seen: seen, source: source}
		m.insert(e)
	}
	place := m.place(a.Addr, source)
	if *place == e {
		return false
	}
	if old := *place; old != nil {
		if !old.isTerrible(now) && (old.places <= 1 || e.places > 0) {
			m.forgetUnplaced(e)
			return false
		}
		m.unplace(place)
	}
	*place = e
	e.places++
	return true
}

// refresh updates an address that is known, and reports whether it may have
// another place.
func (m *Manager) refresh(e *entry, a codec.Address, seen, now time.Time) bool {
	interval := 24 * time.Hour
	if now.Sub(time.Unix(int64(a.Time), 0)) < 24*time.Hour { // it is online
		interval = time.Hour
	}
	newer := seen.After(e.seen)
	if e.seen.Before(seen.Add(-interval)) {
		e.seen = seen
	}
	e.services |= a.Services
	if !newer || e.tried || e.places == maxPlaces {
		return false
	}
	// Each further place is half as likely.
	return e.places == 0 || m.rand.IntN(1<<e.places) == 0
}

func (m *Manager) insert(e *entry) {
	m.known[e.addr] = e
	e.at = len(m.list)
	m.list = append(m.list, e)
}

// unplace takes an address out of a place in the table of new ones.
func (m *Manager) unplace(place **entry) {
	e := *place
	*place = nil
	e.places--
	m.forgetUnplaced(e)
}

// forgetUnplaced forgets an address that has no place.
func (m *Manager) forgetUnplaced(e *entry) {
	if e.places > 0 || e.tried {
		return
	}
	delete(m.known, e.addr)
	last := m.list[len(m.list)-1]
	m.list[e.at], last.at = last, e.at
	m.list = m.list[:len(m.list)-1]
}

// keepFor is how long after its last success an address in the table of those
// reached is not replaced by another.
const keepFor = 4 * time.Hour

// Good notes that an address was reached, and reports whether it is in the table
// of those now.
func (m *Manager) Good(a netaddr.Addr, now time.Time) bool {
	defer m.checked()()
	e := m.known[a]
	if e == nil {
		return false
	}
	e.lastSuccess, e.lastTry, e.attempts = now, now, 0
	if e.tried {
		return true
	}
	place := m.triedPlace(a)
	if old := *place; old != nil {
		if now.Sub(old.lastSuccess) < keepFor {
			return false
		}
		m.demote(place)
	}
	m.clear(e)
	e.tried = true
	*place = e
	return true
}

// clear takes an address out of all its places in the table of new ones.
func (m *Manager) clear(e *entry) {
	for b := 0; b < newBuckets && e.places > 0; b++ {
		at := &m.fresh[b][m.position('N', uint32(b), e.addr)]
		if *at == e {
			*at = nil
			e.places--
		}
	}
}

// demote moves an address from the table of those reached to that of new ones.
func (m *Manager) demote(place **entry) {
	e := *place
	*place = nil
	e.tried = false
	to := m.place(e.addr, e.source)
	if old := *to; old != nil {
		m.unplace(to)
	}
	*to = e
	e.places++
}

// Attempt notes that an address is being tried. Failures count when nothing else
// explains them.
func (m *Manager) Attempt(a netaddr.Addr, counts bool, now time.Time) {
	defer m.checked()()
	if e := m.known[a]; e != nil {
		e.lastTry = now
		if counts {
			e.attempts++
		}
	}
}

// Connected notes that a peer of this address is there.
func (m *Manager) Connected(a netaddr.Addr, now time.Time) {
	const interval = 20 * time.Minute
	if e := m.known[a]; e != nil && now.Sub(e.seen) > interval {
		e.seen = now
	}
}

// SetServices notes what a node offers by its own word.
func (m *Manager) SetServices(a netaddr.Addr, services wire.ServiceFlag) {
	if e := m.known[a]; e != nil {
		e.services = services
	}
}

// Size returns how many addresses are known: of one network, or of all with nil.
func (m *Manager) Size(network *netaddr.Network) (fresh, tried int) {
	for _, e := range m.list {
		if network != nil && e.addr.Network() != *network {
			continue
		}
		if e.tried {
			tried++
		} else {
			fresh++
		}
	}
	return fresh, tried
}

// Len returns how many addresses are known.
func (m *Manager) Len() int { return len(m.list) }
