package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
)

// maxReply bounds the bytes of a reply that are kept in memory.
const maxReply = 1 << 30

// endpoint is where calls go.
type endpoint struct {
	client  *http.Client
	address string // host:port, for messages
	url     string // without a path
	names   options.Names
}

// newEndpoint finds the server: -rpcconnect beats -rpcunix; -rpcport beats a
// port in -rpcconnect, which beats that of the network.
func newEndpoint(s *options.Settings, stderr io.Writer) (*endpoint, error) {
	connect := s.String("rpcconnect", "127.0.0.1")
	host, port, ok := options.SplitHostPort(connect)
	if !ok {
		return nil, failf("Invalid port provided in -rpcconnect: %s", connect)
	}
	if s.IsSet("rpcport") {
		text := s.String("rpcport", "")
		wanted, ok := options.ParsePort(text)
		if !ok {
			return nil, failf("Invalid port provided in -rpcport: %s", text)
		}
		if port != 0 {
			fmt.Fprintf(stderr, "Warning: Port specified in both -rpcconnect and -rpcport. Using -rpcport %d\n", wanted)
		}
		port = wanted
	}
	if port == 0 && !s.IsSet("rpcconnect") {
		host, port = knownAddress(s, host)
	}
	if port == 0 {
		port = s.RPCPort()
	}
	timeout := max(time.Duration(s.Int("rpcclienttimeout", 900))*time.Second, 0)
	if path := s.Path("rpcunix", ""); path != "" && !s.IsSet("rpcconnect") {
		path = s.BelowNetDir(path)
		return &endpoint{newHTTP(timeout, "unix", path), path, "http://localhost", options.NamesOf(s.Dialect())}, nil
	}
	number := strconv.Itoa(int(port))
	e := &endpoint{address: host + ":" + number, names: options.NamesOf(s.Dialect())}
	at := net.JoinHostPort(host, number)
	e.client, e.url = newHTTP(timeout, "tcp", at), "http://"+at
	if file := s.Path("rpctlscert", ""); file != "" {
		return e, e.secure(s.BelowNetDir(file))
	}
	return e, nil
}

// secure has the calls go by TLS, to nobody but who shows a certificate that a file vouches for.
func (e *endpoint) secure(file string) error {
	text, err := (options.OS{}).ReadFile(file)
	if err != nil {
		return failf("Cannot read the file of -rpctlscert: %v", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		return failf("There is no certificate in the file of -rpctlscert: %s", file)
	}
	e.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusted}
	e.url = "https" + strings.TrimPrefix(e.url, "http")
	return nil
}

// knownAddress returns where the daemon of the data directory says that it listens, and
// the host as it was and no port where it says nothing.
func knownAddress(s *options.Settings, host string) (known string, port uint16) {
	text, err := (options.OS{}).ReadFile(s.BelowNetDir(options.AddressFile))
	if err != nil {
		return host, 0
	}
	address, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	known, port, ok := options.SplitHostPort(address)
	if !ok || port == 0 {
		return host, 0
	}
	return known, port
}

// takeKnownChain selects the network of the data directory's daemon, where no option does: a
// daemon that is attached to a Bitcoin Core takes its network from Core. A daemon of the main
// network, which has its cookie in that directory, takes precedence.
func takeKnownChain(s *options.Settings) {
	set := []string{"chain", "regtest", "signet", "testnet", "testnet4", "rpcconnect", "rpcport", "rpcunix"}
	if slices.ContainsFunc(set, s.IsSet) {
		return
	}
	if _, err := (options.OS{}).ReadFile(filepath.Join(s.DataDir(), ".cookie")); err == nil {
		return
	}
	text, err := (options.OS{}).ReadFile(filepath.Join(s.DataDir(), options.AddressFile))
	if err != nil {
		return
	}
	if chain, ok := options.TellsChain(string(text)); ok {
		s.Force("chain", string(chain))
	}
}

