// Package rest answers the public REST requests of Bitcoin Core: blocks, headers, filters,
// transactions, unspent outputs and the memory pool, as JSON, hexadecimal text or bytes.
//
// Everything comes from the methods of the node, or from its [command.Reader], which reads the same
// without a call for each block or output. So both doors answer the same in the same words. The
// package knows neither HTTP nor the caller: it takes the target of a request and its body, and
// gives a [Reply]. Paths, statuses and texts are Core's.
//
// # Limits
//
// A request makes a bounded number of calls: at most [maxHeaders] headers or filters and
// [maxOutputs] outputs. Headers, filters, transactions and outputs are read without calls, where the
// node is no other's ([Node]). Nothing of a request is kept.
package rest

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// Prefix begins the path of every REST request.
const Prefix = "/rest/"

// The statuses of replies, those of HTTP.
const (
	statusOK          = 200
	statusBadRequest  = 400
	statusNotFound    = 404
	statusFailed      = 500
	statusUnavailable = 503
)

// The content types of replies.
const (
	typeText  = "text/plain"
	typeJSON  = "application/json"
	typeBytes = "application/octet-stream"
)

// Node makes the calls that requests are answered from. It must be safe for concurrent use.
type Node interface {
	// Do makes a call with parameters in JSON and returns its result as JSON. A [command.Error] in
	// the error has the text for clients.
	Do(ctx context.Context, method string, params []byte) ([]byte, error)

	// Bytes makes a call whose result is hexadecimal text, and returns the bytes that it
	// stands for, which must not be written to.
	Bytes(ctx context.Context, method string, params []byte) ([]byte, error)

	// Reader reads headers, filters, transactions and outputs without calls; nil where there must be
	// calls.
	Reader() command.Reader
}

// A Reply is the answer to one request.
type Reply struct {
	Status int
	Type   string // of the body
	Body   []byte
	Lasts  bool  // no later reply to the same request has another result
	Err    error // what failed where the status is 500
}

// Warming returns the reply to a request while the node starts.
func Warming(target, doing string) Reply { return Style{}.Warming(target, doing) }

// Warming is [Warming] in this style.
func (s Style) Warming(target, doing string) Reply {
	refused := refuse(statusUnavailable, "Service temporarily unavailable: "+doing)
	if r, found := s.read(target); found != nil && found.check != nil {
		if bad, ok := errors.AsType[refusal](found.check(r)); ok {
			refused = bad
		}
	}
	return refused.reply()
}

// A refusal is an error with the reply that clients get.
type refusal struct {
	status int
	text   string
}

func refuse(status int, text string) refusal { return refusal{status, text} }

// Error implements error.
func (r refusal) Error() string { return r.text }

func (r refusal) reply() Reply {
	return Reply{Status: r.status, Type: typeText, Body: []byte(r.text + "\r\n")}
}

// A format is how a result is written.
type format string

// The formats, as the endings of paths name them; none is the one of all others.
const (
	none      format = ""
	bin       format = "bin"
	hexText   format = "hex"
	jsonText  format = "json"
	available        = ".bin, .hex, .json"
)

var (
	errFormat     = refuse(statusNotFound, "output format not found (available: "+available+")")
	errJSONFormat = refuse(statusNotFound, "output format not found (available: json)")
)

// A request is one request on its way to its reply.
type request struct {
	Style

	node   Node
	target string // path and query, as the client sent them
	part   string // the path behind the prefix of the endpoint, without format and query
	format format
	body   []byte

	offset, size uint64 // which part of a block
}

// An endpoint answers the paths with its prefix.
type endpoint struct {
	prefix string
	answer func(context.Context, *request) (Reply, error)
	lasts  lasting
	check  func(*request) error // what it refuses even while the node starts; nil: nothing
}

// lasting is which replies of an endpoint never change.
type lasting int

const (
	nothing lasting = iota
	notJSON
	everything
)

// endpoints are looked through in this order.
var endpoints = []endpoint{
	{prefix: "tx/", answer: transaction},
	{prefix: "block/notxdetails/", answer: blockWithIDs, lasts: notJSON},
	{prefix: "block/", answer: blockWithDetails, lasts: notJSON},
	{prefix: "blockpart/", answer: blockPart, lasts: everything, check: readRange},
	{prefix: "blockfilter/", answer: blockFilter, lasts: everything},
	{prefix: "blockfilterheaders/", answer: filterHeaders},
	{prefix: "chaininfo", answer: chainInfo},
	{prefix: "mempool/", answer: mempool},
	{prefix: "headers/", answer: headers},
	{prefix: "getutxos", answer: unspentOutputs},
	{prefix: "deploymentinfo/", answer: deployments, lasts: everything},
	{prefix: "deploymentinfo", answer: deployments},
	{prefix: "blockhashbyheight/", answer: blockHash},
	{prefix: "spenttxouts/", answer: spentOutputs, lasts: everything},
}

