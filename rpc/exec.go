package rpc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// rights are what a caller may call.
type rights interface {
	// Limited reports whether there are methods that are refused.
	Limited() bool
	// Any reports whether the caller may call any method.
	Any() bool
	// Allows reports whether a method may be called.
	Allows(method string) bool
}

// A job is a request on its way to its reply: read, and either prepared or
// refused.
type job struct {
	request
	call *command.Call
	err  error // why there is no call

	abandoned bool            // the call may go on without us
	refused   command.Refused // not 0: another node refuses the request

	alone   bool           // the call is no part of a batch
	release func()         // gives the worker back; nil: there is none of its own
	stream  command.Stream // the result, where it is streamed
}

// works reports whether the job is work that takes a worker. Refusals, control
// calls and those that wait for something do not.
func (j *job) works() bool { return j.err == nil && !j.call.Control() && !j.call.Waits() }

// read reads one request. before is the header of the request before it in a
// batch.
func read(v *jsontree.Value, before header) *job {
	j := &job{}
	j.request, j.err = parseRequest(v, before)
	return j
}

// prepare finds what a request that could be read calls.
func (s *Server) prepare(who command.Caller, j *job) {
	if j.err != nil {
		return
	}
	table, err := s.ready()
	if err != nil {
		j.err = err
		return
	}
	j.call, j.err = table.Prepare(who, j.method, j.params)
	j.refused, _ = errors.AsType[command.Refused](j.err)
	if !errors.Is(j.err, command.ErrMethodNotFound) { // a name that is none of ours may be anything, a key too
		peer := ""
		if s.logIPs {
			peer = " peeraddr=" + who.Addr
		}
		name := j.method
		if j.call != nil {
			name = j.call.Name()
		}
		id := ""
		if s.style.NamesCalls {
			id = " id=" + shownID(j.id.Text())
		}
		s.debugf("ThreadRPCServer method=%s user=%s%s%s", name, who.User, peer, id)
	}
}

// parse reads a body. Large ones wait for each other, so that they leave most of
// the processor to others.
func (s *Server) parse(body []byte) (*jsontree.Value, error) {
	if len(body) > largeBody {
		s.parsing <- struct{}{}
		defer func() { <-s.parsing }()
	}
	return jsontree.Parse(body)
}

// answer replies to a body within the caller's rights. ctx ends with the client.
func (s *Server) answer(ctx context.Context, who command.Caller, list rights, body []byte) response {
	v, err := s.parse(body)
	if err != nil {
		return s.refusal(command.Error{Code: command.ParseError, Message: "Parse error"})
	}
	if !list.Any() {
		s.warnf("RPC User %s not allowed to call any methods", shown(who.User))
		return response{status: http.StatusForbidden}
	}
	switch v.Kind() {
	case jsontree.Object:
		return s.answerOne(ctx, who, list, v)
	case jsontree.Array:
		return s.answerBatch(ctx, who, list, v)
	default:
		return s.refusal(command.Error{Code: command.ParseError, Message: "Top-level object parse error"})
	}
}

// refusal is the reply to a body that holds no request.
func (s *Server) refusal(e command.Error) response {
	return s.envelope(noHeader.status(&e), noHeader.appendError(nil, e), false)
}

func (s *Server) answerOne(ctx context.Context, who command.Caller, list rights, v *jsontree.Value) response {
	j := read(v, noHeader)
	defer j.wipe(v)
	if j.err != nil { // answered even if it looks like a notification
		reply, _ := s.run(ctx, j, nil)
		return s.envelope(http.StatusBadRequest, reply, false)
	}
	if !s.mayCall(who, list, j.method) {
		return response{status: http.StatusForbidden}
	}
	s.prepare(who, j)
	j.alone = true
	if j.works() {
		if !s.workers.enter() {
			return tooBusy
		}
		held := &heldWorker{of: s.workers}
		defer held.end()
		j.release = held.release
	}
	if j.err == nil && j.call.Waits() {
		if !s.workers.wait() {
			return tooBusy
		}
		defer s.workers.waited()
	}
	reply, failure := s.run(ctx, j, nil)
	if j.refused != 0 {
		return response{status: int(j.refused)}
	}
	if j.notification() {
		j.closeStream()
		return response{status: http.StatusNoContent}
	}
	if j.stream != nil {
		return j.streamed()
	}
	return s.envelope(j.status(failure), reply, j.mayShow(failure))
}

// answerBatch runs the requests of a batch one after the other, all with the same
// worker. Only a few control calls need none.
func (s *Server) answerBatch(ctx context.Context, who command.Caller, list rights, batch *jsontree.Value) response {
	if batch.Len() > maxBatch {
		return s.refusal(command.Errorf(command.InvalidRequest, "A batch may have %d requests", maxBatch))
	}
	if refused := s.refuseBatch(who, list, batch); refused != nil {
		batch.Wipe()
		return *refused
	}
	working := s.batchWorks(who, batch)
	if working && !s.workers.enter() {
		batch.Wipe()
		return tooBusy
	}
	defer func() {
		if working {
			s.workers.leave()
		}
	}()
	reply := s.newBatchReply()
	for v, j := range s.jobs(who, batch) {
		if j.err == nil {
			j.err = reply.full()
		}
		switch {
		case j.err != nil || !j.call.Waits():
			s.addReply(ctx, reply, j)
		case s.workers.wait():
			working = s.addWaited(ctx, reply, j, working)
		default:
			j.err = errTooBusy
			s.addReply(ctx, reply, j)
		}
		j.wipe(v)
	}
	if !reply.answered && batch.Len() > 0 {
		reply.held.release()
		return response{status: http.StatusNoContent}
	}
	return reply.response()
}