// newHTTP returns a client whose requests, each on a connection of its own, go
// to one address and nowhere else: no proxy, no redirection. A timeout of 0 is
// none.
func newHTTP(timeout time.Duration, network, address string) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// within returns the endpoint with another timeout.
func (e *endpoint) within(timeout time.Duration) *endpoint {
	hurried, at := *e.client, *e
	hurried.Timeout = timeout
	at.client = &hurried
	return &at
}

// pathOf is the path of a wallet, or that of none.
func pathOf(wallet *string) string {
	if wallet == nil {
		return "/"
	}
	var b strings.Builder
	b.WriteString("/wallet/")
	for _, c := range []byte(*wallet) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// credentials are what a call is sent with.
type credentials struct {
	userPassword string // "user:password", empty when none were found
	refused      string // what is wrong when the server does not take them
	configPath   string // where a password could be
}

// credentialsOf takes the password from the options or else the cookie, which a
// daemon writes anew at each start.
func credentialsOf(s *options.Settings) credentials {
	c := credentials{configPath: s.ConfigPath()}
	if password := s.String("rpcpassword", ""); password != "" {
		c.userPassword = s.String("rpcuser", "") + ":" + password
		c.refused = "Incorrect rpcuser or rpcpassword were specified."
		return c
	}
	cookie := s.CookieFile()
	if cookie == "" { // Core sends a call without credentials then
		c.refused = "Cookie file was disabled via -norpccookiefile" + noPassword
		return c
	}
	text, err := (options.OS{}).ReadFile(cookie)
	c.refused = "Cookie file credentials were invalid" + noPassword
	if err != nil {
		c.refused = "Failed to read cookie file" + noPassword
	}
	c.userPassword, _, _ = strings.Cut(string(text), "\n")
	return c
}

// noPassword ends what is said of a cookie.
const noPassword = " and no rpcpassword was specified." //nolint:gosec // words

// post sends the body of a request, to a wallet or to none, and returns the
// reply.
func (e *endpoint) post(wallet *string, body []byte, c credentials) (*jsontree.Value, error) {
	connected := false // from then on the server may have the call
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	req, err := http.NewRequestWithContext(
		ctx, http.MethodPost, e.url+pathOf(wallet), bytes.NewReader(body),
	)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.userPassword)))
	req.Header.Set("User-Agent", "") // bitcoin-cli sends none
	resp, err := e.client.Do(req)
	if err != nil && !connected {
		return nil, transient(e.unreachable(err))
	}
	if err != nil {
		return nil, lost(e.unreachable(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, lost(e.unreachable(err))
	}
	if err := checkStatus(resp.StatusCode, text, c); err != nil {
		return nil, err
	}
	reply, err := jsontree.Parse(text)
	if err != nil {
		return nil, errors.New("couldn't parse reply from server")
	}
	return reply, nil
}

// checkStatus refuses replies that hold no JSON-RPC reply.
func checkStatus(status int, text []byte, c credentials) error {
	switch {
	case status == http.StatusUnauthorized:
		return failf("Authorization failed: %s Configuration file: (%s)", c.refused, c.configPath)
	case status == http.StatusServiceUnavailable:
		return failf("Server response: %s", text)
	case status > http.StatusBadRequest && status != http.StatusNotFound &&
		status != http.StatusInternalServerError:
		return fmt.Errorf("server returned HTTP error %d", status)
	case len(text) == 0:
		return errors.New("no response from server")
	}
	return nil
}

// unreachable explains why no reply came.
func (e *endpoint) unreachable(err error) string {
	var network net.Error
	reason := "Could not connect to the server"
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) ||
		(errors.As(err, &network) && network.Timeout()):
		reason = "timeout reached"
	case errors.As(err, new(*net.DNSError)), // so it is in Core's HTTP library
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		reason = "EOF reached"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		reason = errors.Unwrap(err).Error()
	case strings.Contains(err.Error(), "malformed HTTP"):
		reason = "error while reading header, or invalid header"
	}
	return fmt.Sprintf("Error while attempting to communicate with server %s (%s)\n\n"+
		"Make sure the %s server is running and that you are connecting to the correct RPC port.\n"+
		"Use \"%s -help\" for more info.", e.address, reason, e.names.Server, e.names.CLI)
}
