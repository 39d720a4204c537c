package netsetup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// SOCKS5 (RFC 1928) as a client that asks for one connection, with a login where the proxy wants
// one (RFC 1929). As Bitcoin Core does, every host is sent as a name, numeric addresses too: the
// proxy alone resolves. This part is pure: it speaks on a connection that is there.

// A ProxyLogin is offered to the proxy. Each part has at most 255 bytes.
type ProxyLogin struct{ User, Password string }

// Why there is no connection. The texts are Bitcoin Core's.
var (
	ErrProxyHost      = errors.New("Hostname too long")                   //nolint:staticcheck // Core's words
	ErrProxyLoginSize = errors.New("Proxy username or password too long") //nolint:staticcheck // Core's words
	ErrProxyVersion   = errors.New("Proxy failed to initialize")
	ErrProxyMethod    = errors.New("Proxy requested wrong authentication method")
	ErrProxyRefused   = errors.New("Proxy authentication unsuccessful")
	ErrProxyResponse  = errors.New("malformed proxy response")
)

// A ProxyReplyError is why the proxy did not make the connection.
type ProxyReplyError struct {
	Host string
	Port uint16
	Code byte
}

// replies are the codes in Core's words.
var replies = map[byte]string{
	1: "general failure", 2: "connection not allowed", 3: "network unreachable", 4: "host unreachable",
	5: "connection refused", 6: "TTL expired", 7: "protocol error", 8: "address type not supported",
	0xf0: "onion service descriptor can not be found", 0xf1: "onion service descriptor is invalid",
	0xf2: "onion service introduction failed", 0xf3: "onion service rendezvous failed",
	0xf4: "onion service missing client authorization", 0xf5: "onion service wrong client authorization",
	0xf6: "onion service invalid address", 0xf7: "onion service introduction timed out",
}

// Error implements error.
func (e *ProxyReplyError) Error() string {
	reason, ok := replies[e.Code]
	if !ok {
		reason = fmt.Sprintf("unknown (0x%02x)", e.Code)
	}
	return fmt.Sprintf("Socks5() connect to %s:%d failed: %s", e.Host, e.Port, reason)
}

const (
	version      = 5
	loginVersion = 1
	anonymous    = 0 // methods
	byPassword   = 2
	connect      = 1 // command
	ipv4         = 1 // types of addresses
	name         = 3
	ipv6         = 4
	longest      = 255 // bytes of a text
)

// ConnectProxy asks the proxy on a connection to connect it to a host, which then speaks on it.
// A login is offered where there is one.
//
// Errors: [ErrProxyHost], [ErrProxyLoginSize], [ErrProxyVersion], [ErrProxyMethod], [ErrProxyRefused],
// [ErrProxyResponse],
// [*ProxyReplyError], and errors of the connection.
func ConnectProxy(proxy io.ReadWriter, host string, port uint16, login *ProxyLogin) error {
	if len(host) > longest {
		return ErrProxyHost
	}
	if login != nil && max(len(login.User), len(login.Password)) > longest {
		return ErrProxyLoginSize
	}
	if err := logIn(proxy, login); err != nil {
		return err
	}
	request := append([]byte{version, connect, 0, name, byte(len(host))}, host...)
	if _, err := proxy.Write(binary.BigEndian.AppendUint16(request, port)); err != nil {
		return err
	}
	return readReply(proxy, host, port)
}

// logIn agrees on how to log in, and does.
func logIn(proxy io.ReadWriter, login *ProxyLogin) error {
	methods := []byte{anonymous}
	if login != nil {
		methods = append(methods, byPassword)
	}
	answer, err := ask(proxy, append([]byte{version, byte(len(methods))}, methods...))
	switch {
	case err != nil:
		return err
	case answer[0] != version:
		return ErrProxyVersion
	case answer[1] == anonymous:
		return nil
	case answer[1] != byPassword || login == nil:
		return fmt.Errorf("%w %02x", ErrProxyMethod, answer[1])
	}
	request := append([]byte{loginVersion, byte(len(login.User))}, login.User...)
	request = append(append(request, byte(len(login.Password))), login.Password...)
	if answer, err = ask(proxy, request); err != nil {
		return err
	}
	if answer != [2]byte{loginVersion, 0} {
		return ErrProxyRefused
	}
	return nil
}

// ask sends a request whose answer has two bytes.
func ask(proxy io.ReadWriter, request []byte) (answer [2]byte, err error) {
	if _, err := proxy.Write(request); err != nil {
		return answer, err
	}
	_, err = io.ReadFull(proxy, answer[:])
	return answer, err
}

// readReply reads what became of the request, and not a byte of what follows.
func readReply(proxy io.Reader, host string, port uint16) error {
	var head [4]byte
	if _, err := io.ReadFull(proxy, head[:]); err != nil {
		return err
	}
	switch {
	case head[0] != version:
		return ErrProxyResponse
	case head[1] != 0:
		return &ProxyReplyError{host, port, head[1]}
	case head[2] != 0:
		return ErrProxyResponse
	}
	var bound int // bytes of the address from which the proxy connects
	switch head[3] {
	case ipv4:
		bound = 4
	case ipv6:
		bound = 16
	case name:
		var length [1]byte
		if _, err := io.ReadFull(proxy, length[:]); err != nil {
			return err
		}
		bound = int(length[0])
	default:
		return ErrProxyResponse
	}
	_, err := io.ReadFull(proxy, make([]byte, bound+2)) // with its port
	return err
}
