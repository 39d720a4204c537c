package corenode

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// MaxReply bounds the bytes of a reply.
const MaxReply = 64 << 20

// Defaults of a Config.
const (
	DefaultTimeout = time.Minute
	DefaultConns   = 8  // half of the threads that Core has for calls by default
	forwardConns   = 64 // Core refuses what is beyond its queue; see passage for later versions
)

// Config says where Core is and how to log in there.
type Config struct {
	Address  Address
	Cookie   string // path of Core's cookie file
	Login    string // path of a file with user:password and mode 0600; goes before Cookie
	User     string // with Password, instead of a file
	Password string //

	// Configuration reads what Core's configuration says, whose login is taken where there is
	// no other; nil: it cannot be read.
	Configuration func() (Configured, error)

	CA       []byte        // PEM: who vouches for an https address; empty: the system's
	Insecure bool          // a login may go over plain HTTP to another machine
	Timeout  time.Duration // of a call of the node itself; 0: DefaultTimeout
	Conns    int           // connections for such calls; 0: DefaultConns
	MaxConns int           // that Core serves at a time, from version 32 on; 0: its default
}

// A Client calls one Core.
type Client struct {
	base     string // scheme://host:port
	login    loginSource
	timeout  time.Duration
	maxReply int64
	large    chan struct{} // held while a reply of more than freeReply is read for the node itself
	own      *http.Client  // for calls of the node
	forward  *http.Client  // for calls passed on for a client
	life     *http.Client  // for signs of life
	requests atomic.Int64
	wait     atomic.Int32 // how the tip is waited for: see wait.go

	passage passage // of calls passed on
	health
}

