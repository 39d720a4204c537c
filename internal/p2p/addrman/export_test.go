package addrman

import (
	"crypto/sha256"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// SignOld completes the body of a file of old.
func SignOld(body []byte) []byte {
	file := append([]byte(oldMagic), body...)
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

// Sign completes a file.
func Sign(file []byte) []byte {
	return append(file[:len(file):len(file)], chainhash.DoubleHashB(file)...)
}

// A Place is where an address is in a table: new or tried.
type Place struct {
	Table            string
	Bucket, Position int
	Address
}

// Places returns where every address is.
func (m *Manager) Places() (places []Place) {
	all := make(map[netaddr.Addr]Address)
	for _, a := range m.All() {
		all[a.Addr] = a
	}
	add := func(table string, bucket int, entries *[bucketSize]*entry) {
		for position, e := range entries {
			if e != nil {
				places = append(places, Place{table, bucket, position, all[e.addr]})
			}
		}
	}
	for b := range m.fresh {
		add("new", b, &m.fresh[b])
	}
	for b := range m.tried {
		add("tried", b, &m.tried[b])
	}
	return places
}

// Check returns what is wrong with the tables.
func (m *Manager) Check() error {
	places := make(map[*entry]int)
	for b := range m.fresh {
		for _, e := range m.fresh[b] {
			if e != nil {
				places[e]++
			}
		}
	}
	tried := make(map[*entry]int)
	for b := range m.tried {
		for _, e := range m.tried[b] {
			if e != nil {
				tried[e]++
			}
		}
	}
	if len(m.list) != len(m.known) || len(m.list) != len(places)+len(tried) {
		return fmt.Errorf("%d listed, %d known, %d new, %d tried", len(m.list), len(m.known), len(places), len(tried))
	}
	for i, e := range m.list {
		if e.at != i || m.known[e.addr] != e || e.places != places[e] || e.tried != (tried[e] == 1) ||
			e.tried && e.places > 0 {
			return fmt.Errorf("entry %d of %v: %d places, in %d", i, e.addr, e.places, places[e])
		}
	}
	return nil
}
