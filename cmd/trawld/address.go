package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
)

// writeAddress leaves the address of an attached node's RPC server beside its cookie, so
// that trawl-cli finds it, and removes what a run before has left. Where the network is
// that of Bitcoin Core's configuration, trawl-cli is told that, too.
func (d *daemon) writeAddress() error {
	if err := d.forgetAddress(); d.attached == nil || err != nil {
		return err
	}
	address := localAddress(d.server.Addrs())
	corelog.Printf(d.log, slog.LevelInfo, "Attached to Bitcoin Core at %s; calls are answered at http://%s",
		d.attached.Address(), address)
	err := os.WriteFile(d.settings.BelowNetDir(options.AddressFile), fmt.Appendln(nil, address), 0o600)
	if err != nil || !options.IsForced(d.settings, "chain") || d.settings.Chain() == options.Main {
		return err
	}
	return os.WriteFile(d.chainFile(), fmt.Appendln(nil, address, d.settings.Chain()), 0o600)
}

// chainFile is the file that says which network the daemon of the data directory has.
func (d *daemon) chainFile() string { return filepath.Join(d.settings.DataDir(), options.AddressFile) }

// forgetAddress removes what writeAddress wrote.
func (d *daemon) forgetAddress() error {
	paths := []string{d.settings.BelowNetDir(options.AddressFile)}
	if text, err := os.ReadFile(d.chainFile()); err == nil {
		if chain, ok := options.TellsChain(string(text)); ok && chain == d.settings.Chain() {
			paths = append(paths, d.chainFile())
		}
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// localAddress returns the address that a program on this machine calls best: on the
// loopback interface by IPv4, if there is one.
func localAddress(list []net.Addr) string {
	best, rank := "", -1
	for _, addr := range list {
		at, err := netip.ParseAddrPort(addr.String())
		if err != nil {
			continue
		}
		ip, n := at.Addr().Unmap(), 0
		switch {
		case ip.IsUnspecified() && ip.Is4():
			ip, n = netip.AddrFrom4([4]byte{127, 0, 0, 1}), 3
		case ip.IsUnspecified():
			ip, n = netip.IPv6Loopback(), 2
		case ip.IsLoopback() && ip.Is4():
			n = 3
		case ip.IsLoopback():
			n = 2
		case ip.Is4():
			n = 1
		}
		if n > rank {
			best, rank = netip.AddrPortFrom(ip, at.Port()).String(), n
		}
	}
	return best
}
