package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
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

// ask has Core judge a login. A right login is remembered with its rights, a wrong login is forgotten.
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

// judge has Core judge a login. A Core whose queue is full may have room in a moment.
func (l *logins) judge(ctx context.Context, header string) (verdict, error) {
	const first, most = 50 * time.Millisecond, 500 * time.Millisecond
	for wait, began := first, time.Now(); ; wait = min(2*wait, most) {
		found, err := l.judgeOnce(ctx, header)
		if !errors.Is(err, errBusy) || time.Since(began)+wait > l.waits.busy {
			return found, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return wrong, err
		}
	}
}

// errBusy reports a Core that has more calls than it takes.
var errBusy = fmt.Errorf("%w: it is busy", corenode.ErrAway)

func (l *logins) judgeOnce(ctx context.Context, header string) (verdict, error) {
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
		return limited, l.judges(ctx)
	case http.StatusOK, http.StatusNotFound, http.StatusInternalServerError: // by version and state
		if answer, err := corenode.ParseReply(reply.Body); err != nil || answer.Err == nil {
			return wrong, corenode.ErrReply
		}
		return unlimited, nil
	case http.StatusServiceUnavailable:
		return wrong, errBusy
	default:
		return wrong, corenode.ErrAway
	}
}

// judges returns an error where Core refuses this node for its address, before it looks at any login. Its status
// is then the same as for whitelists, and proves no login right. To tell the cases apart judges sends no login at
// all: a Core that looks at logins answers with another status.
func (l *logins) judges(ctx context.Context) error {
	reply, err := l.core.Forward(ctx, "/", "", bytes.Clone(probe))
	if reply.Large != nil {
		_ = reply.Large.Close()
	}
	if err == nil && reply.Status == http.StatusServiceUnavailable {
		return errBusy
	}
	if err == nil && reply.Status != http.StatusUnauthorized {
		return corenode.ErrForbidden
	}
	return err
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
		user, _, _ := rpcauth.Decode(header)
		if list := l.configuration().Whitelists.Of(user); list.Limited() == (found == limited) {
			now.rights.list = list
		}
	}
	l.remember(id, now)
}
