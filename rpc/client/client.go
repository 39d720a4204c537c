// Package client calls a node over HTTP: any method, and by Go types the searches and scans that
// are Trawl's own, with events that are read on over lost connections.
//
// A [Client] is safe for concurrent use. It keeps connections open, as many as there are calls at a
// time.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// MaxReply bounds the bytes of a reply that are read: more is an error.
const MaxReply = 256 << 20

// Config says which node to call.
type Config struct {
	// URL is that of the RPC port, like "http://127.0.0.1:8332". Methods of a wallet are called
	// below it, at "/wallet/NAME".
	URL string

	User, Password string

	// Cookie is the path of the node's cookie file, used where User is empty. It is read for each
	// call, for a node that starts again writes a new cookie.
	Cookie string

	// HTTP makes the requests. Nil: a client of its own.
	HTTP *http.Client
}

// A Client calls one node; make one with [New].
type Client struct {
	cfg  Config
	http *http.Client
}

// New returns the client of a node.
func New(cfg Config) *Client {
	c := &Client{cfg: cfg, http: cfg.HTTP}
	c.cfg.URL = strings.TrimRight(cfg.URL, "/")
	if c.http == nil {
		c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	}
	return c
}

// An Error is what a node answers instead of a result, with Bitcoin Core's codes and words.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// A StatusError is an HTTP status without a reply, like 401 for a login that is not known and 503
// for a server that has too much to do.
type StatusError struct {
	Status int
	Text   string // of the body, its beginning
}

// Error implements error.
func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP status %d %s", e.Status, e.Text))
}

var (
	errTooLarge = fmt.Errorf("the reply has more than %d bytes", MaxReply)
	errCookie   = errors.New("the cookie file has no login")
)

// Call calls a method with positional parameters and decodes its result, unless result is nil.
//
// Errors: [*Error], [*StatusError], that of ctx, and those of the connection.
func (c *Client) Call(ctx context.Context, result any, method string, params ...any) error {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  []any  `json:"params"`
	}{"2.0", 1, method, params})
	if err != nil {
		return err
	}
	request, err := c.request(ctx, http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	reply, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, MaxReply+1))
	switch {
	case err != nil:
		return err
	case len(text) > MaxReply:
		return errTooLarge
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Result == nil && answer.Error == nil {
		return &StatusError{reply.StatusCode, string(text[:min(len(text), 200)])}
	}
	if answer.Error != nil {
		return answer.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

// request returns a request with the login.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, body)
	if err != nil {
		return nil, err
	}
	user, password := c.cfg.User, c.cfg.Password
	if user == "" && c.cfg.Cookie != "" {
		text, err := os.ReadFile(c.cfg.Cookie)
		if err != nil {
			return nil, err
		}
		var ok bool
		if user, password, ok = strings.Cut(strings.TrimSpace(string(text)), ":"); !ok {
			return nil, errCookie
		}
	}
	request.SetBasicAuth(user, password)
	return request, nil
}
