package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"

	"github.com/seed61375155/trawl/rpc"
)

const (
	// idleTime is how long a session lasts without a request.
	idleTime = time.Hour

	// maxSessions bounds the sessions of all logins, and maxLoginSessions those of each.
	maxSessions      = 4096
	maxLoginSessions = 32
)

// A session is a browser that has logged in.
type session struct {
	visitor *rpc.Visitor
	key     sessionKey
	place   string          // below /ui/, where its pages are: only its browser knows the place
	token   string          // that its pages know, and no other site
	ended   context.Context //nolint:containedctx // it is what ends with the session
	end     context.CancelFunc

	// Of the sessions that the session is one of.
	used  time.Time
	timer *time.Timer
	typed string // into the box, for the form of a new search
	until time.Time
}

// typedTime is how long what was typed is kept.
const typedTime = 10 * time.Minute

// isToken compares in a time that tells nothing.
func (s *session) isToken(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// isPlace compares in a time that tells nothing.
func (s *session) isPlace(place string) bool {
	return subtle.ConstantTimeCompare([]byte(place), []byte(s.place)) == 1
}

// A sessionKey is the hash of a session's secret. The table does not have the secret, so that the time of a
// look-up reveals nothing.
type sessionKey [sha256.Size]byte

// sessions are those that have begun and not ended. The zero value has none.
type sessions struct {
	mu      sync.Mutex
	byKey   map[sessionKey]*session
	byLogin map[string]int
	closed  bool
}

// secret returns 256 random bits as text.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// newPlace returns a place for a session's pages: 128 random bits as text.
func newPlace() string { return placeMark + secret()[:22] }

// begin begins a session and returns it with its secret. Where there are too many, that which was not
// used for longest ends, if possible one of the same login. It is nil after close.
func (s *sessions) begin(v *rpc.Visitor) (begun *session, cookie string) {
	cookie = secret()
	begun = &session{
		visitor: v, key: sha256.Sum256([]byte(cookie)), place: newPlace(), token: secret(), used: time.Now(),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ""
	}
	if s.byKey == nil {
		s.byKey, s.byLogin = map[sessionKey]*session{}, map[string]int{}
	}
	if s.byLogin[v.Name()] >= maxLoginSessions {
		s.endOldest(func(old *session) bool { return old.visitor.Name() == v.Name() })
	} else if len(s.byKey) >= maxSessions {
		s.endOldest(func(*session) bool { return true })
	}
	begun.ended, begun.end = context.WithCancel(context.Background())
	begun.timer = time.AfterFunc(idleTime, func() { s.expire(begun) })
	s.byKey[begun.key] = begun
	s.byLogin[v.Name()]++
	return begun, cookie
}

// find returns the session of a cookie's value, nil where there is none, or where a place is named that is not its
// own. It is used by that, unless the request is idle.
func (s *sessions) find(cookie, place string, idle bool) *session {
	key := sessionKey(sha256.Sum256([]byte(cookie)))
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byKey[key]
	if found == nil || place != "" && !found.isPlace(place) {
		return nil
	}
	if time.Since(found.used) >= idleTime { // its timer is late
		s.remove(found)
		return nil
	}
	if !idle {
		found.used = time.Now()
		found.timer.Reset(idleTime)
	}
	return found
}

// keep keeps what was typed into the box of a session.
func (s *sessions) keep(of *session, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.typed, of.until = text, time.Now().Add(typedTime)
}

// typed returns what was typed into the box of a session a moment ago; empty: nothing.
func (s *sessions) typed(of *session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().After(of.until) {
		of.typed = ""
	}
	return of.typed
}

// expire ends a session that was not used for so long, unless it was meanwhile.
func (s *sessions) expire(idle *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(idle.used) >= idleTime {
		s.remove(idle)
	}
}

// finish ends a session.
func (s *sessions) finish(done *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(done)
}

// finishAll ends the sessions that match.
func (s *sessions) finishAll(match func(*session) bool) {
	s.mu.Lock()
	all := make([]*session, 0, len(s.byKey))
	for _, one := range s.byKey {
		all = append(all, one)
	}
	s.mu.Unlock()
	for _, one := range all {
		if match(one) { // which may take its time
			s.finish(one)
		}
	}
}

// close ends all sessions; none begins any more.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.finishAll(func(*session) bool { return true })
}

// endOldest ends that session of those that match which was not used for longest.
func (s *sessions) endOldest(match func(*session) bool) {
	var oldest *session
	for _, one := range s.byKey {
		if match(one) && (oldest == nil || one.used.Before(oldest.used)) {
			oldest = one
		}
	}
	if oldest != nil {
		s.remove(oldest)
	}
}

// remove takes a session out. The lock is held.
func (s *sessions) remove(done *session) {
	if s.byKey[done.key] != done {
		return
	}
	delete(s.byKey, done.key)
	name := done.visitor.Name()
	if s.byLogin[name]--; s.byLogin[name] == 0 {
		delete(s.byLogin, name)
	}
	done.timer.Stop()
	done.end()
}
