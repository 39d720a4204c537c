// Package torcontrol has Tor make an onion service for the node, by its control port. It
// logs in by a password, by nothing, or by Tor's cookie, without showing the cookie
// (SAFECOOKIE). It learns where Tor's SOCKS5 proxy is. It adds the service, whose private
// key is kept so that the address stays. The service lives as long as the connection, which
// is made again whenever it ends.
//
// No password, cookie or private key is in any error or line of the log. Lines are Bitcoin
// Core's.
package torcontrol

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// Keys keep the private key of the service.
type Keys interface {
	// Load returns the key, or an error that is fs.ErrNotExist.
	Load() ([]byte, error)

	// Save keeps the key. After nil it is on the disk.
	Save(key []byte) error
}

// An Observer is notified of what Tor does for the node.
type Observer interface {
	// Published says that the node is reached at an onion address.
	Published(a netaddr.Addr)

	// Withdrawn says that it no longer is.
	Withdrawn(a netaddr.Addr)

	// Proxied says where Tor's SOCKS5 proxy is.
	Proxied(addr netaddr.Addr)
}

// Config says how to reach Tor and which service to ask for.
type Config struct {
	Addr       string // of the control port
	Dial       func(ctx context.Context, addr string) (net.Conn, error)
	Password   string                            // empty: none
	ReadCookie func(path string) ([]byte, error) // reads the file that Tor names
	Keys       Keys
	Port       uint16 // of the service
	Target     string // where the node accepts what comes to it, "host:port"
	FindProxy  bool   // ask where the SOCKS5 proxy is
	Defend     bool   // ask that clients of a service under attack prove work, where Tor knows how
	Log        func(level slog.Level, line string)
}

// How long nothing is tried after a connection has ended: at first, and at most. It grows by
// half each time.
const (
	firstWait   = time.Second
	longestWait = 10 * time.Minute
)

