package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/rest"
)

const (
	// publicPart is which part of workers, queue and memory for replies public requests have,
	// beside those of callers with a login.
	publicPart = 4

	// maxPublicBody bounds the body of a public request: 15 outpoints take 1100 bytes.
	maxPublicBody = 64 << 10

	// maxPublicBodies bounds all of them together.
	maxPublicBodies = 16 << 20
)

// A publicDoor is what requests without a login may take. Nothing of it is taken from callers
// with one.
type publicDoor struct {
	server  *Server
	workers *workers
	bodies  budget
	replies budget
}

func newPublicDoor(s *Server, threads, queue int) *publicDoor {
	return &publicDoor{
		server:  s,
		workers: newWorkers(threads/publicPart, queue/publicPart),
		bodies:  budget{limit: maxPublicBodies},
		replies: budget{limit: maxReplies / publicPart},
	}
}

// serve answers a public request.
func (d *publicDoor) serve(w http.ResponseWriter, r *http.Request) {
	s := d.server
	if r.ContentLength > maxPublicBody {
		s.reply(w, response{status: http.StatusRequestEntityTooLarge})
		return
	}
	held := share{of: &d.bodies}
	defer held.release()
	r.Body = http.MaxBytesReader(w, r.Body, maxPublicBody)
	body, refused := s.readBody(w, r, &held)
	if refused != nil {
		s.reply(w, *refused)
		return
	}
	if !connOf(r).hold() {
		panic(http.ErrAbortHandler)
	}
	s.reply(w, d.public(strings.ReplaceAll(r.RequestURI, brokenEscape, "%"), r.RemoteAddr, body))
}

// public makes the reply to a public request, by one of its workers.
func (d *publicDoor) public(target, from string, body []byte) response {
	table, err := d.server.ready()
	if warming, ok := errors.AsType[command.Error](err); ok {
		return d.response(d.style().Warming(target, warming.Message))
	}
	if !d.workers.enter() {
		return tooBusy
	}
	defer d.workers.leave()
	reply := d.answer(tableCalls{table, from}, target, body)
	if reply.Err != nil {
		d.server.log.Error("REST request failed", "err", reply.Err)
	}
	return d.response(reply)
}

// answer answers from the table. A panic costs this one request.
func (d *publicDoor) answer(calls rest.Node, target string, body []byte) (reply rest.Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = rest.Reply{
				Status: http.StatusInternalServerError, Type: "text/plain", Body: []byte("Internal error\r\n"),
				Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	return d.style().Answer(d.server.ctx, calls, target, body)
}

// style is how requests are judged.
func (d *publicDoor) style() rest.Style {
	has := &d.server.style
	return rest.Style{AnyTarget: has.AnyTarget, ReadFailures: has.ReadFailures}
}

// response takes the memory for a reply.
func (d *publicDoor) response(r rest.Reply) response {
	held := share{of: &d.replies}
	if !held.grow(cap(r.Body)) {
		return noMemory
	}
	return response{status: r.Status, body: [][]byte{r.Body}, form: r.Type, lasts: r.Lasts, held: held}
}

// tableCalls makes calls for clients without a login.
type tableCalls struct {
	table *command.Table
	from  string
}

// Do implements [rest.Node].
func (c tableCalls) Do(ctx context.Context, method string, params []byte) ([]byte, error) {
	return c.table.Do(ctx, command.Caller{Addr: c.from}, method, params)
}

// Bytes implements [rest.Node].
func (c tableCalls) Bytes(ctx context.Context, method string, params []byte) ([]byte, error) {
	return c.table.DoBytes(ctx, command.Caller{Addr: c.from}, method, params)
}

// Reader implements [rest.Node].
func (c tableCalls) Reader() command.Reader { return c.table.Reader() }
