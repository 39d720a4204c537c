package addrman

import (
	"crypto/sha256"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
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
