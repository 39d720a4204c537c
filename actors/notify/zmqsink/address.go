package zmqsink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed61375155/trawl/internal/vfs"
)

var errAddress = errors.New("invalid address")

// resolveTimeout bounds how long a name is looked up.
const resolveTimeout = 10 * time.Second

// listen listens on tcp://<host>:<port>, where the host is an IP address, a network
// interface, a name or * for all IPv4 addresses, or on ipc://<path>.
func listen(address string) (net.Listener, error) {
	transport, rest, ok := strings.Cut(address, "://")
	if !ok {
		return nil, errAddress
	}
	switch transport {
	case "tcp":
		network, at, err := tcpAddress(rest)
		if err != nil {
			return nil, err
		}
		return net.Listen(network, at)
	case "ipc":
		return listenUnix(rest)
	}
	return nil, fmt.Errorf("transport %q is not supported", transport)
}

// tcpAddress returns an address for package net. A name is a network interface, as with
// libzmq, or else a host.
func tcpAddress(text string) (network, address string, err error) {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 {
		return "", "", errAddress
	}
	host, port := text[:colon], text[colon+1:]
	if port == "*" {
		port = "0"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", fmt.Errorf("%w: port %q", errAddress, port)
	}
	if host == "*" {
		return "tcp4", net.JoinHostPort("0.0.0.0", port), nil
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if ip, err = namedAddress(host); err != nil {
			return "", "", err
		}
	}
	network = "tcp4"
	if ip.Is6() {
		network = "tcp" // of which :: takes IPv4 too
	}
	return network, net.JoinHostPort(ip.String(), port), nil
}

// namedAddress returns the address of a network interface or of a host.
func namedAddress(name string) (netip.Addr, error) {
	if i, err := net.InterfaceByName(name); err == nil {
		return interfaceAddress(i)
	}
	return hostAddress(name)
}

// hostAddress returns an address of a host: of IPv4 where it has both, since subscribers try
// that first.
func hostAddress(name string) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil || len(found) == 0 {
		return netip.Addr{}, fmt.Errorf("%w: %q is neither a network interface nor a host", errAddress, name)
	}
	for _, ip := range found {
		if ip.Unmap().Is4() {
			return ip.Unmap(), nil
		}
	}
	return found[0], nil
}

// interfaceAddress returns the IPv4 address of a network interface.
func interfaceAddress(i *net.Interface) (netip.Addr, error) {
	addrs, err := i.Addrs()
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() {
			return prefix.Addr(), nil
		}
	}
	return netip.Addr{}, fmt.Errorf("%w: interface %q has no IPv4 address", errAddress, i.Name)
}

// listenUnix listens on a Unix socket. It replaces a socket that nobody listens on any more,
// but no other file.
func listenUnix(path string) (net.Listener, error) {
	if path == "" || path == "*" {
		return nil, errAddress
	}
	l, err := net.Listen("unix", path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode().Type() != os.ModeSocket {
		return nil, err
	}
	conn, dialErr := net.Dial("unix", path)
	if dialErr == nil {
		_ = conn.Close() // nothing was said
		return nil, err
	}
	if !errors.Is(dialErr, syscall.ECONNREFUSED) {
		return nil, err
	}
	if err := vfs.OS.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}
