package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A request for a part after an event gets data that includes the event, however soon; and the node is asked once in
// a while for all.
func TestPartsAreNotOlderThanNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newViews(slog.New(slog.DiscardHandler)), &asker{User: "u"}
		news, calls := 0, 0
		model := func(context.Context, viewer, url.Values) (any, error) {
			calls++
			return news, nil
		}
		ask := func(ctx context.Context) any {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/ui/part/entries?id=1", http.NoBody)
			return s.since(a, r, "entries", r.URL.Query(), model, time.Now()).data
		}
		began := time.Now()
		if got := ask(t.Context()); got != 0 || time.Since(began) != 0 {
			t.Error(got, time.Since(began))
		}
		time.Sleep(shownFor / 2)
		news++
		gone, leave := context.WithCancel(t.Context())
		leave()
		if ask(gone); time.Since(began) != shownFor/2 || calls != 1 {
			t.Error("waits for who has left")
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got := ask(t.Context()); got != 1 || time.Since(began) != shownFor {
					t.Errorf("%v after %v", got, time.Since(began))
				}
			})
		}
		all.Wait()
		if calls != 2 {
			t.Error("the node was asked", calls, "times")
		}
		page := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?id=1", http.NoBody)
		if got := madeOf(s, a, page, "entries", model).data; got != 1 || calls != 2 {
			t.Error("a page that is loaded waits for nothing:", got, calls)
		}
	})
}
