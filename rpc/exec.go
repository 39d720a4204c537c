package rpc

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A response is an HTTP reply.
type response struct {
	status int
	body   []byte
	json   bool
}

// envelope returns the response whose body is one or more replies.
func envelope(status int, replies []byte) response {
	return response{status, append(replies, '\n'), true}
}

// A job is a request on its way to its reply: read, and either prepared or
// refused.
type job struct {
	request
	call *command.Call
	err  error // why there is no call
}

// waits reports whether the job is work that takes a worker. Refusals and
// control calls do not.
func (j *job) waits() bool { return j.err == nil && !j.call.Control() }

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

// answer replies to a body of a caller who may use what it asks for.
func (s *Server) answer(who command.Caller, list whitelist, body []byte) response {
	v, err := s.parse(body)
	if err != nil {
		return refusal(command.Error{Code: command.ParseError, Message: "Parse error"})
	}
	if !list.any() {
		s.warnf("RPC User %s not allowed to call any methods", who.User)
		return response{status: http.StatusForbidden}
	}
	switch v.Kind() {
	case jsontree.Object:
		return s.answerOne(who, list, v)
	case jsontree.Array:
		return s.answerBatch(who, list, v)
	default:
		return refusal(command.Error{Code: command.ParseError, Message: "Top-level object parse error"})
	}
}

// refusal is the reply to a body that holds no request.
func refusal(e command.Error) response {
	return envelope(noHeader.status(&e), noHeader.appendError(nil, e))
}

func (s *Server) answerOne(who command.Caller, list whitelist, v *jsontree.Value) response {
	j := read(v, noHeader)
	if j.err != nil { // answered even if it looks like a notification
		reply, _ := s.run(j, nil)
		return envelope(http.StatusBadRequest, reply)
	}
	if !s.mayCall(who, list, j.method) {
		return response{status: http.StatusForbidden}
	}
	s.prepare(who, j)
	if j.waits() {
		if !s.workers.enter() {
			return tooBusy
		}
		defer s.workers.leave()
	}
	reply, failure := s.run(j, nil)
	if j.notification() {
		return response{status: http.StatusNoContent}
	}
	return envelope(j.status(failure), reply)
}

// answerBatch runs the requests of a batch one after the other, with one
// worker for all of them.
func (s *Server) answerBatch(who command.Caller, list whitelist, batch *jsontree.Value) response {
	if batch.Len() > maxBatch {
		return refusal(command.Errorf(command.InvalidRequest, "A batch may have %d requests", maxBatch))
	}
	if refused := s.refuseBatch(who, list, batch); refused != nil {
		return *refused
	}
	jobs, waits, before := make([]*job, batch.Len()), false, noHeader
	for i, v := range batch.Elements() {
		jobs[i] = read(v, before)
		s.prepare(who, jobs[i])
		before = jobs[i].header
		waits = waits || jobs[i].waits()
	}
	if waits {
		if !s.workers.enter() {
			return tooBusy
		}
		defer s.workers.leave()
	}
	body, answered := []byte{'['}, len(jobs) == 0
	for _, j := range jobs {
		from := len(body)
		if from > 1 {
			body = append(body, ',')
		}
		if len(body) > s.batch && j.err == nil {
			j.err = command.Error{Code: command.OutOfMemory, Message: "The reply to the batch is too large"}
		}
		body, _ = s.run(j, body)
		if j.notification() {
			body = body[:from]
			continue
		}
		answered = true
	}
	if !answered {
		return response{status: http.StatusNoContent}
	}
	return envelope(http.StatusOK, append(body, ']'))
}

// refuseBatch applies a whitelist to a batch before any of it runs: one
// refused method refuses all. nil lets the batch pass.
func (s *Server) refuseBatch(who command.Caller, list whitelist, batch *jsontree.Value) *response {
	if !list.limited {
		return nil
	}
	for _, v := range batch.Elements() {
		if v.Kind() != jsontree.Object {
			r := refusal(command.Error{Code: command.InvalidRequest, Message: "Invalid Request object"})
			return &r
		}
		method, err := v.Get("method").AsString()
		if err != nil {
			r := refusal(command.Error{Code: command.ParseError, Message: err.Error()})
			return &r
		}
		if !s.mayCall(who, list, method) {
			return &response{status: http.StatusForbidden}
		}
	}
	return nil
}

func (s *Server) mayCall(who command.Caller, list whitelist, method string) bool {
	if list.allows(method) {
		return true
	}
	s.warnf("RPC User %s not allowed to call method %s", who.User, method)
	return false
}

// run runs a job and appends its reply. The failure, nil when there is none,
// is the one that the reply tells of.
func (s *Server) run(j *job, dst []byte) (reply []byte, failure *command.Error) {
	err := j.err
	if err == nil {
		if reply, err = s.call(j, dst); err == nil {
			return reply, nil
		}
	}
	e := s.reveal(j.method, err)
	return j.appendError(dst, e), &e
}

// call runs the method and appends the reply with its result. A panic costs
// this one call.
func (s *Server) call(j *job, dst []byte) (reply []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	result, err := j.call.Run(s.ctx)
	if err != nil {
		return nil, err
	}
	return j.appendResult(dst, result)
}

// reveal returns what the client may know of an error and logs one that it
// may not.
func (s *Server) reveal(method string, err error) command.Error {
	if e, ok := errors.AsType[command.Error](err); ok {
		return e
	}
	e := command.Error{Code: command.InternalError, Message: "Internal error"}
	known := false
	if table, _ := s.ready(); table != nil {
		e, known = table.Reveal(err)
	}
	if !known {
		s.log.Error("rpc method failed", "method", method, "err", err)
	}
	return e
}
