// Package access is who may connect, and what peers may do: bans and permissions,
// as Bitcoin Core 30.2 knows them (src/banman.cpp, src/net_permissions.cpp). It is
// pure: files and time are the caller's.
package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// Add bans a range, or bans it for longer. It reports whether that changed
// anything: a ban is not shortened.
func (b *Bans) Add(ban Ban) bool {
	if b.list == nil {
		b.list = make(map[netaddr.Subnet]Ban)
	}
	if !b.list[ban.Subnet].Until.Before(ban.Until) {
		return false
	}
	b.list[ban.Subnet] = ban
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

// record is a ban in the file.
type record struct {
	Version int64  `json:"version"`
	Created int64  `json:"ban_created"`
	Until   int64  `json:"banned_until"`
	Address string `json:"address"`
}

// file is Core's banlist.json.
type file struct {
	Warning string    `json:"_warning_"`
	Nets    *[]record `json:"banned_nets"`
}

const (
	recordVersion = 1

	warning = "The program keeps this file itself. What you change here while it runs may be ignored or lost."
)

// Marshal returns the bans as a file in Core's format.
func (b *Bans) Marshal() []byte {
	nets := []record{}
	for _, ban := range b.List() {
		nets = append(nets, record{recordVersion, ban.Created.Unix(), ban.Until.Unix(), ban.Subnet.String()})
	}
	text, _ := json.MarshalIndent(file{warning, &nets}, "", "    ") // cannot fail
	return append(text, '\n')
}

// errNoList reports a file that is no list of bans.
var errNoList = errors.New("no list of banned addresses")

// ParseBans reads a file in Core's format. Entries of other versions and those
// whose address cannot be read are left out and told in dropped.
func ParseBans(text []byte) (b Bans, dropped []string, err error) {
	var f file
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&f); err != nil {
		return Bans{}, nil, fmt.Errorf("%w: %w", errNoList, err)
	}
	if f.Nets == nil {
		return Bans{}, nil, errNoList
	}
	b.list = make(map[netaddr.Subnet]Ban, len(*f.Nets))
	for _, r := range *f.Nets {
		if r.Version != recordVersion {
			dropped = append(dropped, fmt.Sprintf("Dropping entry with unknown version (%d) from ban list", r.Version))
			continue
		}
		s, err := netaddr.ParseSubnet(r.Address)
		if err != nil {
			dropped = append(dropped, fmt.Sprintf("Dropping entry with unparseable address or subnet (%s) from ban list", r.Address))
			continue
		}
		b.list[s] = Ban{s, time.Unix(r.Created, 0), time.Unix(r.Until, 0)}
	}
	return b, dropped, nil
}
