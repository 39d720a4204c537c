package peers

import (
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// saveInterval is how often the addresses are written.
const saveInterval = 15 * time.Minute

// An addrBook is the node's knowledge of addresses of nodes, with its file.
type addrBook struct {
	*base

	addrs    *addrman.Manager
	file     fileWriter
	changed  bool      // since the last writing
	nextSave time.Time // not earlier
	nextMap  time.Time // when the map of autonomous systems is looked at
}

func newAddrBook(b *base) *addrBook {
	k := &addrBook{base: b, addrs: b.cfg.Addrs}
	if k.addrs == nil {
		k.addrs = addrman.New(b.cfg.ASMap)
	}
	k.addrs.CheckEach(b.cfg.CheckAddrs, func(line string) { b.addrDebugf("%s", line) })
	k.file = fileWriter{
		content: func() []byte { return k.addrs.Marshal(b.cfg.Network.Magic) },
		write:   nodefiles.Files{FS: b.cfg.FS, Dir: b.cfg.Dir}.SaveAddrs,
		// Other nodes will send lost addresses again.
		failed: func(err error) { b.cfg.Log.Error("addresses of peers not written", "err", err) },
	}
	return k
}

// store takes addresses that source has sent, each believed to be seen so much
// earlier than it says.
func (k *addrBook) store(list []codec.Address, source netaddr.Addr, penalty time.Duration) {
	added := 0
	for _, a := range list {
		if k.addrs.Add(a, source, penalty, k.cfg.Now()) {
			added++
			k.addrDebugf("Added %v%s to new", a.Addr, k.mappedTo(a.Addr))
		}
	}
	if added > 0 {
		untried, tried := k.addrs.Size(nil)
		k.addrDebugf("Added %d addresses (of %d) from %s: %d tried, %d new",
			added, len(list), source.Host(), tried, untried)
		k.changed = true
	}
}

// reached notes that a node was reached, and what it offers.
func (k *addrBook) reached(addr netaddr.Addr, services wire.ServiceFlag) {
	k.addrs.SetServices(addr, services)
	k.addrs.Good(addr, k.cfg.Now())
	k.changed = true
}

// offers notes the services of a node that was left as they are not sufficient.
func (k *addrBook) offers(addr netaddr.Addr, services wire.ServiceFlag) {
	k.addrs.SetServices(addr, services)
	k.changed = true
}

// list serves messages.GetNodeAddresses. No reply has addresses that are not welcome here.
func (k *addrBook) list(q *messages.GetNodeAddresses, bans *bans) ([]messages.NodeAddress, error) {
	var network *netaddr.Network
	if q.Network != "" {
		n, ok := netaddr.ParseNetwork(q.Network)
		if !ok {
			return nil, messages.ErrNetworkName
		}
		network = &n
	}
	list, now := []messages.NodeAddress{}, k.cfg.Now()
	for _, a := range k.addrs.Sample(q.Count, 0, network, now) {
		if bans.isUnwelcome(a.Addr, now) {
			continue
		}
		list = append(list, messages.NodeAddress{
			Host: a.Addr.Host(), Port: a.Addr.Port(), Network: a.Addr.Network().String(),
			Services: uint64(a.Services), Seen: a.Seen, Tried: a.Tried,
		})
	}
	return list, nil
}

// add serves messages.AddPeerAddress.
func (k *addrBook) add(q *messages.AddPeerAddress) messages.AddedAddress {
	host, err := netaddr.ParseHost(q.Host)
	if err != nil {
		return messages.AddedAddress{}
	}
	a, now := k.placed(host.WithPort(q.Port)), k.cfg.Now()
	given := codec.Address{Time: uint32(now.Unix()), Services: wire.SFNodeNetwork | wire.SFNodeWitness, Addr: a}
	if !k.addrs.Add(given, a, 0, now) {
		return messages.AddedAddress{Failed: "failed-adding-to-new"}
	}
	k.changed = true
	if q.Tried && !k.addrs.Good(a, now) {
		return messages.AddedAddress{Failed: "failed-adding-to-tried"}
	}
	return messages.AddedAddress{Added: true}
}

// count serves messages.CountAddresses.
func (k *addrBook) count() []messages.AddressCount {
	var list []messages.AddressCount
	for _, n := range coreNetworks {
		untried, tried := k.addrs.Size(&n)
		list = append(list, messages.AddressCount{Network: n.String(), New: untried, Tried: tried})
	}
	untried, tried := k.addrs.Size(nil)
	return append(list, messages.AddressCount{Network: "all_networks", New: untried, Tried: tried})
}

// tables serves messages.GetAddressTables.
func (k *addrBook) tables() messages.AddressTables {
	var t messages.AddressTables
	k.addrs.Places(func(p addrman.Place) {
		placed := messages.PlacedAddress{
			NodeAddress: messages.NodeAddress{
				Host: p.Addr.Host(), Port: p.Addr.Port(), Network: p.Addr.Network().String(),
				Services: uint64(p.Services), Seen: p.Seen, Tried: p.Tried,
			},
			Bucket: p.Bucket, Position: p.Position, AS: k.cfg.ASMap.AS(p.Addr), SourceAS: k.cfg.ASMap.AS(p.Source),
			Source: p.Source.Host(), SourceNetwork: p.Source.Network().String(),
		}
		if p.Tried {
			t.Tried = append(t.Tried, placed)
		} else {
			t.New = append(t.New, placed)
		}
	})
	return t
}

// mappedTo is how lines of the log name the autonomous system of an address.
func (k *addrBook) mappedTo(a netaddr.Addr) string {
	if as := k.cfg.ASMap.AS(a); as != 0 {
		return fmt.Sprintf(" mapped to AS%d", as)
	}
	return ""
}

// mapInterval is how often the map of autonomous systems is checked against the addresses.
const mapInterval = 24 * time.Hour

// checkMap logs from time to time how many of the addresses the map of autonomous systems
// knows: an outdated map knows fewer.
func (k *addrBook) checkMap(now time.Time) {
	if k.cfg.ASMap == nil || now.Before(k.nextMap) {
		return
	}
	k.nextMap = now.Add(mapInterval)
	systems := make(map[uint32]bool)
	count, unmapped := 0, 0
	for _, a := range k.addrs.All() {
		if network := a.Addr.Network(); network != netaddr.IPv4 && network != netaddr.IPv6 {
			continue
		}
		count++
		if as := k.cfg.ASMap.AS(a.Addr); as == 0 {
			unmapped++
		} else {
			systems[as] = true
		}
	}
	k.printf("ASMap Health Check: %d clearnet peers are mapped to %d ASNs with %d peers being unmapped",
		count, len(systems), unmapped)
}

// saveDue writes the addresses from time to time, where there is something new.
func (k *addrBook) saveDue(run runner, now time.Time) {
	if !k.changed || now.Before(k.nextSave) {
		return
	}
	k.nextSave, k.changed = now.Add(saveInterval), false
	k.file.save(run, func() {})
}

// saveAtEnd writes the addresses when the table stops.
func (k *addrBook) saveAtEnd() error {
	err := k.file.writeNow()
	if err != nil {
		k.file.failed(err)
	}
	return err
}