// jobs yields the requests of a batch, prepared.
func (s *Server) jobs(who command.Caller, batch *jsontree.Value) iter.Seq2[*jsontree.Value, *job] {
	return func(yield func(*jsontree.Value, *job) bool) {
		before := noHeader
		for _, v := range batch.Elements() {
			j := read(v, before)
			before = j.header
			s.prepare(who, j)
			if !yield(v, j) {
				return
			}
		}
	}
}

// batchWorks reports whether a batch takes a worker: if it is long, or any of it
// is work.
func (s *Server) batchWorks(who command.Caller, batch *jsontree.Value) bool {
	if batch.Len() > maxControlBatch {
		return true
	}
	for _, j := range s.jobs(who, batch) {
		if j.works() {
			return true
		}
	}
	return false
}

// addWaited is addReply for a job that waits, after workers.wait has given it a
// place. The batch's worker, if it has one, serves others meanwhile; addWaited
// returns whether the batch has a worker afterwards.
func (s *Server) addWaited(ctx context.Context, b *batchReply, j *job, working bool) bool {
	defer s.workers.waited()
	if !working {
		s.addReply(ctx, b, j)
		return false
	}
	return s.workers.pause(func() { s.addReply(ctx, b, j) })
}

// addReply runs a job of a batch and adds its reply, unless nobody wants it.
func (s *Server) addReply(ctx context.Context, b *batchReply, j *job) {
	if j.notification() {
		_, _ = s.run(ctx, j, nil)
		return
	}
	b.add(j.secret(), func(dst []byte) []byte {
		dst, _ = s.run(ctx, j, dst)
		return dst
	}, func(dst []byte) []byte { return j.appendError(dst, errBatchMemory) })
}

// refuseBatch applies a whitelist to a batch before any of it runs: one
// refused method refuses all. nil lets the batch pass.
func (s *Server) refuseBatch(who command.Caller, list rights, batch *jsontree.Value) *response {
	if !list.Limited() {
		return nil
	}
	for _, v := range batch.Elements() {
		if v.Kind() != jsontree.Object {
			r := s.refusal(command.Error{Code: command.InvalidRequest, Message: "Invalid Request object"})
			return &r
		}
		method, err := v.Get("method").AsString()
		if err != nil {
			r := s.refusal(command.Error{Code: command.ParseError, Message: err.Error()})
			return &r
		}
		if !s.mayCall(who, list, method) {
			return &response{status: http.StatusForbidden}
		}
	}
	return nil
}

func (s *Server) mayCall(who command.Caller, list rights, method string) bool {
	if list.Allows(method) {
		return true
	}
	s.warnf("RPC User %s not allowed to call method %s", shown(who.User), shown(method))
	return false
}

// run runs a job and appends its reply. failure is the error that the reply
// reports, nil when it reports none.
func (s *Server) run(ctx context.Context, j *job, dst []byte) (reply []byte, failure *command.Error) {
	began := time.Now()
	defer func() { observe(s, j, began, failure != nil) }()
	err := j.err
	if err == nil {
		if reply, err = s.call(ctx, j, dst); err == nil {
			return reply, nil
		}
	}
	e := s.reveal(j.method, err)
	if j.secret() {
		dst = slices.Grow(dst, escaped*len(e.Message)+slack) // so that nothing of it is left where it would grow
	}
	return j.appendError(dst, e), &e
}

// call runs the method and appends the reply with its result. A panic costs
// this one call. client ends with the client, and with it what only waits.
func (s *Server) call(client context.Context, j *job, dst []byte) (reply []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			j.abandoned = true
		}
	}()
	ctx := s.ctx
	if j.call.Waits() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		stop := context.AfterFunc(client, cancel)
		end := func() {
			stop()
			cancel()
		}
		defer func() { j.endWith(end) }()
	}
	if j.release != nil {
		ctx = command.WithWorker(ctx, j.release)
	}
	result, err := j.call.Run(ctx) //nolint:contextcheck // a client that leaves ends nothing but what only waits
	if err != nil {
		e, known := j.call.Reveal(err)
		j.abandoned = ctx.Err() != nil || !known || e.Code == command.ClientNotConnected
		j.refused, _ = errors.AsType[command.Refused](err)
		return nil, err
	}
	if stream, ok := result.(command.Stream); ok {
		return dst, j.takeStream(stream)
	}
	if j.call.ShowsSecrets() {
		return j.appendSecrets(dst, result)
	}
	return j.appendResult(dst, result)
}

// reveal returns the error that the client may see, and logs an error that it may
// not see.
func (s *Server) reveal(method string, err error) command.Error {
	if e, ok := errors.AsType[command.Error](err); ok {
		return e
	}
	if r, ok := errors.AsType[command.Refused](err); ok {
		return r.InBatch()
	}
	e := command.Error{Code: command.InternalError, Message: "Internal error"}
	known := false
	if table, _ := s.ready(); table != nil {
		e, known = table.Reveal(err)
	}
	if !known {
		s.log.Error("rpc method failed", "method", shown(method), "err", err)
	}
	return e
}
