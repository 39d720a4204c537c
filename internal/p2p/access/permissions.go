package access

import (
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// An Error describes a wrong option to the operator, in Core's words.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// A Grant gives peers permissions (-whitelist, -whitebind).
type Grant struct {
	Permissions peerhandle.Permissions
	Implicit    bool // no permissions are named: those of [Defaults]
	In, Out     bool // for connections in which direction; neither: in
}

// Defaults are what a Grant gives that names no permissions.
type Defaults struct{ Relay, ForceRelay bool }

// Of returns what the grant gives.
func (g Grant) Of(d Defaults) peerhandle.Permissions {
	p := g.Permissions
	if g.Implicit {
		p = Union(p, peerhandle.Permissions{
			NoBan: true, Download: true, Mempool: true, Relay: d.Relay || d.ForceRelay, ForceRelay: d.ForceRelay,
		})
	}
	return p
}

// Union returns what one of two permits.
func Union(a, b peerhandle.Permissions) peerhandle.Permissions {
	return peerhandle.Permissions{
		NoBan: a.NoBan || b.NoBan, Relay: a.Relay || b.Relay, ForceRelay: a.ForceRelay || b.ForceRelay,
		Mempool: a.Mempool || b.Mempool, Download: a.Download || b.Download, Addr: a.Addr || b.Addr,
		BloomFilter: a.BloomFilter || b.BloomFilter,
	}
}

// permissions are what the names in a Grant stand for.
var permissions = map[string]peerhandle.Permissions{
	"":            {},
	"in":          {},
	"bloomfilter": {BloomFilter: true},
	"bloom":       {BloomFilter: true},
	"noban":       {NoBan: true, Download: true},
	"forcerelay":  {ForceRelay: true, Relay: true},
	"mempool":     {Mempool: true},
	"download":    {Download: true},
	"relay":       {Relay: true},
	"addr":        {Addr: true},
	"all": {
		NoBan: true, Relay: true, ForceRelay: true, Mempool: true, Download: true, Addr: true, BloomFilter: true,
	},
}

// A Whitelisted is a range of addresses with what its peers may do.
type Whitelisted struct {
	Grant

	Subnet netaddr.Subnet
}

// ParseWhitelist reads "[permissions@]subnet".
//
// Errors: [Error].
func ParseWhitelist(text string) (Whitelisted, error) {
	g, rest, err := parseGrant(text, true)
	if err != nil {
		return Whitelisted{}, err
	}
	s, err := netaddr.ParseSubnet(rest)
	if err != nil {
		return Whitelisted{}, Error(fmt.Sprintf("Invalid netmask specified in -whitelist: '%s'", rest))
	}
	return Whitelisted{g, s}, nil
}

// ParseWhitebind reads "[permissions@]address:port".
//
// Errors: [Error].
func ParseWhitebind(text string) (Grant, netaddr.Addr, error) {
	g, rest, err := parseGrant(text, false)
	if err != nil {
		return Grant{}, netaddr.Addr{}, err
	}
	a, err := netaddr.Parse(rest, 0)
	if err != nil {
		return Grant{}, netaddr.Addr{}, Error(fmt.Sprintf("Cannot resolve -whitebind address: '%s'", rest))
	}
	if a.Port() == 0 {
		return Grant{}, netaddr.Addr{}, Error(fmt.Sprintf("Need to specify a port with -whitebind: '%s'", rest))
	}
	return g, a, nil
}

// parseGrant reads the permissions before an @.
func parseGrant(text string, outToo bool) (g Grant, rest string, err error) {
	names, rest, ok := strings.Cut(text, "@")
	if !ok {
		return Grant{Implicit: true, In: true}, text, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		known, ok := permissions[name]
		switch {
		case name == "out" && !outToo:
			return Grant{}, "", Error(`whitebind may only be used for incoming connections ("out" was passed)`)
		case name == "out":
			g.Out = true
		case !ok:
			return Grant{}, "", Error(fmt.Sprintf("Invalid P2P permission: '%s'", name))
		case name == "in":
			g.In = true
		}
		g.Permissions = Union(g.Permissions, known)
	}
	if (g.In || g.Out) && g.Permissions == (peerhandle.Permissions{}) {
		return Grant{}, "", Error(fmt.Sprintf("Only direction was set, no permissions: '%s'", text))
	}
	g.In = g.In || !g.Out
	return g, rest, nil
}
