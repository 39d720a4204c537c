package peers

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/atomicfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	addrFile = "peers.dat"

	// saveInterval is how often the addresses are written.
	saveInterval = 15 * time.Minute

	// bugReport is where bugs are reported.
	bugReport = "https://github.com/seed61375155/trawl/issues"
)

// OpenAddrs reads the addresses of nodes that are in a folder. A file that is not
// there or of a later format begins anew, the latter is kept beside the new one.
//
// Errors: [*AddrFileError].
func OpenAddrs(dir string, magic [4]byte, log *slog.Logger) (*addrman.Manager, error) {
	path := filepath.Join(dir, addrFile)
	began := time.Now()
	content, err := vfs.ReadFile(vfs.OS, path, addrman.MaxFile)
	if err == nil {
		var addrs *addrman.Manager
		if addrs, err = addrman.Parse(content, magic); err == nil {
			corelog.Printf(log, slog.LevelInfo, "Loaded %d addresses from peers.dat  %dms", addrs.Len(), time.Since(began).Milliseconds())
			if addrman.IsOld(content) {
				_ = saveAddrs(path, addrs.Marshal(magic), log)
			}
			return addrs, nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		corelog.Printf(log, slog.LevelInfo, "Creating peers.dat because the file was not found (\"%s\")", path)
	case errors.Is(err, addrman.ErrVersion):
		if err := vfs.OS.Rename(path, path+".bak"); err != nil {
			return nil, errRename
		}
		corelog.Printf(log, slog.LevelWarn, "Creating new peers.dat because the file version was not compatible (\"%s\"). Original backed up to peers.dat.bak", path)
	default:
		return nil, &AddrFileError{path, err}
	}
	addrs := addrman.New()
	_ = saveAddrs(path, addrs.Marshal(magic), log)
	return addrs, nil
}

// saveAddrs writes the file. What is lost with it comes back from other nodes.
func saveAddrs(path string, content []byte, log *slog.Logger) error {
	err := atomicfile.Write(vfs.OS, path, content, 0o600)
	if err != nil {
		log.Error("addresses of peers not written", "err", err)
	}
	return err
}

// An AddrFileError reports a file of addresses that cannot be read.
type AddrFileError struct {
	path   string
	reason error
}

// errRename reports a file that stands in the way.
var errRename = errors.New("Failed to rename invalid peers.dat file. Please move or delete it and try again.") //nolint:revive,staticcheck // Core's words

// Error implements error, in Core's words but for where to report it.
func (e *AddrFileError) Error() string {
	return fmt.Sprintf("Invalid or corrupt peers.dat (%v). If you believe this is a bug, please report it to %s. As a workaround, you can move the file (\"%s\") "+
		"out of the way (rename, move, or delete) to have a new one created on the next start.", e.reason, bugReport, e.path)
}

// Unwrap returns the reason.
func (e *AddrFileError) Unwrap() error { return e.reason }

// writeAddrs writes the addresses in a worker, from time to time.
func (t *Table) writeAddrs(c actor.Context) {
	now := time.Now()
	if t.cfg.Dir == "" || !t.addrsChanged || now.Before(t.nextSave) {
		return
	}
	t.nextSave, t.addrsChanged = now.Add(saveInterval), false
	path, content := filepath.Join(t.cfg.Dir, addrFile), t.addrs.Marshal(t.cfg.Network.Magic)
	t.workers.start(c, func() any {
		_ = saveAddrs(path, content, t.cfg.Log) // is told of, and tried again
		return nil
	})
}

// saveAtEnd writes the addresses when the table stops, and the bans that could not be
// written before.
func (t *Table) saveAtEnd() {
	if t.cfg.Dir == "" {
		return
	}
	err := saveAddrs(filepath.Join(t.cfg.Dir, addrFile), t.addrs.Marshal(t.cfg.Network.Magic), t.cfg.Log)
	if t.banSaver.failed {
		err = errors.Join(err, writeBans(t.cfg.FS, filepath.Join(t.cfg.Dir, banFile), t.bans.Marshal()))
	}
	if err != nil && t.cfg.NotSaved != nil {
		t.cfg.NotSaved(fmt.Errorf("addresses or bans of peers not saved: %w", err))
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
