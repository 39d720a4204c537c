package rpc

import (
	"context"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc/command"
)

// A claim is a login that somebody says to have.
type claim struct {
	user     string
	password []byte        // to be overwritten
	header   func() string // the value of an Authorization header that says the same
	none     bool          // the header is no login: it is wrong, whatever users there are
}

// claimIn returns the claim of an Authorization header.
func claimIn(header string) *claim {
	user, password, ok := rpcauth.Decode(header)
	return &claim{user, []byte(password), func() string { return header }, !ok}
}

// authorize returns who logged in, or what to refuse the request with.
func authorize(s *Server, r *http.Request) (who command.Caller, refused *response) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return who, &response{status: http.StatusUnauthorized}
	}
	c := claimIn(headers[0])
	defer clear(c.password)
	return s.judge(r, c)
}

// judge returns whose login a claim is. It is looked at when it has a turn, without a worker, so that guessing is slow
// and hurts nobody else; a wrong one is logged, and answered late. Where another node judges logins, it is
// asked in that turn, so that no guess reaches it faster.
func (s *Server) judge(r *http.Request, c *claim) (who command.Caller, refused *response) {
	began := time.Now()
	who.Addr = r.RemoteAddr
	from, conn := clientOf(r), connOf(r)
	if s.cookie.is(c) {
		who.User = cookieUser
		conn.belongTo(&c.user)
		return who, nil
	}
	if conn.isOf(c.user) && s.guesses.allowProven() {
		if knows(r.Context(), s, c, &who) {
			return who, nil
		}
		conn.belongTo(nil)
		s.guesses.pay()
		if s.elsewhere == nil {
			return who, refuseWrong(s, r, began)
		}
	}
	turn, ok := s.guesses.enter(r.Context(), s.ctx, c.user, from, conn)
	if !ok {
		if missed, due := s.unseen.due(); due {
			s.log.Warn("too many wrong logins: a login is refused unseen", "peer", r.RemoteAddr, "before", missed)
		}
		return who, &tooManyGuesses
	}
	if !knows(r.Context(), s, c, &who) {
		if refused := askElsewhere(s, r, c, &who, began); refused != nil {
			conn.belongTo(nil)
			return who, refused
		}
	}
	s.guesses.right(turn, c.user, from)
	conn.belongTo(&c.user)
	return who, nil
}

// is reports whether a claim is the cookie, which nobody can guess.
func (c *cookie) is(said *claim) bool {
	return c != nil && said.user == cookieUser && subtle.ConstantTimeCompare(said.password, []byte(c.password)) == 1
}

// knows reports whether a claim is right, by this server's logins or by the known logins of another node.
func knows(ctx context.Context, s *Server, c *claim, who *command.Caller) bool {
	if c.none {
		return false
	}
	if _, ok := rpcauth.Find(s.accounts.Load().credentials, c.user, c.password); ok {
		who.User = c.user
		return true
	}
	if s.elsewhere != nil {
		who.Login = s.elsewhere.Known(ctx, c.header())
	}
	return who.Login != nil
}

// askElsewhere has the other node, where there is one, judge a claim that is none of this server's logins.
func askElsewhere(s *Server, r *http.Request, c *claim, who *command.Caller, began time.Time) *response {
	if s.elsewhere == nil {
		return refuseWrong(s, r, began)
	}
	login, err := s.elsewhere.Ask(r.Context(), c.header())
	switch {
	case err != nil:
		return &cannotJudge
	case login == nil:
		return refuseWrong(s, r, began)
	}
	who.Login = login
	return nil
}

// refuseWrong refuses a wrong login that came at a time.
func refuseWrong(s *Server, r *http.Request, came time.Time) *response {
	s.warnf("ThreadRPCServer incorrect password attempt from %s", r.RemoteAddr)
	pause(s.ctx, time.Until(came.Add(loginDelay)))
	return &response{status: http.StatusUnauthorized}
}

// pause waits for a time, or until the server ends.
func pause(server context.Context, wait time.Duration) {
	delay := time.NewTimer(wait)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-server.Done():
	}
}
