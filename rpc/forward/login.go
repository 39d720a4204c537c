package forward

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc/command"
)

const (
	// remembered is how long a login counts that Core has accepted.
	remembered = time.Minute
	// maxRemembered bounds the logins that are remembered.
	maxRemembered = 1024
	// askTime is how long Core may take to judge a login.
	askTime = 10 * time.Second
	// busyTime is how long a Core is asked again whose queue of calls is full.
	busyTime = 5 * time.Second
	// judgePatience is how long a login waits for that which may do what it could last. Core
	// answers a wrong one after a quarter of a second.
	judgePatience = 2 * time.Second
)

// A coreLogin is a caller whom Core knows.
type coreLogin struct {
	header string        // value of its Authorization header
	rights func() rights // now, for a login lasts longer than one call
}

// Limited implements command.Login.
func (c coreLogin) Limited() bool { return c.rights().Limited() }

// Any implements command.Login.
func (c coreLogin) Any() bool { return c.rights().Any() }

// Allows implements command.Login.
func (c coreLogin) Allows(method string) bool { return c.rights().Allows(method) }

// A loginID stands for a user and a password.
type loginID [sha256.Size]byte

// logins judges the logins of Core's users.
//
// Rights come from Core alone: it accepts a login, and its answer shows whether a whitelist binds
// the login. The contents of the list come from the configuration that Core has read. A login that
// Core has accepted keeps the rights that it had last while Core cannot be asked, and any other has
// none. Core is asked again after a minute, and at once where another Core may be there by now.
type logins struct {
	core     *corenode.Client
	reread   func() (corenode.Configured, error) // nil: the configuration stays what it is
	unlisted rights                              // of a login whose list is not known
	key      []byte                              // of the hashes below
	now      func() time.Time
	waits    waits

	mu         sync.Mutex
	configured *corenode.Configured // nil: not known, as that of another machine
	of         era                  // in which the configuration was read
	reloads    int
	known      map[loginID]accepted
	asking     map[loginID]*question
}

// waits are how long Core is waited for.
type waits struct{ ask, busy, judge time.Duration }

// An era is the time of one Core: while it is the same, the same program runs there with the
// same configuration.
type era struct {
	lost   int64
	reload int       // how often the operator had all read again
	cookie time.Time // when the cookie file was written; zero: there is none
}

// accepted is what is known of a login that Core has accepted.
type accepted struct {
	rights rights
	at     time.Time
	of     era
	cookie bool // it was in the cookie file
}

// A question to Core about a login is under way.
type question struct {
	began time.Time
	done  chan struct{}
}

func newLogins(c *Config, facts func(string) *command.Command, passedOn func(string) bool) *logins {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	l := &logins{
		core: c.Core, configured: c.Configured, reread: c.Reread, unlisted: rights{nil, facts, passedOn},
		key: key, now: time.Now, waits: waits{askTime, busyTime, judgePatience},
		known: map[loginID]accepted{}, asking: map[loginID]*question{},
	}
	if c.Core != nil {
		l.of = l.era()
	}
	return l
}

// id returns what is remembered of a login in its stead. ok is false where a header holds none.
func (l *logins) id(header string) (id loginID, ok bool) {
	user, password, ok := rpcauth.Decode(header)
	mac := hmac.New(sha256.New, l.key)
	mac.Write([]byte(user + ":" + password))
	return loginID(mac.Sum(nil)), ok
}

// era returns the present one.
func (l *logins) era() era {
	l.mu.Lock()
	c, now := l.configured, era{lost: l.core.Lost(), reload: l.reloads}
	l.mu.Unlock()
	if c != nil && c.Cookie != "" {
		if info, err := os.Stat(c.Cookie); err == nil {
			now.cookie = info.ModTime()
		}
	}
	return now
}

func (l *logins) configuration() *corenode.Configured {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.configured
}

// Known implements rpc.Logins. Core is asked about a login that its own files prove, or that
// it has accepted before, which is no guess.
func (l *logins) Known(ctx context.Context, authorization string) command.Login {
	id, ok := l.id(authorization)
	if !ok {
		return nil
	}
	if _, known := l.recall(id); !known {
		if inCookie, inConfig := l.proven(authorization); !inCookie && !inConfig {
			return nil
		}
	}
	if _, may := l.current(ctx, id, authorization); !may {
		return nil
	}
	return l.login(id, authorization) //nolint:contextcheck // it outlives the request
}

