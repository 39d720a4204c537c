package netaddr

import (
	"crypto/sha3"
	"encoding/base32"
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// ErrSyntax reports a text that is no address of any known network. It may
// still be a name to resolve.
var ErrSyntax = errors.New("not an address")

const (
	onionSuffix  = ".onion"
	onionVersion = 3
	i2pSuffix    = ".b32.i2p"
)

// lowerBase32 is the alphabet of RFC 4648 in lower case, as Tor and I2P use it.
var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Parse reads a numeric address with or without a port: "1.2.3.4:8333",
// "[::1]:8333", "::1", "<key>.onion", "<key>.b32.i2p:0". The port that is not
// said is defaultPort.
//
// Errors: ErrSyntax.
func Parse(text string, defaultPort uint16) (Addr, error) {
	host, port, _ := SplitHostPort(text, defaultPort) // I2P addresses have port 0
	a, ok := parseHost(host)
	if !ok {
		return Addr{}, ErrSyntax
	}
	return a.WithPort(port), nil
}

// SplitHostPort splits "host:port" and "[host]:port"; a missing port is
// defaultPort. As in Core, a text with several colons and no brackets is a
// host alone. It reports false if the port is 0 or no number; a port that is
// no number stays part of the host.
func SplitHostPort(text string, defaultPort uint16) (host string, port uint16, ok bool) {
	host, port, ok = text, defaultPort, true
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
		bracketed := text[0] == '[' && text[max(colon-1, 0)] == ']'
		if bracketed || strings.IndexByte(text, ':') == colon {
			n, err := parsePort(text[colon+1:])
			if err != nil {
				return text, defaultPort, false
			}
			host, port, ok = text[:colon], n, n != 0
		}
	}
	if len(host) >= 2 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	return host, port, ok
}

// parsePort reads decimal digits: no sign, no space.
func parsePort(text string) (uint16, error) {
	if strings.HasPrefix(text, "+") {
		return 0, ErrSyntax
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err
}

// parseHost reads an address without a port.
func parseHost(host string) (Addr, bool) {
	if a, ok := parseOnion(host); ok {
		return a, true
	}
	if a, ok := parseI2P(host); ok {
		return a, true
	}
	ip, err := netip.ParseAddr(host)
	if err == nil {
		return fromIP(ip), true
	}
	ip, ok := parseShort(host)
	return fromIP(ip), ok
}

// parseOnion reads a Tor address: key, checksum and version in base 32.
func parseOnion(host string) (Addr, bool) {
	text, ok := strings.CutSuffix(host, onionSuffix)
	if !ok {
		return Addr{}, false
	}
	raw, err := lowerBase32.DecodeString(strings.ToLower(text))
	if err != nil || len(raw) != 35 {
		return Addr{}, false
	}
	a := Addr{network: Onion, host: [32]byte(raw)}
	return a, onionHost(a.host) == strings.ToLower(host)
}

// onionHost returns the text of a Tor key.
func onionHost(key [32]byte) string {
	sum := sha3.Sum256(append(append([]byte(".onion checksum"), key[:]...), onionVersion))
	raw := append(key[:len(key):len(key)], sum[0], sum[1], onionVersion)
	return lowerBase32.EncodeToString(raw) + onionSuffix
}

// parseI2P reads an I2P address: the hash of a destination in base 32.
func parseI2P(host string) (Addr, bool) {
	text, ok := strings.CutSuffix(strings.ToLower(host), i2pSuffix)
	if !ok {
		return Addr{}, false
	}
	raw, err := lowerBase32.DecodeString(text)
	if err != nil || len(raw) != 32 {
		return Addr{}, false
	}
	return Addr{network: I2P, host: [32]byte(raw)}, true
}

// i2pHost returns the text of an I2P destination hash.
func i2pHost(hash [32]byte) string { return lowerBase32.EncodeToString(hash[:]) + i2pSuffix }
