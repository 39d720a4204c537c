// Package access holds the bans and permissions of peers, as Bitcoin Core 30.2 has
// them (src/banman.cpp, src/net_permissions.cpp). It is pure: files and time are
// the caller's.
package access

import (
	"maps"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// A Ban is a range of addresses that may not connect.
type Ban struct {
	Subnet         netaddr.Subnet
	Created, Until time.Time // to the second
}

// Bans are the ranges that the operator has banned. The zero value is empty.
type Bans struct{ list map[netaddr.Subnet]Ban }

// Put bans a range for as long as ban says, whatever was said of it before.
func (b *Bans) Put(ban Ban) {
	if b.list == nil {
		b.list = make(map[netaddr.Subnet]Ban)
	}
	b.list[ban.Subnet] = ban
}

// Add bans a range, or bans it for longer. It reports whether that changed
// anything: a ban is not shortened.
func (b *Bans) Add(ban Ban) bool {
	if !b.list[ban.Subnet].Until.Before(ban.Until) {
		return false
	}
	b.Put(ban)
	return true
}

// Remove takes back the ban of exactly that range. It reports false when there is
// none.
func (b *Bans) Remove(s netaddr.Subnet) bool {
	_, ok := b.list[s]
	delete(b.list, s)
	return ok
}

// Clear takes back all bans.
func (b *Bans) Clear() { clear(b.list) }

// Sweep forgets bans that are over, and reports whether there were any.
func (b *Bans) Sweep(now time.Time) bool {
	before := len(b.list)
	maps.DeleteFunc(b.list, func(_ netaddr.Subnet, ban Ban) bool { return now.After(ban.Until) })
	return len(b.list) != before
}

// Has reports whether exactly that range is banned.
func (b *Bans) Has(s netaddr.Subnet, now time.Time) bool { return now.Before(b.list[s].Until) }

// Contains reports whether an address is in a banned range.
func (b *Bans) Contains(a netaddr.Addr, now time.Time) bool {
	for s, ban := range b.list {
		if now.Before(ban.Until) && s.Contains(a) {
			return true
		}
	}
	return false
}

// List returns all bans in Core's order.
func (b *Bans) List() []Ban {
	return slices.SortedFunc(maps.Values(b.list), func(x, y Ban) int { return x.Subnet.Compare(y.Subnet) })
}
