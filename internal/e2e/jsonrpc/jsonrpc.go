// Package jsonrpc calls a node as a client does: over HTTP, with the cookie's
// login, on connections that are kept open.
//
// It is meant for tests. A [Client] is safe for concurrent use and opens as
// many connections as there are calls at a time.
package jsonrpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxReply bounds the bytes of a reply that are kept in memory.
const maxReply = 256 << 20

// An Error is the error of a reply. Compare it with [IsError].
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e Error) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// IsError reports whether err is the error of a reply, with the given code.
func IsError(err error, code int) bool {
	var e Error
	return errors.As(err, &e) && e.Code == code
}

// A Reply is what came back for a request.
type Reply struct {
	Status int // of HTTP
	Body   string
}

// Client sends requests to one node; make one with [New].
type Client struct {
	url   string
	login string // value of the header Authorization
	http  *http.Client
}

// New returns a client of the node at addr (host:port). The login is
// "user:password", as in a cookie file.
func New(addr, login string) *Client {
	return &Client{
		url:   "http://" + addr,
		login: "Basic " + base64.StdEncoding.EncodeToString([]byte(login)),
		http: &http.Client{Transport: &http.Transport{
			MaxIdleConnsPerHost: 128,
			DisableCompression:  true,
		}},
	}
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Post sends a request body to a path, which begins with a slash and is
// percent-encoded. The error is of the connection, or of ctx.
func (c *Client) Post(ctx context.Context, path string, body []byte) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	req.Header.Set("Authorization", c.login)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return Reply{resp.StatusCode, string(text)}, err
}

// Call calls a method with positional parameters and decodes its result, if
// result is not nil. The error is an [Error] when the node sent one.
func (c *Client) Call(ctx context.Context, result any, method string, params ...any) error {
	body, err := Encode(method, params...)
	if err != nil {
		return err
	}
	return c.CallEncoded(ctx, result, body)
}

// CallWallet is [Client.Call] for a method of a wallet.
func (c *Client) CallWallet(ctx context.Context, wallet string, result any, method string, params ...any) error {
	body, err := Encode(method, params...)
	if err != nil {
		return err
	}
	return c.callAt(ctx, "/wallet/"+url.PathEscape(wallet), result, body)
}

// Encode returns the body of a call.
func Encode(method string, params ...any) (body []byte, err error) {
	if params == nil {
		params = []any{}
	}
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "e2e", "method": method, "params": params})
}

// CallEncoded is [Client.Call] with a body that Encode made.
func (c *Client) CallEncoded(ctx context.Context, result any, body []byte) error {
	return c.callAt(ctx, "/", result, body)
}

func (c *Client) callAt(ctx context.Context, path string, result any, body []byte) error {
	got, err := c.Post(ctx, path, body)
	if err != nil {
		return err
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if err := json.Unmarshal([]byte(got.Body), &reply); err != nil {
		return fmt.Errorf("HTTP %d, %.200q: %w", got.Status, got.Body, err)
	}
	switch {
	case reply.Error != nil:
		return *reply.Error
	case result == nil:
		return nil
	}
	return json.Unmarshal(reply.Result, result)
}
