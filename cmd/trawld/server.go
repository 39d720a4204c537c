package main

import (
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/rpc"
)

// serverConfig reads the options that concern the RPC server.
func serverConfig(s *session, files fileBudget) rpc.Config {
	o := s.settings
	cookie := ""
	if !o.IsNegated("rpccookiefile") {
		cookie = o.BelowNetDir(o.Path("rpccookiefile", ".cookie"))
	}
	unix := o.Path("rpcunix", "")
	if unix != "" {
		unix = o.BelowNetDir(unix)
	}
	port, logins := o.RPCPort(), rpc.Logins(nil)
	if s.attached != nil {
		port, logins = port+attachedPorts, s.attached.Logins()
	}
	cfg := accountsConfig(o)
	cfg.Log, cfg.Logins = s.log, logins
	cfg.Port, cfg.DefaultPort = o.String("rpcport", ""), port
	cfg.Bind, cfg.AllowIP, cfg.CJDNS = o.Strings("rpcbind"), o.Strings("rpcallowip"), o.Bool("cjdnsreachable", false)
	cfg.CookieFile, cfg.CookiePerms = cookie, o.String("rpccookieperms", "")
	cfg.Threads = atLeastOne(o.Int("rpcthreads", rpc.DefaultThreads))
	cfg.WorkQueue = atLeastOne(o.Int("rpcworkqueue", rpc.DefaultWorkQueue))
	// None, or a negative one, stands for the server's own, as in Core.
	cfg.Timeout = time.Duration(min(max(o.Int("rpcservertimeout", 0), 0), longestTimeout)) * time.Second
	cfg.MaxConns, cfg.Unix = files.callers, unix
	cfg.CheckOrigin, cfg.LogIPs = o.Bool("rpccheckorigin", false), o.Bool("logips", false)
	cfg.AllowHosts = o.Strings("rpcallowhost")
	cfg.REST = o.Bool("rest", false)
	core, _ := reference(o) // which was read before
	cfg.HTTP = dialect.HTTPOf(core)
	return cfg
}

// accountsConfig reads the options of the RPC server that may change while it runs.
func accountsConfig(o *options.Settings) rpc.Config {
	var whitelistDefault *bool
	if o.IsSet("rpcwhitelistdefault") {
		on := o.Bool("rpcwhitelistdefault", true)
		whitelistDefault = &on
	}
	return rpc.Config{
		User: o.String("rpcuser", ""), Password: o.String("rpcpassword", ""), Auth: o.Strings("rpcauth"),
		Whitelist: o.Strings("rpcwhitelist"), WhitelistDefault: whitelistDefault,
		TLS: certificateFiles(o),
	}
}

// certificateFiles is the value of -rpctls, its files relative to the network's folder.
func certificateFiles(o *options.Settings) string {
	value := o.String("rpctls", "")
	files := strings.Split(value, ",")
	if value == "" || value == "0" {
		return ""
	}
	for i, file := range files {
		if file != "" {
			files[i] = o.BelowNetDir(file)
		}
	}
	return strings.Join(files, ",")
}
