package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
)

// Limits of the streams of events.
const (
	maxStreams      = 2000
	maxLoginStreams = 64      // of one login
	maxBehind       = 1 << 20 // bytes that a reader may be behind
	maxUnsent       = 1 << 17 // beside what the system has of them, which counts its own needs too
	heartbeat       = 15 * time.Second
)

// Events makes the streams of GET /events.
type Events interface {
	// Open begins a stream. query is that of the request, last its Last-Event-ID; may reports whether the client
	// may call a method. The words of the error are for the client, whose request it cannot answer.
	Open(ctx context.Context, query, last string, may func(method string) bool) (EventStream, error)
}

// An EventStream is read by one goroutine.
type EventStream interface {
	// Next waits for the next event. The stream ends with any error.
	Next(ctx context.Context) (StreamEvent, error)
	Close()
}

// A StreamEvent is one event as it is sent. Without Data it gives the reader an ID alone.
type StreamEvent struct {
	ID, Name string
	Data     []byte // JSON, one line
	Method   string // that shows the same: clients without the right to it get no such event; empty: all get it
	IDMethod string // that shows what the ID does: clients without the right to it get HiddenID; empty: all get ID
	Waits    bool   // it is read from the disk: it waits for a reader that is behind, who is not cut off
}

// HiddenID is the ID of all events for clients that may not know the real IDs. No stream continues from there: a
// client that comes back with it learns that events may have been missed.
const HiddenID = "-"

// Streams are those of GET /events of a server: none before Serve was called.
type Streams struct {
	server *Server
	events atomic.Pointer[Events]

	mu      sync.Mutex
	total   int
	byLogin map[string]int
}

func (s *Streams) enter(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= maxStreams || s.byLogin[user] >= maxLoginStreams {
		return false
	}
	if s.byLogin == nil {
		s.byLogin = map[string]int{}
	}
	s.total++
	s.byLogin[user]++
	return true
}

func (s *Streams) leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byLogin[user]--; s.byLogin[user] == 0 {
		delete(s.byLogin, user)
	}
}

func (s *Streams) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Serve has GET /events answered from now on.
func (s *Streams) Serve(e Events) { s.events.Store(&e) }

// wants reports whether a request is for the stream of events.
func (s *Streams) wants(r *http.Request) bool {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return r.Method == http.MethodGet && path == "/events" && s.events.Load() != nil
}

// answer answers GET /events.
func (s *Streams) answer(w http.ResponseWriter, r *http.Request) {
	server := s.server
	who, refused := authorize(server, r)
	if refused != nil {
		refuseLogin(server, w, r, refused)
		return
	}
	caller := &loggedIn{who: who, header: r.Header.Get("Authorization"), now: &server.accounts}
	login, _, _ := rpcauth.Decode(caller.header)
	_, query, _ := strings.Cut(r.RequestURI, "?")
	s.serve(r.Context(), w, r, subscription{caller, login, query})
}

// A subscription is a client of the event stream and its query, which selects the events.
type subscription struct {
	subscriber

	login, query string
}

// A subscriber has logged in.
type subscriber interface {
	// rights returns what it may call now; nothing once it may not log in any more.
	rights() rights
}

// serve answers with a stream, which ends with ctx.
func (s *Streams) serve(ctx context.Context, w http.ResponseWriter, r *http.Request, caller subscription) {
	server, login := s.server, caller.login
	if !caller.rights().Any() {
		server.reply(w, response{status: http.StatusForbidden})
		return
	}
	if !s.enter(login) {
		server.reply(w, response{status: http.StatusServiceUnavailable, body: text("Too many streams of events")})
		return
	}
	defer s.leave(login)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(server.ctx, cancel)() //nolint:contextcheck // the stream ends with the server too
	from, err := (*s.events.Load()).Open(ctx, caller.query, r.Header.Get("Last-Event-ID"), caller.rights().Allows)
	if err != nil {
		server.reply(w, response{status: http.StatusBadRequest, body: text(err.Error())})
		return
	}
	defer from.Close()
	if !connOf(r).hold() {
		panic(http.ErrAbortHandler)
	}
	connOf(r).limitUnsent(maxUnsent)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	server.observer.Replied(http.StatusOK)
	out := newOutbox()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.collect(ctx, caller, from, out)
		if out.lagged() {
			_ = control.SetWriteDeadline(time.Now()) // whatever waits for this reader
		}
	}()
	complete := s.send(ctx, w, control, out)
	cancel()
	<-done // it uses the connection
	if !complete {
		panic(http.ErrAbortHandler)
	}
}

// collect puts the events that a caller may see into the outbox, until they end.
func (s *Streams) collect(ctx context.Context, caller subscriber, from EventStream, out *outbox) {
	defer func() {
		if p := recover(); p != nil {
			out.end(fmt.Errorf("panic: %v", p))
			s.server.log.Error("stream of events failed", "err", p)
		}
	}()
	for {
		e, err := from.Next(ctx)
		if err != nil {
			out.end(err)
			return
		}
		now := caller.rights()
		if !now.Any() {
			out.end(errLoggedOut)
			return
		}
		if e.Method != "" && !now.Allows(e.Method) {
			continue
		}
		if e.IDMethod != "" && !now.Allows(e.IDMethod) {
			e.ID = HiddenID
		}
		if e.Waits && !out.wait(ctx) || !out.add(e.append(nil)) {
			return
		}
	}
}

// send writes what comes into the outbox. It is false where the reader is cut off.
func (s *Streams) send(ctx context.Context, w http.ResponseWriter, control *http.ResponseController, out *outbox) bool {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	parts := [][]byte{[]byte(": trawl\n\n")}
	var end error
	for {
		if len(parts) > 0 {
			_ = control.SetWriteDeadline(time.Now().Add(s.server.timeout))
			if out.lagged() { // its deadline may have come before this one
				return false
			}
			for _, part := range parts {
				if _, err := w.Write(part); err != nil {
					return false
				}
			}
			if control.Flush() != nil {
				return false
			}
		}
		if end != nil {
			return s.server.ctx.Err() != nil
		}
		select {
		case <-out.ready:
			parts, end = out.take()
		case <-beat.C:
			parts = [][]byte{[]byte(":\n\n")}
		case <-ctx.Done():
			return s.server.ctx.Err() != nil
		}
	}
}

// errLoggedOut ends the stream of a login that is known no more, or may call nothing.
var errLoggedOut = errors.New("not logged in any more")

// append appends the event as it is sent.
func (e *StreamEvent) append(dst []byte) []byte {
	dst = append(dst, "id: "...)
	dst = append(dst, e.ID...)
	if e.Data != nil {
		dst = append(dst, "\nevent: "...)
		dst = append(dst, e.Name...)
		dst = append(dst, "\ndata: "...)
		dst = append(dst, e.Data...)
	}
	return append(dst, "\n\n"...)
}