// Ask implements rpc.Logins.
func (l *logins) Ask(ctx context.Context, authorization string) (command.Login, error) {
	id, ok := l.id(authorization)
	if !ok {
		return nil, nil //nolint:nilnil // wrong
	}
	within := l.waits.ask
	if _, silent := l.core.Silent(); silent { // somebody else waits already
		within = patience
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	accepted, err := l.ask(ctx, id, authorization)
	if err != nil || !accepted {
		return nil, err
	}
	return l.login(id, authorization), nil //nolint:contextcheck // it outlives the request
}

// login returns a login that Core accepts.
func (l *logins) login(id loginID, header string) command.Login {
	return coreLogin{header, func() rights {
		now, ok := l.current(context.Background(), id, header)
		if !ok {
			now = l.unlisted
			now.list = rpcauth.None()
		}
		return now
	}}
}

// current returns what a login may call now. Where Core has to be asked again, somebody asks, and
// all wait for a moment. Without its answer the login may call what it could last.
func (l *logins) current(ctx context.Context, id loginID, header string) (rights, bool) {
	if l.isOldCookie(id, header) {
		l.forget(id)
		return rights{}, false
	}
	last, known := l.recall(id)
	if known && l.now().Before(last.at.Add(remembered)) && last.of == l.era() {
		return last.rights, true
	}
	wait := l.waits.judge
	switch _, silent := l.core.Silent(); {
	case silent:
		wait = patience
	case !known:
		wait = l.waits.ask
	}
	l.question(id, header).wait(ctx, l, wait) //nolint:contextcheck // it is asked for others too
	last, known = l.recall(id)
	return last.rights, known
}

// wait waits for the answer, for so long since the question was asked. Where that is more than a
// moment it is found out whether Core is there at all.
func (q *question) wait(ctx context.Context, l *logins, atMost time.Duration) {
	for _, until := range []time.Duration{patience, atMost} {
		timer := time.NewTimer(until - l.now().Sub(q.began))
		select {
		case <-q.done:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			go l.core.Ping(context.WithoutCancel(ctx)) // which ends by itself
		}
	}
}

// question returns that which is under way about a login, and begins one where there is none.
func (l *logins) question(id loginID, header string) *question {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.asking[id]; q != nil {
		return q
	}
	q := &question{began: l.now(), done: make(chan struct{})}
	l.asking[id] = q
	within := l.waits.ask
	go func() { // no caller has to wait until this ends
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		defer close(q.done)
		_, _ = l.ask(ctx, id, header) // without an answer nothing changes
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asking, id)
	}()
	return q
}

// proven reports whether Core's cookie file or configuration has a login.
func (l *logins) proven(header string) (inCookie, inConfig bool) {
	c := l.configuration()
	if c == nil {
		return false, false
	}
	if _, ok := rpcauth.Login(c.Credentials, header); ok {
		return false, true
	}
	same, _ := cookieIs(c, header)
	return same, false
}

// isOldCookie reports whether a login was in the cookie file, which has another login now.
func (l *logins) isOldCookie(id loginID, header string) bool {
	last, known := l.recall(id)
	if !known || !last.cookie {
		return false
	}
	same, err := cookieIs(l.configuration(), header)
	return err == nil && !same
}

// cookieName is the user in Core's cookie file.
const cookieName = "__cookie__"

// cookieIs reports whether a login is that of the cookie file.
func cookieIs(c *corenode.Configured, header string) (bool, error) {
	user, password, ok := rpcauth.Decode(header)
	if !ok || c.Cookie == "" || user != cookieName {
		return false, nil
	}
	cookie, err := c.ReadCookie()
	if err != nil {
		return false, err
	}
	defer clear(cookie)
	return subtle.ConstantTimeCompare(cookie, []byte(user+":"+password)) == 1, nil
}

func (l *logins) recall(id loginID) (last accepted, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known = l.known[id]
	return last, known
}

// remember notes that Core has accepted a login, in the place of that which was longest ago. It does not if all was
// forgotten since Core was asked: the rights may be those from before.
func (l *logins) remember(id loginID, a accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.of.reload != l.reloads {
		return
	}
	if _, known := l.known[id]; !known && len(l.known) >= maxRemembered {
		var oldest loginID
		for other, b := range l.known {
			if o, ok := l.known[oldest]; !ok || b.at.Before(o.at) {
				oldest = other
			}
		}
		delete(l.known, oldest)
	}
	l.known[id] = a
}

// forget makes a login count as never seen.
func (l *logins) forget(id loginID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, id)
}

// noteStatus notes the status with which Core has answered a call of a login: Core's verdict may have changed by now.
func (l *logins) noteStatus(header string, status int) {
	id, _ := l.id(header)
	switch status {
	case http.StatusUnauthorized:
		l.forget(id)
	case http.StatusForbidden:
		l.mu.Lock()
		defer l.mu.Unlock()
		if a, ok := l.known[id]; ok && !a.rights.Limited() {
			a.at = time.Time{} // it has a whitelist by now
			l.known[id] = a
		}
	}
}

// reload reads the configuration again and forgets all logins: Core is asked about each.
func (l *logins) reload() error {
	l.mu.Lock()
	clear(l.known)
	l.reloads++
	l.mu.Unlock()
	return l.readAgain(l.era())
}

// readAgain reads the configuration of the Core of an era.
func (l *logins) readAgain(of era) error {
	if l.reread == nil {
		return nil
	}
	now, err := l.reread()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if of.reload >= l.of.reload { // and nobody has read it later
		l.configured, l.of = &now, of
	}
	return nil
}
