package netaddr

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxLen is the longest host, in bytes, that BIP155 allows for networks to come.
const MaxLen = 512

// ErrLength reports a host whose length is not that of its network.
var ErrLength = errors.New("wrong address length")

// ErrTooLong reports a host of more than MaxLen bytes.
var ErrTooLong = errors.New("Address too long") //nolint:staticcheck // Core's words

// V1 returns the host in the 16 bytes of messages before BIP155: all zero for
// a network that does not fit.
func (a Addr) V1() (host [16]byte) {
	switch a.network {
	case IPv4:
		copy(host[:], mappedPrefix)
		copy(host[len(mappedPrefix):], a.host[:4])
	case IPv6:
		copy(host[:], a.host[:])
	default:
	}
	return host
}

// IsV1Compatible reports whether V1 keeps the address.
func (a Addr) IsV1Compatible() bool { return a.network == IPv4 || a.network == IPv6 }

// FromV1 reads the 16 bytes of V1. An old Tor address (version 2) reads as an
// invalid address.
func FromV1(host [16]byte, port uint16) Addr {
	a := Addr{port: port}
	switch {
	case bytes.HasPrefix(host[:], mappedPrefix):
		a.network = IPv4
		copy(a.host[:], host[len(mappedPrefix):])
	case bytes.HasPrefix(host[:], onionV2Prefix):
	default:
		copy(a.host[:], host[:])
	}
	return a
}

// V2 returns the host as BIP155 writes it: the number of its network, and its
// bytes.
func (a Addr) V2() (network byte, host []byte) {
	return networks[a.network].id, bytes.Clone(a.bytes())
}

// CheckLen checks the length of a host before its bytes are read.
//
// Errors: ErrTooLong.
func CheckLen(n uint64) error {
	if n > MaxLen {
		return fmt.Errorf("%w: %d > %d", ErrTooLong, n, MaxLen)
	}
	return nil
}

// FromV2 reads what V2 returns. The result is no address, without an error, for
// a network that is not known and for IPv4 and old Tor addresses hidden in an
// IPv6 one, which BIP155 forbids.
//
// Errors: ErrLength and ErrTooLong, after which the message cannot be trusted.
func FromV2(network byte, host []byte, port uint16) (Addr, error) {
	none := Addr{port: port}
	if err := CheckLen(uint64(len(host))); err != nil {
		return Addr{}, err
	}
	for n, known := range networks {
		if known.id != network {
			continue
		}
		if len(host) != known.size {
			return Addr{}, fmt.Errorf("%w: BIP155 %s address with length %d (should be %d)",
				ErrLength, known.name, len(host), known.size)
		}
		a := Addr{network: Network(n), port: port}
		copy(a.host[:], host)
		if a.under(mappedPrefix) || a.under(onionV2Prefix) {
			return none, nil
		}
		return a, nil
	}
	return none, nil
}
