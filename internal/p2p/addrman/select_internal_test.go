package addrman

import (
	"net/netip"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// Each of few buckets is chosen as often as the others, also where they lie side by side.
func TestChoosesAmongNeighbors(t *testing.T) {
	m := New(nil)
	address := func(i int) netaddr.Addr {
		return netaddr.FromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, 2, 3, byte(i)}), 8333))
	}
	all := func(netaddr.Network) bool { return true }
	for _, table := range [][][bucketSize]*entry{m.fresh[:], m.tried[:]} {
		for i := range 3 {
			table[len(table)-2+i-len(table)*(i/2)][7*i] = &entry{addr: address(i)} // the last two and the first
		}
		const times = 3_000
		got := make(map[netaddr.Addr]int)
		for range times {
			got[m.choose(table, all, time.Now()).addr]++
		}
		for i := range 3 {
			if n := got[address(i)]; n < times/5 || n > times/2 {
				t.Errorf("of %d buckets, address %d: chosen %d of %d times", len(table), i, n, times)
			}
		}
	}
}

// However many sources tell of an address, it has maxPlaces places at most.
func TestAddressHasFewPlaces(t *testing.T) {
	m := New(nil)
	at := time.Unix(1_700_000_000, 0)
	address := netaddr.FromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{250, 1, 1, 1}), 8333))
	most := 0
	for i := range 20_000 { // each further place is half as likely
		ip := netip.AddrFrom4([4]byte{byte(11 + i%80), byte(i / 80), 1, 1})
		source := netaddr.FromAddrPort(netip.AddrPortFrom(ip, 8333))
		at = at.Add(time.Minute)
		m.Add(codec.Address{Time: uint32(at.Unix()), Services: wire.SFNodeNetwork, Addr: address}, source, 0, at)
		most = max(most, m.known[address].places)
	}
	if most != maxPlaces {
		t.Errorf("%d places, want %d", most, maxPlaces)
	}
}
