package rpc

import (
	"net/http"

	"github.com/seed61375155/trawl/rpc/command"
)

// A response is an HTTP reply. Its parts are written one after the other.
type response struct {
	status int
	body   [][]byte
	json   bool
	form   string // content type; empty: what json says
	lasts  bool   // caches may keep it
	secret bool   // the body is overwritten when it is out
	held   share  // of the memory for replies

	stream command.Stream // goes out after the body; nil: nothing does
	tail   []byte         // what comes after that
}

// wipe overwrites the body.
func (r *response) wipe() {
	for _, part := range r.body {
		clear(part[:cap(part)])
	}
}

// text is a body of a few words.
func text(words string) [][]byte { return [][]byte{[]byte(words)} }

// length returns how long the body is.
func (r *response) length() int {
	n := len(r.tail)
	for _, part := range r.body {
		n += len(part)
	}
	if r.stream != nil {
		n += int(r.stream.Size())
	}
	return n
}

// envelope returns the response whose body is one reply, or noMemory where there
// is no room for the reply.
func (s *Server) envelope(status int, reply []byte, secret bool) response {
	reply = append(reply, '\n')
	held := share{of: &s.replies}
	if !held.grow(cap(reply)) {
		if secret {
			clear(reply)
		}
		return noMemory
	}
	return response{status: status, body: [][]byte{reply}, json: true, secret: secret, held: held}
}

// partSize is how long a part of the reply to a batch becomes before the next one
// begins, so that none has to grow much.
const partSize = 64 << 10

// A batchReply is the reply to a batch as it is built. The memory for it is taken
// as it grows.
type batchReply struct {
	parts    [][]byte // all but the last are complete
	size     int      // memory of the complete ones
	limit    int      // of the size of all
	held     share
	answered bool
	secret   bool // a part may show secrets
	sealed   bool // the last part does, and has no room for more
}

func (s *Server) newBatchReply() *batchReply {
	return &batchReply{parts: [][]byte{{'['}}, limit: s.batch, held: share{of: &s.replies}}
}

// full is why no further request can be answered with a result, nil when it can.
func (b *batchReply) full() error {
	last := b.last()
	switch {
	case b.size+len(*last) > b.limit:
		return command.Error{Code: command.OutOfMemory, Message: "The reply to the batch is too large"}
	case !b.held.grow(b.size + cap(*last)):
		return errBatchMemory
	}
	return nil
}

// errBatchMemory answers the requests of a batch for whose replies others leave
// no memory.
var errBatchMemory = command.Error{Code: command.OutOfMemory, Message: "Too many large replies at a time"}

func (b *batchReply) last() *[]byte { return &b.parts[len(b.parts)-1] }

// add appends the reply that write appends. Where it is too large for the memory
// that other replies leave, add appends the reply of fail instead. A reply with
// secrets has a part of its own.
func (b *batchReply) add(secret bool, write, fail func(dst []byte) []byte) {
	if secret || b.sealed || len(*b.last()) >= partSize {
		b.begin()
	}
	b.secret, b.sealed = b.secret || secret, secret
	last := b.last()
	if b.answered {
		*last = append(*last, ',')
	}
	from := len(*last)
	*last = write(*last)
	if !b.held.grow(b.size + cap(*last)) {
		clear((*last)[from:])
		*last = fail(append([]byte(nil), (*last)[:from]...))
	}
	b.answered = true
}

// begin begins a new part.
func (b *batchReply) begin() {
	b.size += cap(*b.last())
	b.parts = append(b.parts, nil)
}

// response returns the finished reply. A batch of notifications has none.
func (b *batchReply) response() response {
	if b.sealed {
		b.begin()
	}
	*b.last() = append(*b.last(), "]\n"...)
	return response{status: http.StatusOK, body: b.parts, json: true, secret: b.secret, held: b.held}
}
