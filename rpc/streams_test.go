package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// source is a stream that tests feed.
type source struct {
	events chan StreamEvent
	closed chan struct{}
}

func newSource() *source {
	return &source{events: make(chan StreamEvent), closed: make(chan struct{}, 10)}
}

func (s *source) Open(_ context.Context, query, last string, _ func(string) bool) (EventStream, error) {
	if query == "bad" {
		return nil, errors.New("no such topic")
	}
	return s, nil
}

func (s *source) Next(ctx context.Context) (StreamEvent, error) {
	select {
	case e := <-s.events:
		return e, nil
	case <-ctx.Done():
		return StreamEvent{}, ctx.Err()
	}
}

func (s *source) Close() { s.closed <- struct{}{} }

func (c *client) stream(t *testing.T, path, login string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if login != "" {
		req.Header.Set("Authorization", basic(login))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// Events reach clients with the right to call the methods that tell the same, and the stream ends in order with the
// server.
//
//nolint:bodyclose // the cleanup of stream closes them
func TestStream(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Whitelist: []string{"u:quick"}})
	c, from := newClient(t, s), newSource()
	if resp := c.stream(t, "/events", "u:p"); resp.StatusCode != http.StatusNotFound {
		t.Error("before there are events:", resp.Status)
	}
	s.Streams.Serve(from)
	for path, status := range map[string]int{"/events?bad": 400, "/": 405, "/events/": 404, "/eventsx": 404} {
		if resp := c.stream(t, path, "u:p"); resp.StatusCode != status {
			t.Error(path, resp.Status)
		}
	}
	if resp := c.stream(t, "/events", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Error("without a login:", resp.Status)
	}
	resp := c.stream(t, "/events", "u:p")
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatal(resp.Status, kind)
	}
	from.events <- StreamEvent{ID: "1", Name: "a", Data: []byte("{}"), Method: "status"}
	from.events <- StreamEvent{ID: "2", Name: "b", Data: []byte(`{"x":1}`), Method: "quick"}
	in := bufio.NewReader(resp.Body)
	from.events <- StreamEvent{ID: "a hash", Name: "c", Data: []byte("{}"), IDMethod: "status"}
	for _, want := range []string{
		": trawl", "", "id: 2", "event: b", `data: {"x":1}`, "", "id: " + HiddenID, "event: c", "data: {}", "",
	} {
		if line, err := in.ReadString('\n'); err != nil || line != want+"\n" {
			t.Fatalf("%q, %v, want %q", line, err, want)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) != 0 {
		t.Errorf("%q, %v", rest, err)
	}
	<-from.closed
}

// A client that does not read is cut off and holds up nobody.
//
//nolint:bodyclose // the cleanup of stream closes them
func TestSlowStream(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	c, from := newClient(t, s), newSource()
	s.Streams.Serve(from)
	resp := c.stream(t, "/events", "u:p")
	data := []byte(strings.Repeat("x", 64<<10))
	for cut := false; !cut; {
		select {
		case from.events <- StreamEvent{ID: "1", Name: "a", Data: data}:
		case <-from.closed:
			cut = true
		}
	}
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("after %d bytes the stream ends as if it were whole", n)
	}
}

// One login has no more streams than its share, and gets its room back.
func TestStreamLimits(t *testing.T) {
	var s Streams
	for range maxLoginStreams {
		if !s.enter("u") {
			t.Fatal("refused")
		}
	}
	if s.enter("u") || !s.enter("v") {
		t.Error("the limit is not that of the login")
	}
	s.leave("u")
	if !s.enter("u") {
		t.Error("there is room")
	}
	for s.total < maxStreams {
		s.enter(strings.Repeat("w", s.total))
	}
	if s.enter("z") {
		t.Error("too many in all")
	}
	for user := range maps.Clone(s.byLogin) {
		for s.byLogin[user] > 0 {
			s.leave(user)
		}
	}
	if s.total != 0 || len(s.byLogin) != 0 {
		t.Errorf("all have left, and %d streams and %d logins are kept", s.total, len(s.byLogin))
	}
}

