package web

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/seed61375155/trawl/rpc"
)

// openings are told of each stream that is opened, which takes until its context ends.
type openings chan struct{}

// Open implements rpc.Events.
func (o openings) Open(ctx context.Context, _, _ string, _ func(string) bool) (rpc.EventStream, error) {
	o <- struct{}{}
	select {
	case <-ctx.Done():
		return nil, errors.New("the session has ended")
	case <-time.After(10 * time.Second):
		return nil, errors.New("the session goes on")
	}
}

// A stream of events of a page ends with the session of the page.
func TestEventsEndWithTheirSession(t *testing.T) {
	n := start(t, rpc.Config{})
	opened := make(openings, 1)
	n.Streams.Serve(opened)
	b := n.browser(t)
	b.login(t, "u", "p")
	stream := make(chan answer, 1)
	go func() {
		defer close(stream)
		stream <- b.ask(t, http.MethodGet, "/ui/events", "")
	}()
	<-opened
	if got := b.ask(t, http.MethodPost, "/ui/logout", ""); got.status != http.StatusSeeOther {
		t.Error(got)
	}
	if got := <-stream; got.text != "the session has ended" {
		t.Error(got)
	}
}
