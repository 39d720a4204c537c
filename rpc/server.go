// Package rpc serves the methods of a command.Table as JSON-RPC over HTTP, as Bitcoin Core does.
// It has Core's paths, statuses, envelopes and log lines, cookie and password logins, whitelists,
// and limits.
//
// # Concurrency
//
// A call runs in the goroutine of its connection once a worker is free. Config
// says how many workers there are and how many calls may wait. Calls that the
// command declares as control, refusals and wrong logins take no worker, so
// that a scan can be stopped however many wait. The requests of a batch run
// one after the other.
//
// # Limits
//
// A client can make the server hold only a bounded number of bytes and connections.
// Bounds hold for heads; for bodies, each and all together with their parse trees;
// for batches and their replies; for replies that are not taken. At the limit of
// connections the longest quiet ones make room for new ones. A client that sends or
// takes too slowly is cut off. Credentials are checked before anything of a body is
// read.
//
// # Lifetime
//
// The context of a call ends with the server and not with the client. If a client leaves, its
// call goes on and the reply is dropped. [Server.Shutdown] ends the context, lets running calls
// answer and refuses new ones with 503.
//
// # Secrets
//
// Neither passwords nor arguments nor results are ever logged.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxHead bounds the request line and the headers together, with the empty line
// after them.
const maxHead = 8192

// Server is a JSON-RPC server; make one with [NewServer]. Its methods are
// safe for concurrent use.
type Server struct {
	Streams Streams // of events

	log         *slog.Logger
	style       dialect.HTTP // how requests are judged
	framing     framing      // that connections begin with
	allowed     []netaddr.Subnet
	accounts    atomic.Pointer[accounts]
	cookie      *cookie     // nil when there is none
	certificate certificate // without one, no TLS
	elsewhere   Logins      // nil: there are no others
	rest        *publicDoor // nil: there is none
	health      *healthDoor
	workers     *workers
	timeout     time.Duration
	checkOrigin bool
	hosts       Hosts
	page        Page // nil: there is none
	logIPs      bool
	observer    Observer

	http      *http.Server
	listeners []net.Listener
	conns     *conns
	guesses   guesses
	unseen    notice // of logins that found no turn
	foreign   notice // of requests of other sites' pages
	bodies    budget
	replies   budget
	batch     int           // what the replies to a batch may take
	parsing   chan struct{} // one element for each large body that is being parsed
	state     atomic.Pointer[state]
	closing   atomic.Bool

	ctx    context.Context //nolint:containedctx // the lifetime of the server, which every call inherits
	cancel context.CancelFunc
}

// state is what calls meet: a table, or the reason why there is none yet.
type state struct {
	table  *command.Table
	warmup string
}

// NewServer checks the configuration, writes the cookie and binds the
// addresses. Nothing is answered before [Server.Serve]; then every call is
// refused until [Server.Ready]. The error is a [StartError].
func NewServer(c Config) (*Server, error) {
	c.setDefaults()
	s := &Server{
		log:     c.Log,
		workers: newWorkers(c.Threads, c.WorkQueue),
		timeout: c.Timeout,

		framing: framing{chunksFirst: c.HTTP.ChunksFirst, extensions: c.HTTP.ChunkExtensions}, style: c.HTTP,
		checkOrigin: c.CheckOrigin, logIPs: c.LogIPs, observer: c.Observer,
		page:      c.Page,
		elsewhere: c.Logins,
		conns:     newConns(c.MaxConns),
		parsing:   make(chan struct{}, max(cores.Count()/2, 1)),
		bodies:    budget{limit: maxBodies},
		replies:   budget{limit: maxReplies},
		batch:     maxBatchReply,
	}
	s.guesses.limit, s.guesses.perPeer = max(c.MaxConns/4, 1), maxConnsPerPeer/2
	if c.REST {
		s.rest = newPublicDoor(s, c.Threads, c.WorkQueue)
	}
	s.health = newHealthDoor(s)
	s.Streams.server = s
	s.SetWarmup("RPC server started")
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:                      s,
		ReadHeaderTimeout:            c.Timeout,
		IdleTimeout:                  c.Timeout,
		MaxHeaderBytes:               4 * maxHead, // a mended head is longer
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
		ConnState:                    connState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	if err := s.open(&c); err != nil {
		s.cancel()
		s.closeListeners()
		s.removeCookie()
		return nil, err
	}
	return s, nil
}

// open does what can fail.
func (s *Server) open(c *Config) error {
	var err error
	if s.allowed, err = parseAllowed(c.AllowIP, c.CJDNS); err != nil {
		return errors.Join(err, ErrStart) // as Core has it, twice
	}
	if s.hosts, err = ParseHosts(c.AllowHosts); err != nil {
		return err
	}
	endpoints, err := s.endpoints(c)
	if err != nil {
		return err
	}
	if err := s.setLogins(c); err != nil {
		return err
	}
	if c.TLS != "" {
		if err := s.certificate.read(c.TLS); err != nil {
			s.errorf("Unable to use the certificate of -rpctls: %v", err)
			return ErrStart
		}
	}
	if err := s.listen(s.ctx, endpoints); err != nil {
		return err
	}
	return s.listenUnix(s.ctx, c.Unix)
}

// setLogins collects the logins.
func (s *Server) setLogins(c *Config) error {
	if c.Password == "" {
		if err := s.setCookie(c); err != nil {
			return err
		}
	}
	all, err := readAccounts(s, c, &accounts{})
	if err != nil {
		return err
	}
	s.accounts.Store(all)
	return nil
}

