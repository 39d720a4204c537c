package forward

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/access"
	"github.com/seed61375155/trawl/rpc/command"
)

const (
	// remembered is how long a login counts that Core has accepted.
	remembered = time.Minute
	// maxRemembered bounds the logins that are remembered.
	maxRemembered = 1024
)

// A coreLogin is a caller whom Core knows.
type coreLogin struct {
	rights
	header string // value of its Authorization header
}

// A verdict is what Core says of a login.
type verdict int

const (
	wrong verdict = iota
	limited
	unlimited
)

// logins judges the logins of Core's users.
type logins struct {
	core       *corenode.Client
	configured *corenode.Configured // nil: not known, as that of another machine
	passedOn   func(method string) bool

	key []byte // of the hashes below
	mu  sync.Mutex
	now func() time.Time
	ok  map[[sha256.Size]byte]accepted
}

type accepted struct {
	verdict verdict
	until   time.Time
}

func newLogins(core *corenode.Client, configured *corenode.Configured, passedOn func(string) bool) *logins {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return &logins{
		core: core, configured: configured, passedOn: passedOn,
		key: key, now: time.Now, ok: map[[sha256.Size]byte]accepted{},
	}
}

// hash returns what is remembered of a header in its stead.
func (l *logins) hash(header string) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, l.key)
	mac.Write([]byte(header))
	return [sha256.Size]byte(mac.Sum(nil))
}

// Known implements rpc.Logins. Core is asked about a login that its own files prove,
// which is no guess.
func (l *logins) Known(ctx context.Context, authorization string) command.Login {
	proven := l.proven(authorization)
	found, fresh, known := l.recall(authorization)
	if fresh {
		return l.login(authorization, found, proven)
	}
	if !proven && !known { // what Core has accepted once is no guess either
		return nil
	}
	found, err := l.ask(ctx, authorization)
	switch {
	case err != nil: // right, and what its whitelist is nobody says
		return coreLogin{rights{nil, l.passedOn}, authorization}
	case found == wrong: // the files are of another Core, or of one that has been
		return nil
	}
	return l.login(authorization, found, proven)
}

// Ask implements rpc.Logins.
func (l *logins) Ask(ctx context.Context, authorization string) (command.Login, error) {
	found, err := l.ask(ctx, authorization)
	if err != nil || found == wrong {
		return nil, err
	}
	return l.login(authorization, found, l.proven(authorization)), nil
}

// login returns a login that Core accepts. Its whitelist is known where the
// configuration is, has the login, and does not claim less limits than Core has.
func (l *logins) login(header string, found verdict, proven bool) command.Login {
	login := coreLogin{rights{nil, l.passedOn}, header}
	if !proven {
		return login
	}
	user, _, _ := access.Decode(header)
	if of := l.configured.Whitelists.Of(user); of.Limited() == (found == limited) {
		login.list = of
	}
	return login
}

// proven reports whether Core's cookie file or configuration has a login.
func (l *logins) proven(authorization string) bool {
	if l.configured == nil {
		return false
	}
	if _, ok := access.Login(l.configured.Credentials, authorization); ok {
		return true
	}
	user, password, ok := access.Decode(authorization)
	if !ok || l.configured.Cookie == "" || user != "__cookie__" {
		return false
	}
	cookie, err := l.configured.ReadCookie()
	if err != nil {
		return false
	}
	defer clear(cookie)
	return subtle.ConstantTimeCompare(cookie, []byte(user+":"+password)) == 1
}

// probe is a call of a method that no Core has and no whitelist names.
var probe = []byte(`{"jsonrpc":"2.0","id":0,"method":"trawl: may this login call anything?"}`)

// ask has Core judge a login and remembers one that is right.
func (l *logins) ask(ctx context.Context, authorization string) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	reply, err := l.core.Forward(ctx, "/", authorization, bytes.Clone(probe))
	if err != nil {
		return wrong, err
	}
	found := unlimited
	switch reply.Status {
	case http.StatusUnauthorized:
		l.forget(authorization)
		return wrong, nil
	case http.StatusForbidden:
		found = limited
	case http.StatusOK, http.StatusNotFound, http.StatusInternalServerError: // by version and state
		if answer, err := corenode.ParseReply(reply.Body); err != nil || answer.Err == nil {
			return wrong, corenode.ErrReply
		}
	default:
		return wrong, corenode.ErrAway
	}
	l.remember(authorization, found)
	return found, nil
}

func (l *logins) remember(authorization string, found verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ok) >= maxRemembered {
		clear(l.ok)
	}
	l.ok[l.hash(authorization)] = accepted{found, l.now().Add(remembered)}
}

// recall returns what Core has said of a login, if it is known, and whether it counts
// without asking again.
func (l *logins) recall(authorization string) (found verdict, fresh, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, known := l.ok[l.hash(authorization)]
	return a.verdict, known && l.now().Before(a.until), known
}

// forget has a login asked about again that Core has refused.
func (l *logins) forget(authorization string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ok, l.hash(authorization))
}
