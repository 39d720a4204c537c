package rpc

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc/command"
)

// accounts are the logins of a server and the calls that each of them may make. They do not
// change: a server replaces them as a whole.
type accounts struct {
	credentials []rpcauth.Credential
	whitelists  rpcauth.Whitelists
}

// rights returns what a caller may call.
func (a *accounts) rights(who command.Caller) rights {
	if who.Login != nil {
		return who.Login
	}
	return a.whitelists.Of(who.User)
}

// loggedIn is a caller by the header that it logged in with, for what goes on long after that.
type loggedIn struct {
	who    command.Caller
	header string
	judged *accounts // that let it in last; nil: none has been asked
	now    *atomic.Pointer[accounts]
}

// rights returns what the caller may call now; nothing once it may not log in any more.
func (l *loggedIn) rights() rights {
	if current := l.now.Load(); current != l.judged {
		if _, ok := rpcauth.Login(current.credentials, l.header); !ok && l.who.Login == nil {
			return none{}
		}
		l.judged = current
	}
	return l.judged.rights(l.who)
}

// none are the rights of a login that is known no more.
type none struct{}

func (none) Limited() bool      { return true }
func (none) Any() bool          { return false }
func (none) Allows(string) bool { return false }

// Reload has a server take up what c says of -rpcuser, -rpcpassword, -rpcauth, -rpcwhitelist,
// -rpcwhitelistdefault and -rpctls; all else of c is left alone. The cookie of this start
// stays what it is. After an error, whose reason is in the log, the server keeps the settings
// that it had. Running calls go on; event streams and sessions of the page end if their login
// is gone.
func Reload(s *Server, c *Config) error {
	next, err := readAccounts(s, c, s.accounts.Load())
	if err != nil {
		return ErrReload // the log has the reason
	}
	if err := s.certificate.reload(c.TLS); err != nil {
		s.errorf("Unable to read the certificate of -rpctls again: %v", err)
		return ErrReload
	}
	s.accounts.Store(next)
	if s.page != nil {
		s.page.Reloaded()
	}
	if len(next.credentials) == 0 && s.elsewhere == nil {
		s.warnf("Nobody can log in to the RPC server any more: there is neither a password nor a cookie")
	}
	return nil
}

// ErrReload stands for all that the log tells more of.
const ErrReload StartError = "The logins were not read again. See debug log for details."
