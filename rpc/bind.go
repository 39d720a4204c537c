package rpc

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// An endpoint is an address to listen on.
type endpoint struct {
	host string
	port uint16
}

// endpoints decides where to listen. As in Core, -rpcbind counts only together with
// -rpcallowip: an operator who opens the port must say for which addresses.
func (s *Server) endpoints(c *Config) ([]endpoint, error) {
	port, err := c.port()
	if err != nil {
		return nil, err
	}
	var binds []endpoint
	for _, bind := range c.Bind {
		e, ok := parseEndpoint(bind, port)
		if !ok {
			return nil, StartError("Invalid port specified in -rpcbind: '" + bind + "'")
		}
		binds = append(binds, e)
	}
	if len(c.AllowIP) > 0 && len(binds) > 0 {
		return binds, nil
	}
	if len(c.AllowIP) > 0 {
		s.warnf("WARNING: option -rpcallowip was specified without -rpcbind; this doesn't usually make sense")
	}
	if len(binds) > 0 {
		s.warnf("WARNING: option -rpcbind was ignored because -rpcallowip was not specified, refusing to allow " +
			"everyone to connect")
	}
	return []endpoint{{"::1", port}, {"127.0.0.1", port}}, nil
}

// parseEndpoint reads host, host:port or [host]:port. A host with several
// colons and without brackets is an IPv6 address without a port.
func parseEndpoint(s string, port uint16) (endpoint, bool) {
	if colon := strings.LastIndexByte(s, ':'); colon >= 0 {
		host := s[:colon]
		bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
		if bracketed || !strings.Contains(host, ":") {
			n, err := strconv.ParseUint(s[colon+1:], 10, 16)
			if err != nil || n == 0 {
				return endpoint{}, false
			}
			s, port = host, uint16(n)
		}
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	return endpoint{s, port}, true
}

// listen binds all endpoints. It is enough if a single endpoint works.
func (s *Server) listen(ctx context.Context, endpoints []endpoint) error {
	var failed []error
	for _, e := range endpoints {
		s.infof("Binding RPC on address %s port %d", e.host, e.port)
		var lc net.ListenConfig
		at := e.address()
		l, err := lc.Listen(ctx, "tcp", at)
		if err != nil {
			reason := bindReason(err)
			s.warnf("Binding RPC on address %s port %d failed. (%s)", e.host, e.port, reason)
			failed = append(failed, StartError("Unable to bind RPC to "+at+": "+reason))
			continue
		}
		if addr, err := netip.ParseAddr(e.numeric()); e.host != "localhost" && (err != nil || !addr.IsLoopback()) {
			s.warnf("WARNING: the RPC server is not safe to expose to untrusted networks such as the public internet")
		}
		if s.certificate.current.Load() != nil {
			l = tlsListener{l, s.certificate.config()}
		}
		s.listeners = append(s.listeners, l)
	}
	if len(s.listeners) == 0 {
		s.errorf("Unable to bind any endpoint for RPC server")
		return errors.Join(append(failed, ErrStart)...)
	}
	return nil
}

// numeric is the host with an address of any spelling, as 127.1, in the usual form.
func (e endpoint) numeric() string {
	if a, err := netaddr.ParseHost(e.host); err == nil {
		if ap, ok := a.AddrPort(); ok {
			return ap.Addr().String()
		}
	}
	return e.host
}

func (e endpoint) address() string { return net.JoinHostPort(e.numeric(), strconv.Itoa(int(e.port))) }

// bindReason is why a port cannot be had, in the words of the system.
func bindReason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}

// listenUnix binds the socket in the file system, if one is asked for.
func (s *Server) listenUnix(ctx context.Context, path string) error {
	if path == "" {
		return nil
	}
	s.infof("Binding RPC on socket %s", path)
	l, err := listenUnix(ctx, path)
	if err != nil {
		s.errorf("Unable to bind RPC on socket %s: %v", path, err)
		return ErrStart
	}
	s.listeners = append(s.listeners, l)
	return nil
}
