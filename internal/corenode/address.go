package corenode

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// Errors of an address. Their texts repeat nothing of it, for there may be a password.
var (
	ErrAddress = errors.New("it is not of the form http://host:port or https://host:port")
	ErrUserURL = errors.New("a login does not belong in the address: use -attachcookie or -attachlogin")
	ErrPlain   = errors.New(
		"a login would go over plain HTTP to another machine: use https, or -attachinsecure where the way is safe",
	)
)

// An Address is where Core's RPC server listens.
type Address struct {
	TLS  bool
	Host string // name or IP address, without brackets
	Port uint16
}

// ParseAddress reads http://host[:port] or https://host[:port], with nothing behind but
// a slash. port is the default.
func ParseAddress(text string, port uint16) (Address, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return Address{}, ErrAddress
	case u.User != nil:
		return Address{}, ErrUserURL
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Path != "" && u.Path != "/",
		u.RawQuery != "", u.ForceQuery, u.Fragment != "", u.Opaque != "":
		return Address{}, ErrAddress
	}
	a := Address{TLS: u.Scheme == "https", Host: u.Hostname(), Port: port}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return Address{}, ErrAddress
		}
		a.Port = uint16(n)
	}
	if a.Port == 0 {
		return Address{}, ErrAddress
	}
	return a, nil
}

// String returns the address as a URL.
func (a Address) String() string {
	scheme := "http"
	if a.TLS {
		scheme = "https"
	}
	return scheme + "://" + a.hostPort()
}

func (a Address) hostPort() string { return net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port))) }

// Local reports whether the address is one of this machine's own, by its text alone.
func (a Address) Local() bool {
	if a.Host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(a.Host)
	return err == nil && ip.Unmap().IsLoopback()
}

// checkDialed refuses a connection that left the machine although the name is local.
func checkDialed(to net.Addr) error {
	ap, err := netip.ParseAddrPort(to.String())
	if err != nil || !ap.Addr().Unmap().WithZone("").IsLoopback() {
		return fmt.Errorf("localhost is another machine: %w", ErrPlain)
	}
	return nil
}