// New returns a client. It does not connect. The error is in words for the operator and
// wraps [ErrPlain] or tells of CA.
func New(c Config) (*Client, error) {
	if !c.Address.TLS && !c.Address.Local() && !c.Insecure {
		return nil, ErrPlain
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Conns == 0 {
		c.Conns = DefaultConns
	}
	client := &Client{
		base: c.Address.String(), timeout: c.Timeout, maxReply: MaxReply,
		large: make(chan struct{}, 1), login: noLogin{},
	}
	client.passage.under = make(chan struct{}, min(max(cmp.Or(c.MaxConns, coreConns)-ownConns, 1), forwardConns))
	switch {
	case c.Login != "":
		client.login = &loginFile{path: c.Login, private: true}
	case c.Cookie != "":
		client.login = &loginFile{path: c.Cookie}
	case c.User != "" || c.Password != "":
		client.login = fixedLogin(c.User + ":" + c.Password)
	case c.Configuration != nil:
		client.login = &configuredLogin{configuration: c.Configuration}
	}
	var pool *x509.CertPool
	if len(c.CA) > 0 {
		pool = x509.NewCertPool()
		if !pool.AppendCertsFromPEM(c.CA) {
			return nil, errors.New("there is no certificate in PEM form in the file of -attachca")
		}
	}
	client.own = newHTTP(c, pool, c.Conns)
	client.forward = newHTTP(c, pool, forwardConns)
	client.life = newHTTP(c, pool, 1)
	return client, nil
}

func newHTTP(c Config, pool *x509.CertPool, conns int) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	dial := dialer.DialContext
	if !c.Address.TLS && !c.Insecure {
		dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			if err := checkDialed(conn.RemoteAddr()); err != nil {
				_ = conn.Close()
				return nil, err
			}
			return conn, nil
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
			TLSHandshakeTimeout:    10 * time.Second,
			MaxConnsPerHost:        conns,
			MaxIdleConnsPerHost:    conns,
			IdleConnTimeout:        20 * time.Second, // Core closes after 30 by default
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
			ReadBufferSize:         64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Address returns where Core is, as a URL without a login.
func (c *Client) Address() string { return c.base }

// Requests returns how many HTTP requests were sent.
func (c *Client) Requests() int64 { return c.requests.Load() }

// Close closes the connections that are idle. The client can be used after it.
func (c *Client) Close() {
	c.own.CloseIdleConnections()
	c.forward.CloseIdleConnections()
	c.life.CloseIdleConnections()
}

// A Reply is what Core answers an HTTP request with.
type Reply struct {
	Status int
	Body   []byte

	// Large is the body instead, where a reply to [Client.Forward] succeeded and is larger
	// than [MaxReply]. It has to be closed.
	Large *Large

	done func() // gives back what the body holds of the room for large replies
}

// release says that the body was read.
func (r Reply) release() {
	if r.done != nil {
		r.done()
	}
}

// Forward sends the body of a JSON-RPC request to a path with the value of an
// Authorization header, and returns the reply whatever its status is. The error is
// [ErrAway], that of the context, or [ErrReply]. ctx has to last until a large reply has
// been read. A call may take as long as Core likes: it ends when Core is found to hang, and while
// Core does there is none.
func (c *Client) Forward(ctx context.Context, path, authorization string, body []byte) (Reply, error) {
	return c.send(ctx, c.forward, http.MethodPost, path, authorization, body, c.maxReply)
}

// ForwardOwn is [Client.Forward] with the client's own login.
func (c *Client) ForwardOwn(ctx context.Context, path string, body []byte) (Reply, error) {
	return c.sendOwn(ctx, c.forward, path, body, c.maxReply)
}

// sendOwn sends with the client's own login, which is read again when Core refuses it.
func (c *Client) sendOwn(ctx context.Context, by *http.Client, path string, body []byte, limit int64) (Reply, error) {
	var refused []byte
	for {
		login, err := c.login.get(refused)
		switch {
		case err != nil && refused != nil:
			return Reply{}, err
		case err != nil:
			return Reply{}, c.withoutLoginAt(ctx, by, err)
		}
		if bytes.Equal(login, refused) {
			return Reply{}, away("%w", ErrLogin)
		}
		if refused != nil {
			c.lose() // Core has been started with another login
		}
		header := "Basic " + base64.StdEncoding.EncodeToString(login)
		reply, err := c.send(ctx, by, http.MethodPost, path, header, body, limit)
		switch {
		case err != nil:
			return Reply{}, err
		case reply.Status != http.StatusUnauthorized:
			return reply, nil
		case refused != nil:
			return Reply{}, away("%w", ErrLogin)
		}
		refused = login
	}
}

// withoutLoginAt returns why there is no way to Core: nobody listens there, or else the reason
// why there is no login.
func (c *Client) withoutLoginAt(ctx context.Context, by *http.Client, reason error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, quickTime, errTimeout)
	defer cancel()
	if _, err := c.send(ctx, by, http.MethodPost, "/", "", nil, freeReply); errors.Is(err, ErrAway) {
		return err
	}
	return reason
}

// minHidden is from how many bytes on a password is looked for in what the other side
// says: shorter ones are in many texts.
const minHidden = 4

// hideLogin leaves the password out of a text from the other side, which may be no Core.
func (c *Client) hideLogin(text string) string {
	login, err := c.login.get(nil)
	if err != nil {
		return text
	}
	_, password, _ := bytes.Cut(login, []byte(":"))
	for _, secret := range []string{string(password), base64.StdEncoding.EncodeToString(login)} {
		if len(secret) >= minHidden {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// maxWords bounds what is kept of the words of an error: those of Core are shorter.
const maxWords = 2000

// withoutLogin is hideLogin for an error, if that is the other side's.
func (c *Client) withoutLogin(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		words := c.hideLogin(e.Message)
		return &Error{Code: e.Code, Message: strings.Clone(words[:min(len(words), maxWords)])}
	}
	return err
}

// send sends one request and reads the reply, of up to limit bytes. body is read until it
// returns.
func (c *Client) send(
	ctx context.Context, by *http.Client, verb, path, authorization string, body []byte, limit int64,
) (Reply, error) {
	if by == c.forward && c.hang.hangs() {
		c.seekLifeSoon() // it may be back
		return Reply{}, errHangs
	}
	ctx, end := c.hang.bind(ctx)
	if by == c.forward {
		leave, err := c.passage.enter(ctx)
		if err != nil {
			end()
			return Reply{}, err
		}
		ended := c.watch(ctx, end)
		end = func() {
			ended()
			leave()
		}
	}
	reply, err := c.exchange(ctx, by, verb, path, authorization, body, limit)
	if reply.Large != nil {
		reply.Large.done = end
	} else {
		end()
	}
	return reply, err
}

func (c *Client) exchange(
	ctx context.Context, by *http.Client, verb, path, authorization string, body []byte, limit int64,
) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, verb, c.base+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, fmt.Errorf("%w: path", ErrReply) // of a wallet that no URL can name
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if verb == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	c.requests.Add(1)
	began := time.Now()
	resp, err := by.Do(req)
	if err != nil {
		return Reply{}, c.failed(ctx, began, err)
	}
	c.noteStatus(resp.StatusCode)
	large := false
	defer func() {
		if !large {
			_ = resp.Body.Close()
		}
	}()
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return Reply{}, fmt.Errorf("%w: it is compressed", ErrReply)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return Reply{}, fmt.Errorf("%w: it leads elsewhere (HTTP status %d)", ErrReply, resp.StatusCode)
	}
	if by == c.forward && resp.StatusCode == http.StatusOK && resp.ContentLength > c.maxReply {
		body, err := newLarge(resp.Body, resp.ContentLength)
		if large = err == nil; !large {
			return Reply{}, err
		}
		return Reply{Status: resp.StatusCode, Large: body}, nil
	}
	reply := Reply{Status: resp.StatusCode}
	enlarge := func() error { return nil }
	if by == c.own {
		enlarge = func() error { return c.enterLarge(ctx, &reply) }
	}
	reply.Body, err = readBody(resp.Body, resp.ContentLength, limit, enlarge)
	if err == nil {
		return reply, nil
	}
	reply.release()
	if errors.Is(err, ErrTooLarge) {
		return Reply{}, err
	}
	return Reply{}, c.failed(ctx, began, err)
}

// failed makes an error of the transport one of this package. The end of the caller's own
// context is no fault of Core's.
func (c *Client) failed(ctx context.Context, began time.Time, err error) error {
	if ctx.Err() == nil {
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			c.unanswered(began) // its machine is off, or lets nothing through
			c.seekLifeSoon()
		} else {
			c.lose()
			c.answered() // it does not hang
		}
		return away("%w", err)
	}
	cause := context.Cause(ctx)
	if !errors.Is(cause, errTimeout) {
		return cause
	}
	c.unanswered(began)
	c.seekLifeSoon()
	return away("%w", cause)
}

var errTimeout = errors.New("no reply in time")

// limit gives a call of the node its time.
func (*Client) limit(ctx context.Context, atMost time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, atMost, errTimeout)
}

// patience returns how long a call may take that has a time, which is little while Core does not
// answer others.
func (c *Client) patience(usual time.Duration) time.Duration {
	if _, silent := c.Silent(); silent {
		return min(usual, pingTime)
	}
	return usual
}
