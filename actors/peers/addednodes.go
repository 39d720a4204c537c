package peers

import (
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// An addedNode is a node that the dialer keeps connected.
type addedNode struct {
	name    string
	v2      bool
	hidden  bool // named by -connect: in no list
	archive bool // must give all blocks with their witnesses (-connectarchive)
	next    time.Time
}

const (
	// retryAdded and retryHidden are how long after an attempt an added node and a node of
	// -connect are tried again.
	retryAdded  = time.Minute
	retryHidden = time.Second

	// maxManual is how many added nodes are connected at a time (Core:
	// MAX_ADDNODE_CONNECTIONS).
	maxManual = 8
)

// addNode adds a node to stay connected to.
//
// Errors: messages.ErrNodeAdded.
func (d *dialer) addNode(node string, v2 bool) error {
	at := d.numeric(node)
	if slices.ContainsFunc(d.added, func(a *addedNode) bool {
		return !a.hidden && (a.name == node || at != netaddr.Addr{} && d.numeric(a.name) == at)
	}) {
		return messages.ErrNodeAdded
	}
	d.added = append(d.added, &addedNode{name: node, v2: v2})
	return nil
}

// removeNode takes an added node out; a connection to it stays.
//
// Errors: messages.ErrNodeNotAdded.
func (d *dialer) removeNode(node string) error {
	before := len(d.added)
	d.added = slices.DeleteFunc(d.added, func(a *addedNode) bool { return !a.hidden && a.name == node })
	if len(d.added) == before {
		return messages.ErrNodeNotAdded
	}
	return nil
}

// addedNodes lists the added nodes, with their connections.
func (d *dialer) addedNodes() []messages.AddedNode {
	list := []messages.AddedNode{}
	for _, a := range d.added {
		if a.hidden {
			continue
		}
		node := messages.AddedNode{Node: a.name, Archive: a.archive}
		if e := d.peers().connectionTo(a.name, d.numeric(a.name)); e != nil {
			node.ID, node.Addr, node.Inbound = e.id, e.addr.String(), e.typ == p2p.Inbound
		}
		list = append(list, node)
	}
	return list
}

// connectAdded connects to the added nodes whose time has come. start
// is called with one after the other.
func (d *dialer) connectAdded(now time.Time, start func(*attempt)) {
	for _, a := range d.added {
		if now.Before(a.next) || d.peers().connectionTo(a.name, d.numeric(a.name)) != nil {
			continue
		}
		if !a.hidden && d.peers().countType(p2p.Manual)+d.dialing(p2p.Manual) >= maxManual {
			continue
		}
		a.next = now.Add(retryAdded)
		if a.hidden {
			a.next = now.Add(retryHidden)
		}
		start(&attempt{node: a.name, typ: p2p.Manual, v2: a.v2, archive: a.archive})
	}
}