// readAccounts reads the logins, among them the cookie where there is one. A password that has
// not changed stays the credential that it was.
func readAccounts(s *Server, c *Config, before *accounts) (*accounts, error) {
	credential := func(user, password string) rpcauth.Credential {
		if same, ok := rpcauth.Find(before.credentials, user, []byte(password)); ok {
			return same
		}
		return rpcauth.New(user, password)
	}
	all := &accounts{whitelists: rpcauth.ParseWhitelists(c.Whitelist, c.WhitelistDefault)}
	if c.Password != "" {
		s.infof("Using rpcuser/rpcpassword authentication.")
		s.warnf("The use of rpcuser/rpcpassword is less secure, because credentials are configured in plain text. " +
			"It is recommended that locally-run instances switch to cookie-based auth, or otherwise to use hashed " +
			"rpcauth credentials. See share/rpcauth in the source directory for more information.")
		all.credentials = append(all.credentials, credential(c.User, c.Password))
	}
	if s.cookie != nil {
		s.infof("Using random cookie authentication.")
		all.credentials = append(all.credentials, credential(cookieUser, s.cookie.password))
	}
	if len(c.Auth) > 0 {
		s.infof("Using rpcauth authentication.")
	}
	for _, entry := range c.Auth {
		login, ok := rpcauth.Parse(entry)
		if !ok {
			s.warnf("Invalid -rpcauth argument.")
			return nil, ErrStart
		}
		all.credentials = append(all.credentials, login)
	}
	return all, nil
}

func (s *Server) setCookie(c *Config) error {
	if c.CookiePerms == "" {
		c.CookiePerms = "owner"
	}
	mode, ok := cookieModes[c.CookiePerms]
	if !ok {
		s.errorf("Invalid -rpccookieperms=%s; must be one of 'owner', 'group', or 'all'.", c.CookiePerms)
		return ErrStart
	}
	if c.CookieFile == "" {
		s.infof("RPC authentication cookie file generation is disabled.")
		return nil
	}
	var err error
	if s.cookie, err = writeCookie(c.CookieFile, mode); err != nil {
		s.errorf("Unable to write the authentication cookie: %v", err)
		return ErrStart
	}
	s.infof("Generated RPC authentication cookie %s", c.CookieFile)
	return nil
}

// Addrs returns the addresses the server listens on.
func (s *Server) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// SetWarmup refuses all calls with a text that says what the node does
// instead.
func (s *Server) SetWarmup(text string) { s.state.Store(&state{warmup: text}) }

// Ready ends the warm-up: calls go to the table from now on.
func (s *Server) Ready(t *command.Table) { s.state.Store(&state{table: t}) }

// ready returns the table, or the warm-up error.
func (s *Server) ready() (*command.Table, error) {
	st := s.state.Load()
	if st.table == nil {
		return nil, command.Error{Code: command.InWarmup, Message: st.warmup}
	}
	return st.table, nil
}

// Serve answers requests until [Server.Shutdown] is called, and returns nil
// then. It returns the error of the first listener that fails before; the others
// go on until Shutdown.
func (s *Server) Serve() error {
	ended := make(chan error, len(s.listeners))
	var allowed []netaddr.Subnet
	if s.style.HangsUp {
		allowed = s.allowed
	}
	for _, l := range s.listeners {
		_, secure := l.(tlsListener)
		go func() { ended <- s.http.Serve(connListener{headListener{l, s.framing}, s.conns, secure, allowed}) }()
	}
	for range s.listeners {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
	}
	return nil
}

// Shutdown ends the context of all calls, closes the connections that wait for
// none, waits until running ones have answered, and removes the cookie. When
// ctx ends first, all connections are cut.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closing.Store(true)
	s.workers.close()
	s.health.workers.close()
	if s.rest != nil {
		s.rest.workers.close()
	}
	s.cancel()
	s.conns.close()
	if s.page != nil {
		s.page.Close()
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		_ = s.http.Close()
	}
	s.closeListeners() // that Serve never took over
	s.removeCookie()
	return err
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
}

func (s *Server) removeCookie() {
	if s.cookie == nil {
		return
	}
	if err := s.cookie.remove(); err != nil {
		s.warnf("Unable to remove the authentication cookie: %v", err)
	}
}

// The lines that operators and their tools know from Core are logged as one
// text, through these four. Each bears the place that calls them.

func (s *Server) infof(format string, args ...any)  { s.logf(s.log, slog.LevelInfo, format, args) }
func (s *Server) warnf(format string, args ...any)  { s.logf(s.log, slog.LevelWarn, format, args) }
func (s *Server) errorf(format string, args ...any) { s.logf(s.log, slog.LevelError, format, args) }

// debugf is for the category of calls.
func (s *Server) debugf(format string, args ...any) {
	if s.log.Enabled(s.ctx, slog.LevelDebug) { // checked first, for every call asks for this level
		s.logf(s.log.With("category", "rpc"), slog.LevelDebug, format, args)
	}
}

func (s *Server) logf(log *slog.Logger, level slog.Level, format string, args []any) {
	var caller [1]uintptr
	runtime.Callers(3, caller[:]) // 3: without Callers, this function and its caller
	if handler := log.Handler(); handler.Enabled(s.ctx, level) {
		r := slog.NewRecord(time.Now(), level, fmt.Sprintf(format, args...), caller[0])
		_ = handler.Handle(s.ctx, r) // as slog does: nowhere to report it
	}
}
