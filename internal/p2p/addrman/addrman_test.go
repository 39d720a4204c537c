package addrman_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

var now = time.Unix(1_700_000_000, 0)

func addr(tb testing.TB, text string) netaddr.Addr {
	tb.Helper()
	a, err := netaddr.Parse(text, 8333)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func addressOf(a netaddr.Addr, at time.Time) codec.Address {
	return codec.Address{Time: uint32(at.Unix()), Services: wire.SFNodeNetwork, Addr: a}
}

func all(netaddr.Network) bool { return true }

func nth(n int) netaddr.Addr {
	var ip [4]byte
	binary.BigEndian.PutUint32(ip[:], 0x10000000+uint32(n)*2654435761)
	if ip[0] < 11 || ip[0] > 100 {
		ip[0] = 11 + ip[0]%89
	}
	return netaddr.FromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(ip), 8333))
}

func TestAddAndSelect(t *testing.T) {
	m := addrman.New(nil)
	source := addr(t, "250.1.2.1")
	if _, ok := m.Select(false, all, now); ok {
		t.Error("selected from nothing")
	}
	a := addr(t, "250.1.1.1")
	if !m.Add(addressOf(a, now), source, 0, now) || m.Add(addressOf(a, now), source, 0, now) {
		t.Error("an address is added once")
	}
	if m.Add(addressOf(addr(t, "127.0.0.1"), now), source, 0, now) {
		t.Error("an address that cannot be reached was added")
	}
	if got, ok := m.Select(true, all, now); !ok || got.Addr != a || got.Tried {
		t.Errorf("got %+v, %t", got, ok)
	}
	if !m.Good(a, now) {
		t.Fatal("not moved")
	}
	if _, ok := m.Select(true, all, now); ok {
		t.Error("an address that was reached counts as new")
	}
	later := now.Add(time.Hour)
	if got, ok := m.Select(false, all, later); !ok || got.Addr != a || !got.Tried {
		t.Errorf("got %+v, %t", got, ok)
	}
	if _, ok := m.Select(false, func(n netaddr.Network) bool { return n == netaddr.Onion }, later); ok {
		t.Error("selected from another network")
	}
	if m.Good(addr(t, "250.9.9.9"), now) {
		t.Error("an unknown address is good")
	}
	if fresh, tried := m.Size(nil); fresh != 0 || tried != 1 {
		t.Errorf("%d new, %d tried", fresh, tried)
	}
}

// However many addresses one hand tells of, most places stay for others.
func TestOneSourceIsBounded(t *testing.T) {
	m := addrman.New(nil)
	source := addr(t, "250.1.2.1")
	for n := range 20_000 {
		m.Add(addressOf(nth(n), now), source, 0, now)
	}
	if got, most := m.Len(), 64*64; got > most {
		t.Errorf("%d addresses of one source, more than %d", got, most)
	}
	for n := range 1000 {
		m.Add(addressOf(nth(100_000+n), now), addr(t, fmt.Sprintf("%d.%d.1.1", 11+n%80, n%250)), 0, now)
	}
	if m.Len() < 64*64/2+500 {
		t.Errorf("others found no place: %d", m.Len())
	}
}

func TestSample(t *testing.T) {
	m := addrman.New(nil)
	for n := range 1000 {
		m.Add(addressOf(nth(n), now), addr(t, fmt.Sprintf("%d.7.1.1", 11+n%80)), 0, now)
	}
	known := m.Len()
	if got := len(m.Sample(1000, 23, nil, now)); got != known*23/100 {
		t.Errorf("got %d of %d", got, known)
	}
	if got := len(m.Sample(0, 0, nil, now)); got != known {
		t.Errorf("got %d of %d", got, known)
	}
	onion := netaddr.Onion
	if got := m.Sample(0, 0, &onion, now); len(got) != 0 {
		t.Errorf("got %d", len(got))
	}
	if got := m.Sample(0, 0, nil, now.Add(31*24*time.Hour)); len(got) != 0 {
		t.Errorf("%d addresses that nobody heard of in a month", len(got))
	}
}

// Random histories keep the tables whole: every address has a place, and places
// hold addresses that are known.
func TestHistories(t *testing.T) {
	steps := 5_000
	if os.Getenv("TRAWL_SOAK") != "" {
		steps = 100_000
	}
	m := addrman.New(nil)
	at := now
	for n := range steps {
		a := nth(n % 1919)
		switch n % 5 {
		case 0, 1:
			m.Add(addressOf(a, at), nth(n%13), time.Hour, at)
		case 2:
			m.Good(a, at)
		case 3:
			m.Attempt(a, true, at)
		default:
			if got, ok := m.Select(n%2 == 0, all, at); ok && n%2 == 0 && got.Tried {
				t.Fatal("a new address was reached before")
			}
		}
		at = at.Add(time.Minute)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// With the fixed key two addresses that were sought for it want the same place among those
// reached, so that the second stays new.
func TestFixedKey(t *testing.T) {
	m := addrman.NewFixed(nil)
	for i, text := range []string{"1.2.3.4:8333", "1.2.5.45:8333"} {
		a := addr(t, text)
		if !m.Add(addressOf(a, now), a, 0, now) {
			t.Fatalf("%s not added", text)
		}
		if got := m.Good(a, now); got != (i == 0) {
			t.Errorf("%s reached: %v", text, got)
		}
	}
}
