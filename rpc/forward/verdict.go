package forward

import (
	"bytes"
	"context"
	"net/http"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/access"
)

// A verdict is what Core says of a login.
type verdict int

const (
	wrong verdict = iota
	limited
	unlimited
)

// probe is a call of a method that no Core has and no whitelist names.
var probe = []byte(`{"jsonrpc":"2.0","id":0,"method":"trawl: may this login call anything?"}`)

// ask has Core judge a login. One that is right is remembered with its rights, one that is wrong
// is forgotten.
func (l *logins) ask(ctx context.Context, id loginID, header string) (accepted bool, err error) {
	of := l.era()
	found, err := l.judge(ctx, header)
	switch {
	case err != nil:
		return false, err
	case found == wrong:
		l.forget(id)
		return false, nil
	}
	l.accept(id, header, found, of)
	return true, nil
}

func (l *logins) judge(ctx context.Context, header string) (verdict, error) {
	reply, err := l.core.Forward(ctx, "/", header, bytes.Clone(probe))
	if err != nil {
		return wrong, err
	}
	if reply.Large != nil {
		_ = reply.Large.Close()
		return wrong, corenode.ErrReply
	}
	switch reply.Status {
	case http.StatusUnauthorized:
		return wrong, nil
	case http.StatusForbidden:
		return limited, nil
	case http.StatusOK, http.StatusNotFound, http.StatusInternalServerError: // by version and state
		if answer, err := corenode.ParseReply(reply.Body); err != nil || answer.Err == nil {
			return wrong, corenode.ErrReply
		}
		return unlimited, nil
	default:
		return wrong, corenode.ErrAway
	}
}

// accept remembers what a login may call. Its whitelist is known where the configuration is, has
// the login, and does not claim less limits than Core has. A Core that was started since the
// configuration was read may have read another.
func (l *logins) accept(id loginID, header string, found verdict, of era) {
	l.mu.Lock()
	stale := l.of != of
	l.mu.Unlock()
	if stale {
		_ = l.readAgain(of) // what it says elsewhere is what it said last
	}
	now := accepted{rights: l.unlisted, at: l.now(), of: of}
	inCookie, inConfig := l.proven(header)
	now.cookie = inCookie
	if inCookie || inConfig {
		user, _, _ := access.Decode(header)
		if list := l.configuration().Whitelists.Of(user); list.Limited() == (found == limited) {
			now.rights.list = list
		}
	}
	l.remember(id, now)
}