// A reader of a quiet stream hears a comment every 15 seconds.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &Streams{server: &Server{observer: nobody{}, ctx: ctx, timeout: time.Minute}}
		w := &lockedWriter{ResponseRecorder: httptest.NewRecorder()}
		out := newOutbox()
		done := make(chan bool)
		go func() { done <- s.send(ctx, w, http.NewResponseController(w), out) }()
		for n, want := range []string{": trawl\n\n", "", ":\n\n", ":\n\n", "id: 1\n\n", ":\n\n"} {
			switch {
			case n == 1:
				time.Sleep(heartbeat - time.Nanosecond)
			case n == 2:
				time.Sleep(time.Nanosecond)
			case strings.HasPrefix(want, "id"):
				out.add([]byte(want))
			case n > 2:
				time.Sleep(heartbeat)
			}
			synctest.Wait()
			if got := w.take(); got != want {
				t.Errorf("%d: %q, want %q", n, got, want)
			}
		}
		cancel()
		<-done
	})
}

// lockedWriter is a recorder that is read while it is written.
type lockedWriter struct {
	*httptest.ResponseRecorder

	mu sync.Mutex
}

// Write implements http.ResponseWriter.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ResponseRecorder.Write(p)
}

// Flush implements http.Flusher.
func (w *lockedWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ResponseRecorder.Flush()
}

// take returns what was written since.
func (w *lockedWriter) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.Body.String()
	w.Body.Reset()
	return text
}

// An event that waits for a reader that is behind is let in when there is room, and is given up with the stream.
func TestOutboxWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newOutbox()
		part := make([]byte, enough/2+1)
		for range 2 {
			if !out.wait(t.Context()) || !out.add(part) {
				t.Fatal("there is room")
			}
		}
		let := make(chan bool, 1)
		go func() { let <- out.wait(t.Context()) }()
		synctest.Wait()
		if len(let) > 0 {
			t.Error("there was no room")
		}
		out.take()
		if !<-let {
			t.Error("there is room again")
		}
		out.add(part)
		out.add(part)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { let <- out.wait(ctx) }()
		synctest.Wait()
		cancel()
		if <-let {
			t.Error("nobody reads any more")
		}
	})
}

// A client that reads slowly is not cut off if the events wait for their reader.
//
//nolint:bodyclose // the cleanup of stream closes them
func TestPatientStream(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	c, from := newClient(t, s), newSource()
	s.Streams.Serve(from)
	resp := c.stream(t, "/events", "u:p")
	data := []byte(strings.Repeat("x", 64<<10))
	go func() {
		for range 200 {
			from.events <- StreamEvent{ID: "1", Name: "a", Data: data, Waits: true}
		}
		from.events <- StreamEvent{ID: "2", Name: "last", Data: []byte("{}")}
	}()
	in := bufio.NewReaderSize(resp.Body, 128<<10)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "event: last\n" {
			return
		}
	}
}

// The outbox hands events on in order and in small parts, because a part is no longer counted once it is taken. The
// error comes after the last event; a reader that is too far behind gets the error alone.
func TestOutboxParts(t *testing.T) {
	out := newOutbox()
	const events = 10
	part := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, atOnce/2) }
	for n := range events {
		if !out.add(part(n)) {
			t.Fatal("there is room")
		}
	}
	ended := errors.New("the end")
	out.end(ended)
	for n := 0; n < events; n += 2 {
		<-out.ready
		parts, err := out.take()
		if len(parts) != 2 || !bytes.Equal(parts[0], part(n)) || !bytes.Equal(parts[1], part(n+1)) {
			t.Fatalf("events %d: %d parts", n, len(parts))
		}
		if last := n+2 == events; last != errors.Is(err, ended) {
			t.Errorf("events %d: %v", n, err)
		}
	}
	out = newOutbox()
	added := 0
	for out.add(part(0)) {
		added += atOnce / 2
	}
	if parts, err := out.take(); added != maxBehind || len(parts) > 0 || !errors.Is(err, errBehind) || !out.lagged() {
		t.Errorf("%d bytes waited, then %d parts, %v", added, len(parts), err)
	}
}
