// Package asmap maps addresses to autonomous systems, by a file in Bitcoin Core's format
// (src/util/asmap.cpp). All networks that an operator routes count as the same hand,
// whatever their addresses are.
//
// The file is a program of bits, the least significant of each byte first. Its input is the
// 128 bits of an address, most significant bit first; an IPv4 address is embedded in an IPv6
// address. The operations are:
//
//	RETURN n    the system is n
//	JUMP d      where the next bit of the address is 1, skip d bits of the program
//	MATCH bits  where the next bits of the address are others, the system is the default
//	DEFAULT n   the default is n from here on; before it is 0, which is no system
//
// The package is pure. A Map may be used by several goroutines; a nil Map knows no system.
package asmap

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// MaxFile is the longest file that is read, in bytes; those that are published have less
// than two million.
const MaxFile = 32 << 20

// A Map maps addresses to autonomous systems; make one with [Parse].
type Map struct {
	program []byte
	version chainhash.Hash
}

// Parse reads a file, and reports whether it is one: a program that ends with each address,
// has no part that none reaches, and nothing behind it.
func Parse(file []byte) (*Map, bool) {
	if len(file) == 0 || len(file) > MaxFile {
		return nil, false
	}
	c := checker{program{file: file, end: 8 * len(file)}}
	if !c.branch(addressBits, c.end) || !c.padded() {
		return nil, false
	}
	return &Map{program: file, version: versionOf(file)}, true
}

// KnownByBytes returns the map with the version that later releases of Bitcoin Core know it by: the hash of its bytes.
func (m *Map) KnownByBytes() *Map {
	return &Map{program: m.program, version: chainhash.DoubleHashH(m.program)}
}

// versionOf is the hash by which a file is known: that of its bits, one in each byte, after
// their number.
func versionOf(file []byte) chainhash.Hash {
	h := sha256.New()
	h.Write(compactSize(uint64(8 * len(file))))
	var spread [8]byte
	for _, b := range file {
		for i := range spread {
			spread[i] = b >> i & 1
		}
		h.Write(spread[:])
	}
	return sha256.Sum256(h.Sum(nil))
}

func compactSize(n uint64) []byte {
	switch {
	case n < 0xfd:
		return []byte{byte(n)}
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16([]byte{0xfd}, uint16(n))
	default:
		return binary.LittleEndian.AppendUint32([]byte{0xfe}, uint32(n))
	}
}

// Version returns the hash by which the map is known, zero for a nil Map.
func (m *Map) Version() chainhash.Hash {
	if m == nil {
		return chainhash.Hash{}
	}
	return m.version
}

// AS returns the number of the autonomous system that an address belongs to, 0 where none is
// known. Only addresses of the internet have one.
func (m *Map) AS(a netaddr.Addr) uint32 {
	ip, ok := a.InternetKey()
	if m == nil || !ok {
		return 0
	}
	p := program{file: m.program, end: 8 * len(m.program)}
	return p.run(ip)
}

// Group returns the group of an address, in the form that goes into the hashes of the table
// of addresses. The group is the autonomous system if the map knows it, and else the
// address's own group.
func (m *Map) Group(a netaddr.Addr) []byte {
	const kind = 2 // that of IPv6 addresses, for those of IPv4 too
	if as := m.AS(a); as != 0 {
		return binary.LittleEndian.AppendUint32([]byte{kind}, as)
	}
	return a.NetGroup()
}

// addressBits is how many bits an address has.
const addressBits = 128

// run returns what the program says of an address.
func (p *program) run(ip [16]byte) uint32 {
	var fallback uint32
	for next := 0; ; {
		op, operand, ok := p.instruction()
		if !ok {
			return 0
		}
		switch op {
		case opReturn:
			return operand
		case opDefault:
			fallback = operand
		case opJump:
			if next >= addressBits {
				return 0
			}
			if bitOf(ip, next) == 1 {
				p.at += int(operand)
			}
			next++
		case opMatch:
			for n := bits.Len32(operand) - 2; n >= 0; n-- {
				if next >= addressBits {
					return 0
				}
				if bitOf(ip, next) != operand>>n&1 {
					return fallback
				}
				next++
			}
		}
	}
}

// bitOf returns a bit of an address.
func bitOf(ip [16]byte, n int) uint32 { return uint32(ip[n/8]>>(7-n%8)) & 1 }
