package netaddr

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

// parseShort reads an IPv4 address in the old short forms that the C library
// takes. They have one to four numbers, decimal, octal or hexadecimal. The
// last number fills all remaining bytes, as in 127.1.
func parseShort(text string) (netip.Addr, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var ip uint32
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		if part == "" || strings.ContainsAny(part, "_+-oObB") && !strings.HasPrefix(strings.ToLower(part), "0x") {
			return netip.Addr{}, false
		}
		n, err := strconv.ParseUint(part, 0, bits)
		if err != nil || strings.Contains(part, "_") {
			return netip.Addr{}, false
		}
		ip = ip<<bits | uint32(n)
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, ip))), true
}
