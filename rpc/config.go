package rpc

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
)

// A StartError is why a server cannot start, in the words that the operator
// is to see after "Error: ".
type StartError string

// ErrStart stands for all that the log tells more of: credentials that cannot
// be used, a cookie that cannot be written, no address to listen on.
const ErrStart StartError = "Unable to start HTTP server. See debug log for details."

// Error implements error.
func (e StartError) Error() string { return string(e) }

// Defaults of the options.
const (
	DefaultThreads   = 16
	DefaultWorkQueue = 64
	DefaultTimeout   = 30 * time.Second
)

// Config is what a [Server] needs. The comments name the options, most of them
// Core's, whose values are taken as they were written.
type Config struct {
	Log *slog.Logger // nil: nothing is logged

	Port        string   // -rpcport; empty: DefaultPort
	DefaultPort uint16   // of the chain; 0 lets the system choose
	Bind        []string // -rpcbind
	AllowIP     []string // -rpcallowip
	CJDNS       bool     // -cjdnsreachable: addresses in fc00::/8 are of that network

	User, Password string   // -rpcuser and -rpcpassword, instead of the cookie
	Auth           []string // -rpcauth
	CookieFile     string   // full path; empty: -norpccookiefile
	CookiePerms    string   // -rpccookieperms; empty: owner

	Whitelist        []string // -rpcwhitelist
	WhitelistDefault *bool    // -rpcwhitelistdefault; nil: as Whitelist suggests

	TLS string // -rpctls: files of the certificate and of its key, with a comma between; empty: none

	Logins Logins // who else may log in; nil: nobody

	Threads   int           // -rpcthreads, 0: default, negative: 1
	WorkQueue int           // -rpcworkqueue, 0: default, negative: 1
	Timeout   time.Duration // -rpcservertimeout, 0: default
	MaxConns  int           // connections at a time, 0: DefaultMaxConns

	Unix        string       // -rpcunix, a full path; empty: no such socket
	CheckOrigin bool         // -rpccheckorigin
	Page        Page         // what browsers are shown; nil: nothing
	AllowHosts  []string     // -rpcallowhost
	HTTP        dialect.HTTP // how requests are judged; the zero value is as that of the default
	REST        bool         // -rest: public requests are answered too, of anybody whose address may call
	LogIPs      bool         // lines of the log name callers by their addresses (-logips)

	Observer Observer // nil: nobody is notified
}

// port returns the port to listen on by default.
func (c *Config) port() (uint16, error) {
	if c.Port == "" {
		return c.DefaultPort, nil
	}
	n, err := strconv.ParseUint(c.Port, 10, 16)
	if err != nil || n == 0 {
		return 0, StartError("Invalid port specified in -rpcport: '" + c.Port + "'")
	}
	return uint16(n), nil
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Threads == 0 {
		c.Threads = DefaultThreads
	}
	if c.WorkQueue == 0 {
		c.WorkQueue = DefaultWorkQueue
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxConns == 0 {
		c.MaxConns = DefaultMaxConns
	}
	if c.HTTP == (dialect.HTTP{}) {
		c.HTTP = dialect.HTTPOf(0)
	}
	if c.Observer == nil {
		c.Observer = nobody{}
	}
}
