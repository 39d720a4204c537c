package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/rpc"
)

// Of too many sessions of all logins that ends which was not used for longest; a session may end twice.
func TestMostSessions(t *testing.T) {
	var all sessions
	defer all.close()
	visitor := new(rpc.Visitor)
	first, _ := all.begin(visitor)
	other := *first // a session of another login, as far as is counted
	for n := range maxSessions - 2 {
		s := other
		s.key, s.used = sessionKey{byte(n), byte(n >> 8), 1}, first.used.Add(time.Second)
		s.timer, s.end = time.NewTimer(time.Hour), func() {}
		all.byKey[s.key] = &s
	}
	second, _ := all.begin(visitor)
	if len(all.byKey) != maxSessions || first.ended.Err() != nil {
		t.Errorf("%d sessions, the first has ended: %v", len(all.byKey), first.ended.Err())
	}
	third, _ := all.begin(visitor)
	if len(all.byKey) != maxSessions || first.ended.Err() == nil || second.ended.Err() != nil {
		t.Errorf("%d sessions, the first has ended: %v", len(all.byKey), first.ended.Err())
	}
	for range 2 {
		all.finish(third)
	}
	if got := all.byLogin[visitor.Name()]; got != 1 || len(all.byKey) != maxSessions-1 {
		t.Errorf("%d sessions, %d of the login", len(all.byKey), got)
	}
}

// A backup that was dropped takes nothing with it when it is dropped again.
func TestDroppedUpload(t *testing.T) {
	u := &uploads{fs: vfs.OS, dir: filepath.Join(t.TempDir(), uploadDir)}
	first, err := u.begin("u")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.begin("u"); !errors.Is(err, errUploadBusy) {
		t.Error("two come in:", err)
	}
	first.remove()
	second, err := u.begin("u")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.receive(strings.NewReader("keys")); err != nil {
		t.Fatal(err)
	}
	second.keep(t.Context())
	first.remove()
	if len(stored(t, u.dir)) != 1 {
		t.Error("another upload is gone")
	}
	if info, err := os.Stat(u.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	if got, err := u.take("u", second.id); got != second || err != nil {
		t.Error(got, err)
	}
	second.remove()
}

// A backup of just the most bytes is taken, and a backup that can be restored in part is kept. The node is told of
// names, and of whether a wallet is loaded at the start, where the page says it.
func TestWhatUploadsSay(t *testing.T) {
	_, b, dir := uploading(t, rpc.Config{})
	for body, kept := range map[string]bool{strings.Repeat("x", 1000): true, "cut": true, "bad": false} {
		got := b.ask(t, http.MethodPost, "/ui/upload?name=a%20b", body)
		if got.status != http.StatusOK || (got.header.Get(uploadHeader) != "") != kept ||
			(len(stored(t, dir)) == 1) != kept {
			t.Errorf("%d bytes: %v", len(body), got.status)
		}
		if !got.has(`"name":"a b"`) || !got.has(`"text":"`+body+`"`) {
			t.Errorf("%d bytes: %v", len(body), got)
		}
	}
	if got := b.ask(t, http.MethodPost, "/ui/upload", "x"); got.status != http.StatusOK || !got.has(`"name":""`) {
		t.Error("without a name:", got)
	}
	for load, says := range map[string]string{
		"": `"w text"`, "&load=": `"w text"`, "&load=true": `"w text load true"`, "&load=false": `"w text load false"`,
		"&load=x": `"w text load false"`,
	} {
		id := b.ask(t, http.MethodPost, "/ui/upload", "text").header.Get(uploadHeader)
		got := b.ask(t, http.MethodPost, "/ui/upload/restore", "name=w&upload="+id+load)
		if got.status != http.StatusOK || !got.has(says) || len(stored(t, dir)) != 0 {
			t.Errorf("%q: %v", load, got)
		}
	}
	id := b.ask(t, http.MethodPost, "/ui/upload", "text").header.Get(uploadHeader)
	if got := b.ask(t, http.MethodPost, "/ui/upload/restore", "upload="+id); got.status != http.StatusBadRequest ||
		len(stored(t, dir)) != 1 {
		t.Error("a restore without a name:", got)
	}
}

// request is one for a part of a page.
func request(ctx context.Context, query string) *http.Request {
	return httptest.NewRequestWithContext(ctx, http.MethodGet, "/ui/part/x?"+query, http.NoBody)
}

// The data of pages is kept for a moment, and of a bounded number of pages. A page is made for others too when the
// first viewer leaves, and not for longer than half a minute.
func TestKeptViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := newViews(slog.New(slog.DiscardHandler)), &asker{User: "u"}
		none := func(context.Context, viewer, url.Values) (any, error) { return 1, nil }
		for n := range maxMade + 100 {
			if madeOf(s, a, request(t.Context(), "n="+strings.Repeat("x", n)), "x", none); len(s.kept) > maxMade {
				t.Fatalf("%d are kept", len(s.kept))
			}
		}
		if len(s.kept) != maxMade {
			t.Errorf("%d are kept", len(s.kept))
		}
		time.Sleep(shownFor)
		if madeOf(s, a, request(t.Context(), ""), "x", none); len(s.kept) != 1 {
			t.Errorf("%d are kept", len(s.kept))
		}
		time.Sleep(shownFor)
		calls := 0
		slow := func(ctx context.Context, _ viewer, _ url.Values) (any, error) {
			calls++
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Second):
				return 2, nil
			}
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		for range 2 { // the second is kept still: it was begun a second ago, by then
			if got := madeOf(s, a, request(gone, "slow"), "x", slow); got.data != 2 || got.err != nil {
				t.Errorf("for who has left: %v, %v", got.data, got.err)
			}
		}
		fresh := request(t.Context(), "slow")
		fresh.Header.Set(freshHeader, "1")
		madeOf(s, a, fresh, "x", slow)
		if calls != 3 {
			t.Errorf("it was made %d times", calls)
		}
		began := time.Now()
		never := func(ctx context.Context, _ viewer, _ url.Values) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		got := madeOf(s, a, request(t.Context(), "never"), "x", never)
		if !errors.Is(got.err, context.DeadlineExceeded) ||
			time.Since(began) != makingLimit {
			t.Errorf("after %v: %v", time.Since(began), got.err)
		}
	})
}

// A part whose template panics is told of to all that wait for the part.
func TestPartThatPanics(t *testing.T) {
	m := new(made)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it does not panic")
			}
		}()
		_, _ = m.part("BTC", func() ([]byte, error) { panic("wreck") })
	}()
	for range 2 {
		html, err := m.part("BTC", func() ([]byte, error) { return []byte("x"), nil })
		if !errors.Is(err, errUnmade) || html != nil {
			t.Errorf("%q, %v", html, err)
		}
	}
}

// A viewer that waits for a call among too many is not kept from leaving.
func TestBoundedCall(t *testing.T) {
	calls := make(chan struct{}, 1)
	calls <- struct{}{}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := (&bounded{&asker{}, calls}).Call(ctx, nil, "one"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// patient is a connection that notes the deadlines of its writes.
type patient struct {
	*httptest.ResponseRecorder

	until []time.Time
}

func (p *patient) SetWriteDeadline(t time.Time) error {
	p.until = append(p.until, t)
	return nil
}

// Each part of an export has its own half a minute.
func TestPatientWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &patient{ResponseRecorder: httptest.NewRecorder()}
		w := &patientWriter{to, http.NewResponseController(to)}
		for n := range 3 {
			time.Sleep(20 * time.Second)
			if _, err := io.WriteString(w, "part"); err != nil {
				t.Error(err)
			}
			if len(to.until) != n+1 || !to.until[n].Equal(time.Now().Add(exportPatience)) {
				t.Errorf("part %d: until %v", n, to.until)
			}
		}
		if got := to.Body.String(); got != "partpartpart" {
			t.Errorf("got %q", got)
		}
	})
}

// madeOf has what a page shows made for a request.
func madeOf(s *views, a *asker, r *http.Request, part string, f model) *made {
	return s.make(a, r, part, r.URL.Query(), f)
}
