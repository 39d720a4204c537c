package peers

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

const (
	addrFile = "peers.dat"

	// saveAddrs is how often the addresses are written.
	saveAddrs = 15 * time.Minute
)

// loadAddrs reads the addresses of nodes. A file that is not there or no good
// begins anew.
func (s *shared) loadAddrs() {
	path := filepath.Join(s.cfg.Dir, addrFile)
	content, err := readFile(path, addrman.MaxFile)
	if err == nil {
		s.addrs, err = addrman.Parse(content)
	}
	switch {
	case err == nil:
		s.printf("Loaded %d addresses from peers.dat", s.addrs.Len())
	case errors.Is(err, fs.ErrNotExist):
		s.addrs = addrman.New()
		s.printf("Creating peers.dat because the file was not found (\"%s\")", path)
	default:
		s.addrs = addrman.New()
		s.cfg.Log.Warn("addresses of peers are lost", "file", path, "err", err)
	}
}

// readFile reads a file of no more than most bytes.
func readFile(path string, most int64) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator's own folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// writeAddrs writes the addresses in a worker, from time to time.
func (t *Table) writeAddrs(c actor.Context) {
	now := time.Now()
	if t.cfg.Dir == "" || !t.addrsChanged || now.Before(t.nextSave) {
		return
	}
	t.nextSave, t.addrsChanged = now.Add(saveAddrs), false
	path, content := filepath.Join(t.cfg.Dir, addrFile), t.addrs.Marshal()
	t.workers.start(c, func() any {
		if err := replaceFile(path, content); err != nil {
			t.cfg.Log.Error("addresses of peers not written", "err", err)
		}
		return nil
	})
}

// closeAddrs writes the addresses when the table stops.
func (t *Table) closeAddrs() {
	if t.cfg.Dir == "" {
		return
	}
	if err := replaceFile(filepath.Join(t.cfg.Dir, addrFile), t.addrs.Marshal()); err != nil {
		t.cfg.Log.Error("addresses of peers not written", "err", err)
	}
}

// addrLogf writes a line of Core's category addrman.
func (s *shared) addrLogf(format string, args ...any) {
	corelog.Printf(s.addrLog, slog.LevelDebug, format, args...)
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