// Run has Tor serve the node until ctx ends.
func Run(ctx context.Context, cfg Config, to Observer) {
	for wait := firstWait; ctx.Err() == nil; wait = min(wait*3/2, longestWait) {
		if connected := cfg.once(ctx, to); connected {
			wait = firstWait
		}
		if ctx.Err() != nil {
			return
		}
		cfg.debugf("Not connected to Tor control port %s, retrying in %.2f s", cfg.Addr, wait.Seconds())
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// once lives one connection, and reports whether there was one.
func (cfg *Config) once(ctx context.Context, to Observer) bool {
	raw, err := cfg.Dial(ctx, cfg.Addr)
	if err != nil {
		cfg.debugf("Error connecting to Tor control socket")
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer func() {
		stop()
		_ = raw.Close()
	}()
	cfg.debugf("Successfully connected!")
	c := &conn{ReadWriter: raw, lines: bufio.NewReader(raw)}
	service, err := cfg.serve(c, to)
	if err != nil && ctx.Err() == nil {
		cfg.printf("tor: %v", err)
	}
	if errors.Is(err, errLong) {
		return true
	}
	if service != (netaddr.Addr{}) {
		to.Published(service)
		defer to.Withdrawn(service)
	}
	for { // nothing more is asked: what comes is read and left
		if _, err := readReply(c.lines); err != nil {
			cfg.debugf("End of stream")
			return true
		}
	}
}

// serve logs in and adds the service, whose address it returns.
func (cfg *Config) serve(c *conn, to Observer) (service netaddr.Addr, err error) {
	if err := cfg.logIn(c); err != nil {
		return service, err
	}
	cfg.debugf("Authentication successful")
	if cfg.FindProxy {
		proxy, err := cfg.findProxy(c)
		if err != nil {
			return service, err
		}
		cfg.debugf("Configuring onion proxy for %v", proxy)
		to.Proxied(proxy)
	}
	return cfg.addService(c)
}

// errLogin reports a login that Tor refuses.
var errLogin = failf("Authentication failed")

// logIn finds out how to log in, and does.
func (cfg *Config) logIn(c *conn) error {
	info, err := c.command("PROTOCOLINFO 1")
	if err != nil {
		return err
	}
	if info.code != codeOK {
		return failf("Requesting protocol info failed")
	}
	methods, cookie := cfg.methods(info)
	has := func(method string) bool { return slices.Contains(methods, method) }
	var proof string
	switch {
	case cfg.Password != "" && !has("HASHEDPASSWORD"):
		return failf("Password provided with -torpassword, but HASHEDPASSWORD authentication is not available")
	case cfg.Password != "":
		cfg.debugf("Using HASHEDPASSWORD authentication")
		proof = ` "` + strings.ReplaceAll(cfg.Password, `"`, `\"`) + `"`
	case has("NULL"):
		cfg.debugf("Using NULL authentication")
	case has("SAFECOOKIE"):
		cfg.debugf("Using SAFECOOKIE authentication, reading cookie authentication from %s", cookie)
		if proof, err = cfg.proveCookie(c, cookie); err != nil {
			return err
		}
	case has("HASHEDPASSWORD"):
		return failf("The only supported authentication mechanism left is password, " +
			"but no password provided with -torpassword")
	default:
		return failf("No supported authentication method")
	}
	answer, err := c.command("AUTHENTICATE%s", proof)
	if err == nil && answer.code != codeOK {
		err = errLogin
	}
	return err
}

// methods reads how Tor lets log in, and where its cookie is.
func (cfg *Config) methods(info reply) (methods []string, cookie string) {
	for _, line := range info.lines {
		kind, rest, _ := strings.Cut(line, " ")
		found, _ := values(rest)
		switch kind {
		case "AUTH":
			methods, cookie = strings.Split(found["METHODS"], ","), found["COOKIEFILE"]
		case "VERSION":
			cfg.debugf("Connected to Tor version %s", found["Tor"])
		}
	}
	return methods, cookie
}

// cookieSize is how many bytes a cookie has, and each nonce.
const cookieSize = 32

// proveCookie proves to Tor that the node can read its cookie, once Tor has proved the same.
func (cfg *Config) proveCookie(c *conn, path string) (string, error) {
	cookie, err := cfg.ReadCookie(path)
	if err != nil {
		return "", failf("Authentication cookie %s could not be opened (check permissions)", path)
	}
	if len(cookie) != cookieSize {
		return "", failf("Authentication cookie %s is not exactly %d bytes, as is required by the spec",
			path, cookieSize)
	}
	var nonce [cookieSize]byte
	_, _ = rand.Read(nonce[:]) // never fails
	answer, err := c.command("AUTHCHALLENGE SAFECOOKIE %x", nonce)
	if err != nil {
		return "", err
	}
	if answer.code != codeOK {
		return "", failf("SAFECOOKIE authentication challenge failed")
	}
	kind, rest, _ := strings.Cut(answer.lines[0], " ")
	found, ok := values(rest)
	theirs, err := hex.DecodeString(found["SERVERNONCE"])
	if kind != "AUTHCHALLENGE" || !ok {
		return "", failf("Invalid reply to AUTHCHALLENGE")
	}
	if err != nil || len(theirs) != cookieSize {
		return "", failf("ServerNonce is not 32 bytes, as required by spec")
	}
	sum := func(key string) []byte {
		h := hmac.New(sha256.New, []byte(key))
		for _, part := range [][]byte{cookie, nonce[:], theirs} {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	proof, err := hex.DecodeString(found["SERVERHASH"])
	if err != nil || !hmac.Equal(proof, sum("Tor safe cookie authentication server-to-controller hash")) {
		return "", failf("ServerHash does not match expected ServerHash")
	}
	return fmt.Sprintf(" %x", sum("Tor safe cookie authentication controller-to-server hash")), nil
}

// findProxy asks where the SOCKS5 proxy is: on this host by preference, or else where it is
// by default.
func (cfg *Config) findProxy(c *conn) (netaddr.Addr, error) {
	const byDefault, port = "127.0.0.1:9050", 9050
	answer, err := c.command("GETINFO net/listeners/socks")
	if err != nil {
		return netaddr.Addr{}, err
	}
	at := ""
	for _, line := range answer.lines {
		list, ok := strings.CutPrefix(line, "net/listeners/socks=")
		if !ok || answer.code != codeOK {
			continue
		}
		for text := range strings.FieldsSeq(list) {
			if text = strings.Trim(text, `"'`); text != "" && !strings.HasPrefix(at, "127.0.0.1:") {
				at = text
			}
		}
	}
	switch {
	case at != "":
		cfg.debugf("Get SOCKS port command yielded %s", at)
	case answer.code == codeOK:
		cfg.printf("tor: Get SOCKS port command returned nothing")
	default:
		cfg.printf("tor: Get SOCKS port command failed; error code %d", answer.code)
	}
	proxy, err := netaddr.Parse(at, port)
	if _, direct := proxy.AddrPort(); err != nil || !direct || !proxy.IsValid() {
		proxy, _ = netaddr.Parse(byDefault, port)
	}
	return proxy, nil
}

// addService adds the service, and keeps its key.
func (cfg *Config) addService(c *conn) (service netaddr.Addr, err error) {
	const newKey = "NEW:ED25519-V3" // has Tor make one
	key, err := cfg.Keys.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key = []byte(newKey)
	case err != nil:
		return service, fmt.Errorf("read private key of the onion service: %w", err)
	}
	if strings.ContainsAny(string(key), " \r\n") {
		return service, errors.New("the file of the private key of the onion service holds none")
	}
	answer, defended, err := cfg.add(c, key)
	switch {
	case err != nil:
		return service, err
	case answer.code == codeUnrecognized:
		return service, failf("Add onion failed with unrecognized command (You probably need to upgrade Tor)")
	case answer.code != codeOK:
		return service, failf("Add onion failed; error code %d", answer.code)
	}
	cfg.debugf("ADD_ONION successful%s", defended)
	id := ""
	for _, line := range answer.lines {
		found, _ := values(line)
		if found["ServiceID"] != "" {
			id = found["ServiceID"]
		}
		if found["PrivateKey"] != "" {
			key = []byte(found["PrivateKey"])
		}
	}
	if service, err = netaddr.Parse(id+".onion", cfg.Port); err != nil {
		return netaddr.Addr{}, failf("Error parsing ADD_ONION parameters")
	}
	cfg.log(slog.LevelInfo, "Got tor service ID %s, advertising service %v", id, service)
	if string(key) == newKey {
		return service, nil // Tor keeps the key to itself
	}
	if err := cfg.Keys.Save(key); err != nil {
		cfg.printf("tor: Error writing service private key: %v", err)
	}
	return service, nil
}

// add asks for the service, and again without defences where Tor does not know these. defended is
// for the log.
func (cfg *Config) add(c *conn, key []byte) (answer reply, defended string, err error) {
	const ask = "ADD_ONION %s%s Port=%d,%s"
	if !cfg.Defend {
		answer, err = c.command(ask, key, "", cfg.Port, cfg.Target)
		return answer, "", err
	}
	answer, err = c.command(ask, key, " PoWDefensesEnabled=1", cfg.Port, cfg.Target)
	if err != nil || answer.code != codeSyntax {
		return answer, " (PoW defenses enabled)", err
	}
	cfg.debugf("ADD_ONION failed with PoW defenses, retrying without")
	answer, err = c.command(ask, key, "", cfg.Port, cfg.Target)
	return answer, " (PoW defenses disabled)", err
}

func (cfg *Config) debugf(format string, args ...any) { cfg.log(slog.LevelDebug, format, args...) }
func (cfg *Config) printf(format string, args ...any) { cfg.log(slog.LevelWarn, format, args...) }

func (cfg *Config) log(level slog.Level, format string, args ...any) {
	if cfg.Log != nil {
		cfg.Log(level, fmt.Sprintf(format, args...))
	}
}

// failf makes an error in Bitcoin Core's words, which begin as sentences do.
func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }
