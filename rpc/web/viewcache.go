package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/cores"
)

const (
	// shownFor is how long what was made for a page is good for others of the same login: however
	// many pages are open, the node is asked once in that time.
	shownFor = 900 * time.Millisecond

	// maxMade bounds what is kept.
	maxMade = 512

	// pageCalls is how many calls pages make at a time, so that the node's workers are there for
	// others.
	pageCalls = 4

	// makingLimit is how long the calls for one page may take together.
	makingLimit = 30 * time.Second
)

// views keeps for a moment what pages show.
type views struct {
	calls chan struct{} // one element for each call that runs
	log   *slog.Logger

	mu   sync.Mutex
	kept map[viewKey]*made
}

func newViews(log *slog.Logger) *views {
	return &views{calls: make(chan struct{}, pageCalls), log: log, kept: map[viewKey]*made{}}
}

// A viewKey names a part with its query, and the user with the methods that it is made for.
type viewKey struct{ user, methods, part, query string }

// made is what a model has returned, or will.
type made struct {
	at   time.Time
	done chan struct{}
	data any
	err  error

	mu     sync.Mutex
	sheets map[string]madeSheet // by the unit of amounts
}

// A madeSheet is a part that was made, or why it could not be.
type madeSheet struct {
	sheet *sheet
	err   error
}

// part returns the part that is made of the data for a unit of amounts, once.
func (m *made) part(unit string, render func() ([]byte, error)) (*sheet, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.sheets[unit]; ok {
		return found.sheet, found.err
	}
	if m.sheets == nil {
		m.sheets = map[string]madeSheet{}
	}
	m.sheets[unit] = madeSheet{err: errUnmade} // for the others, where this panics
	body, err := render()
	if err != nil {
		m.sheets[unit] = madeSheet{err: err}
		return nil, err
	}
	made := madeSheet{sheet: newSheet(body)}
	m.sheets[unit] = made
	return made.sheet, nil
}

// A bounded viewer makes few calls at a time.
type bounded struct {
	*asker

	calls chan struct{}
}

// Call implements viewer.
func (b *bounded) Call(ctx context.Context, wallet *string, method string, params ...any) (json.RawMessage, error) {
	select {
	case b.calls <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.calls }()
	return b.asker.Call(ctx, wallet, method, params...)
}

// errUnmade is shown instead of a panic.
var errUnmade = errors.New("the node has failed at it, and its log says why")

// make returns what a model makes for a viewer, or has made just now.
func (s *views) make(a *asker, r *http.Request, part string, query url.Values, f model) *made {
	return s.since(a, r, part, query, f, time.Time{})
}

// since is make, but does not return data that was begun before earliest: it waits until the node may be asked
// again. So a request after an event gets data that includes the event.
func (s *views) since(
	a *asker, r *http.Request, part string, query url.Values, f model, earliest time.Time,
) *made {
	key := viewKey{a.User, strings.Join(a.Methods, " "), part, query.Encode()}
	fresh := r.Header.Get(freshHeader) != ""
	for {
		m, isNew := s.begin(key, fresh)
		if isNew {
			m.fill(r.Context(), &bounded{a, s.calls}, query, f)
			if _, panicked := errors.AsType[*cores.Panic](m.err); panicked {
				s.log.Error("page failed", "page", part, "err", m.err)
			}
			return m
		}
		<-m.done
		if !m.at.Before(earliest) || !until(r.Context(), m.at.Add(shownFor)) {
			return m
		}
	}
}

// begin returns what is kept, or begins anew.
func (s *views) begin(key viewKey, fresh bool) (m *made, isNew bool) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if m = s.kept[key]; m != nil && now.Sub(m.at) < shownFor && !fresh {
		return m, false
	}
	m = &made{at: now, done: make(chan struct{})}
	s.forget(now)
	s.kept[key] = m
	return m, true
}

// until waits until a time. It is false where ctx ends before.
func until(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// forget takes out what is too old to be shown. The lock is held.
func (s *views) forget(now time.Time) {
	for key, m := range s.kept {
		if now.Sub(m.at) >= shownFor || len(s.kept) >= maxMade {
			delete(s.kept, key)
		}
	}
}

// fill makes the data. It goes on when the viewer leaves: others may wait for the same.
func (m *made) fill(ctx context.Context, v viewer, query url.Values, f model) {
	defer close(m.done)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makingLimit)
	defer cancel()
	m.err = cores.Catch(func() (err error) {
		m.data, err = f(ctx, v, query)
		return err
	})
}
