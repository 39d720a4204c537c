package peers

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/peerfile"
)

// saveInterval is how often the addresses are written.
const saveInterval = 15 * time.Minute

// writeAddrs writes the addresses in a worker, from time to time.
func (t *Table) writeAddrs(c actor.Context) {
	now := time.Now()
	if t.cfg.Dir == "" || !t.addrsChanged || now.Before(t.nextSave) {
		return
	}
	t.nextSave, t.addrsChanged = now.Add(saveInterval), false
	files, content := peerfile.Files{FS: t.cfg.FS, Dir: t.cfg.Dir}, t.addrs.Marshal(t.cfg.Network.Magic)
	t.workers.start(c, func() any {
		_ = t.saveAddrs(files, content) // is told of, and tried again
		return nil
	})
}

// saveAtEnd writes the addresses when the table stops, and the bans that could not be
// written before.
func (t *Table) saveAtEnd() {
	if t.cfg.Dir == "" {
		return
	}
	files := peerfile.Files{FS: t.cfg.FS, Dir: t.cfg.Dir}
	err := errors.Join(t.saveAddrs(files, t.addrs.Marshal(t.cfg.Network.Magic)), t.bans.saveAtEnd())
	if err != nil && t.cfg.NotSaved != nil {
		t.cfg.NotSaved(fmt.Errorf("addresses or bans of peers not saved: %w", err))
	}
}

// saveAddrs writes the file. What is lost with it comes back from other nodes.
func (s *shared) saveAddrs(files peerfile.Files, content []byte) error {
	err := files.SaveAddrs(content)
	if err != nil {
		s.cfg.Log.Error("addresses of peers not written", "err", err)
	}
	return err
}

// hash is a number that nobody foresees who does not know the node's secret.
func (s *shared) hash(text string, numbers ...uint64) uint64 {
	b := append(s.secret[:], text...)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// reaches reports whether addresses of a network are used.
func (s *shared) reaches(n netaddr.Network) bool { return s.cfg.Reachable == nil || s.cfg.Reachable[n] }

// nodeAddresses serves messages.GetNodeAddresses.
func (t *Table) nodeAddresses(q *messages.GetNodeAddresses) ([]messages.NodeAddress, error) {
	var network *netaddr.Network
	if q.Network != "" {
		n, ok := netaddr.ParseNetwork(q.Network)
		if !ok {
			return nil, messages.ErrNetworkName
		}
		network = &n
	}
	list := []messages.NodeAddress{}
	for _, a := range t.addrs.Sample(q.Count, 0, network, t.cfg.Now()) {
		list = append(list, nodeAddress(&a))
	}
	return list, nil
}

func nodeAddress(a *addrman.Address) messages.NodeAddress {
	return messages.NodeAddress{
		Host: a.Addr.Host(), Port: a.Addr.Port(), Network: a.Addr.Network().String(),
		Services: uint64(a.Services), Seen: a.Seen, Tried: a.Tried,
	}
}

// addAddress serves messages.AddPeerAddress.
func (t *Table) addAddress(q *messages.AddPeerAddress) messages.AddedAddress {
	host, err := netaddr.ParseHost(q.Host)
	if err != nil {
		return messages.AddedAddress{}
	}
	a, now := host.WithPort(q.Port), t.cfg.Now()
	told := codec.Address{Time: uint32(now.Unix()), Services: wire.SFNodeNetwork | wire.SFNodeWitness, Addr: a}
	if !t.addrs.Add(told, a, 0, now) {
		return messages.AddedAddress{Failed: "failed-adding-to-new"}
	}
	t.addrsChanged = true
	if q.Tried && !t.addrs.Good(a, now) {
		return messages.AddedAddress{Failed: "failed-adding-to-tried"}
	}
	return messages.AddedAddress{Added: true}
}

// countAddresses serves messages.CountAddresses.
func (t *Table) countAddresses() []messages.AddressCount {
	var list []messages.AddressCount
	for _, n := range coreNetworks {
		fresh, tried := t.addrs.Size(&n)
		list = append(list, messages.AddressCount{Network: n.String(), New: fresh, Tried: tried})
	}
	fresh, tried := t.addrs.Size(nil)
	return append(list, messages.AddressCount{Network: "all_networks", New: fresh, Tried: tried})
}

// coreNetworks are all networks in Core's order.
var coreNetworks = []netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.I2P, netaddr.CJDNS}