// find returns the endpoint of a target, nil where there is none, and what follows its prefix.
func find(target string) (*endpoint, string) {
	path, ok := strings.CutPrefix(target, Prefix)
	if !ok {
		return nil, ""
	}
	for i := range endpoints {
		if rest, ok := strings.CutPrefix(path, endpoints[i].prefix); ok {
			return &endpoints[i], rest
		}
	}
	return nil, ""
}

// read returns the request for a target with its endpoint, which is nil where there is none.
func (s Style) read(target string) (*request, *endpoint) {
	found, rest := find(target)
	r := &request{Style: s, target: target}
	r.part, r.format = cutFormat(rest)
	return r, found
}

// reply answers a request where nothing fails.
func (e *endpoint) reply(ctx context.Context, r *request) (Reply, error) {
	if e.check != nil {
		if err := e.check(r); err != nil {
			return Reply{}, err
		}
	}
	reply, err := e.answer(ctx, r)
	about := r.part != "" // else it is about the tip
	reply.Lasts = e.lasts == everything && about || e.lasts == notJSON && r.format != jsonText
	return reply, err
}

// Exists reports whether there is an endpoint for a target.
func Exists(target string) bool {
	found, _ := find(target)
	return found != nil
}

// Answer replies to a request. target is its path and query as the client sent them, for which
// [Exists] is true; body is what came with it. ctx ends with the node.
func Answer(ctx context.Context, node Node, target string, body []byte) Reply {
	return Style{}.Answer(ctx, node, target, body)
}

// A Style is how requests are judged, where versions of Bitcoin Core differ; the zero value is that of 30.2.
type Style struct {
	AnyTarget    bool // targets may have any character; else only those that may stand there
	ReadFailures bool // a block that cannot be read is told; else there seems to be none
}

// Answer is [Answer] in this style.
func (s Style) Answer(ctx context.Context, node Node, target string, body []byte) Reply {
	r, found := s.read(target)
	if found == nil {
		return Reply{Status: statusNotFound, Type: typeText}
	}
	r.node, r.body = node, body
	reply, err := found.reply(ctx, r)
	if err == nil {
		return reply
	}
	if refused, ok := errors.AsType[refusal](err); ok {
		return refused.reply()
	}
	if ctx.Err() != nil {
		return refuse(statusUnavailable, "Shutting down").reply()
	}
	text := "Internal error"
	if shown, ok := errors.AsType[command.Error](err); ok {
		text = shown.Message
		if shown.Code == command.ClientNotConnected {
			return refuse(statusUnavailable, text).reply()
		}
	}
	reply = refuse(statusFailed, text).reply()
	reply.Err = err
	return reply
}

// call makes a call whose result is looked into.
func (r *request) call(ctx context.Context, method string, params ...*jsontree.Value) (*jsontree.Value, error) {
	result, err := r.raw(ctx, method, params...)
	if err != nil {
		return nil, err
	}
	return jsontree.Parse(result)
}

// raw makes a call whose result is passed on.
func (r *request) raw(ctx context.Context, method string, params ...*jsontree.Value) ([]byte, error) {
	return r.node.Do(ctx, method, jsontree.NewArray(params...).AppendJSON(nil))
}

// bytes makes a call whose result is hexadecimal text, and returns the bytes.
func (r *request) bytes(ctx context.Context, method string, params ...*jsontree.Value) ([]byte, error) {
	return r.node.Bytes(ctx, method, jsontree.NewArray(params...).AppendJSON(nil))
}

// text makes a call whose result is a string.
func (r *request) text(ctx context.Context, method string, params ...*jsontree.Value) (string, error) {
	v, err := r.call(ctx, method, params...)
	if err != nil {
		return "", err
	}
	return v.AsString()
}

// errMoved is what a function that steady runs says when it sees another tip.
var errMoved = errors.New("the tip moved")

// steady runs f, which is given the tip, until the tip is the same before and after it. So the
// answers of several calls are of the same chain. After 5 attempts it returns a refusal.
func (r *request) steady(ctx context.Context, f func(tip string) error) error {
	for range 5 {
		before, err := r.text(ctx, "getbestblockhash")
		if err != nil {
			return err
		}
		failed := f(before)
		after, err := r.text(ctx, "getbestblockhash")
		if err != nil {
			return err
		}
		if after == before && !errors.Is(failed, errMoved) {
			return failed
		}
	}
	return refuse(statusUnavailable, "The chain changes too fast")
}

// clientCode returns the code of an error that clients may see, 0 for others.
func clientCode(err error) command.Code {
	shown, _ := errors.AsType[command.Error](err)
	return shown.Code
}

// clientText returns the text of an error for clients.
func clientText(err error) string {
	shown, _ := errors.AsType[command.Error](err)
	return shown.Message
}
