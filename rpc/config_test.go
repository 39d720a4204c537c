package rpc

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
)

func TestAllowed(t *testing.T) {
	allowed, err := parseAllowed([]string{
		"1.2.3.4", "10.0.0.0/8", "192.168.5.9/255.255.255.0", "fe80::/10", "2a01:4f8::1", "[fd00::1]",
		"[2a01:4f9::]/32", "172.16.1/24", "11.1", "0x0c000001", "015.0.0.1",
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true,
		"1.2.3.4:1": true, "1.2.3.5:1": false, "10.200.0.1:1": true, "192.168.5.1:1": true, "192.168.6.1:1": false,
		"[fe80::1%eth0]:1": true, "[2a01:4f8::1]:1": true, "[2a01:4f8::2]:1": false, "8.8.8.8:1": false, "x": false,
		"172.16.0.9:1": true, "172.16.1.9:1": false, "11.0.0.1:1": true, "11.0.0.2:1": false, "12.0.0.1:1": true,
		"13.0.0.1:1": true, "15.0.0.1:1": false,
	} {
		if got := isAllowed(allowed, addr); got != want {
			t.Errorf("%s: got %v", addr, got)
		}
	}
	for _, entry := range []string{
		"", "x", "1.2.3.4.5", "1.2.3.256", "1.2.3.4.", "09.1.2.3", "1.2.3.4/", "::ffff:1.2.3.4/120", "fc00::/8", "[fc00::1]",
		"1.2.3.4/33", "1.2.3.4/255.0.255.0", "1.2.3.4/x", "1.2.3.4/ffff::", "::1/255.0.0.0", "1.2.3.4:80",
	} {
		_, err := parseAllowed([]string{entry}, true)
		if _, ok := errors.AsType[StartError](err); !ok ||
			!strings.HasPrefix(err.Error(), "Invalid -rpcallowip subnet specification: "+entry+". ") {
			t.Errorf("%q: got %v", entry, err)
		}
	}
}

func TestParseEndpoint(t *testing.T) {
	for s, want := range map[string]endpoint{
		"127.0.0.1": {"127.0.0.1", 8332}, "127.0.0.1:80": {"127.0.0.1", 80}, "[::1]": {"::1", 8332}, "[::1]:80": {"::1", 80},
		"::1": {"::1", 8332}, "host": {"host", 8332}, ":80": {"", 80},
	} {
		if got, ok := parseEndpoint(s, 8332); got != want || !ok {
			t.Errorf("%s: got %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:", "[::1]:x", "host:-1"} {
		if got, ok := parseEndpoint(s, 8332); ok {
			t.Errorf("%s: got %v", s, got)
		}
	}
}

// start makes a server that never serves and returns what it logged.
func start(t *testing.T, c Config) (*Server, string, error) {
	t.Helper()
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := NewServer(c)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
		})
	}
	return s, log.String(), err
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		c       Config
		want    string
		wantLog string
	}{
		{"port 0", Config{Port: "0"}, "Invalid port specified in -rpcport: '0'", ""},
		{"port too large", Config{Port: "70000"}, "Invalid port specified in -rpcport: '70000'", ""},
		{"port that is none", Config{Port: "abc"}, "Invalid port specified in -rpcport: 'abc'", ""},
		{"bind", Config{Bind: []string{"127.0.0.1:x"}}, "Invalid port specified in -rpcbind: '127.0.0.1:x'", ""},
		{"rpcauth", Config{Auth: []string{"a:b"}}, ErrStart.Error(), "Invalid -rpcauth argument."},
		{"empty rpcauth", Config{Auth: []string{""}}, ErrStart.Error(), "Invalid -rpcauth argument."},
		{
			"cookie permissions",
			Config{CookiePerms: "0600"},
			ErrStart.Error(),
			"Invalid -rpccookieperms=0600; must be one of 'owner', 'group', or 'all'.",
		},
		{"cookie folder", Config{CookieFile: filepath.Join(dir, "no", "x")}, ErrStart.Error(), "Unable to write the authentication cookie"},
		{"cookie cannot be written", Config{CookieFile: filepath.Join(dir, "taken")}, ErrStart.Error(), "taken.tmp"},
		{
			"nothing to bind",
			Config{Bind: []string{"192.0.2.1:1"}, AllowIP: []string{"192.0.2.0/24"}},
			"Unable to bind RPC to 192.0.2.1:1: cannot assign requested address\n" + ErrStart.Error(),
			"Binding RPC on address 192.0.2.1 port 1 failed. (cannot assign requested address)",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, log, err := start(t, test.c)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if !strings.Contains(log, test.wantLog) {
				t.Errorf("logged %s", log)
			}
		})
	}
}

func TestBindWarnings(t *testing.T) {
	_, log, err := start(t, Config{Bind: []string{"0.0.0.0:1"}})
	if err != nil || !strings.Contains(log, "WARNING: option -rpcbind was ignored because -rpcallowip was not specified") ||
		!strings.Contains(log, "Binding RPC on address 127.0.0.1 port 0") || strings.Contains(log, "0.0.0.0") {
		t.Errorf("bind alone: %v, %s", err, log)
	}
	s, log, err := start(t, Config{AllowIP: []string{"10.0.0.0/8"}})
	if err != nil || !strings.Contains(log, "WARNING: option -rpcallowip was specified without -rpcbind") {
		t.Errorf("allow alone: %v, %s", err, log)
	}
	for _, addr := range s.Addrs() {
		if !isAllowed(alwaysAllowed, addr.String()) {
			t.Errorf("listens on %v", addr)
		}
	}
}

func TestCookie(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".cookie")
	seen := map[string]bool{}
	for perms, mode := range map[string]fs.FileMode{"": 0o600, "owner": 0o600, "group": 0o640, "all": 0o644} {
		if err := os.WriteFile(path+".tmp", []byte("left over and longer than a cookie is, by far ........................"), 0o666); err != nil {
			t.Fatal(err)
		}
		s, log, err := start(t, Config{CookieFile: path, CookiePerms: perms})
		if err != nil {
			t.Fatal(err)
		}
		contents, err := os.ReadFile(path)
		if err != nil || !regexp.MustCompile(`^__cookie__:[0-9a-f]{64}$`).Match(contents) {
			t.Errorf("%q: %s, %v", perms, contents, err)
		}
		if seen[string(contents)] {
			t.Errorf("%q: the cookie of an earlier start", perms)
		}
		seen[string(contents)] = true
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%q: mode %v, %v", perms, info.Mode(), err)
		}
		user, ok := rpcauth.Login(s.accounts.Load().credentials, basic(string(contents)))
		if user != cookieUser || !ok {
			t.Errorf("%q: the cookie does not log in", perms)
		}
		if secret := strings.TrimPrefix(string(contents), cookieUser+":"); strings.Contains(log, secret) {
			t.Errorf("%q: the log has the password", perms)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		for _, file := range []string{path, path + ".tmp"} {
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q: %s is still there", perms, file)
			}
		}
	}
}

// The log tells which logins there are.
func TestLoginsInTheLog(t *testing.T) {
	const password, auth = "Using rpcuser/rpcpassword authentication.", "Using rpcauth authentication."
	const cookie, none = "Using random cookie authentication.", "RPC authentication cookie file generation is disabled."
	all := []string{password, auth, cookie, none, "Generated RPC authentication cookie"}
	path := filepath.Join(t.TempDir(), ".cookie")
	entry := "a:s$" + rpcauth.Hash("s", "p")
	for name, test := range map[string]struct {
		c    Config
		want []string
	}{
		"password": {Config{User: "u", Password: "p", CookieFile: path}, all[:1]},
		"both":     {Config{User: "u", Password: "p", Auth: []string{entry}}, all[:2]},
		"auth":     {Config{Auth: []string{entry}}, []string{auth, none}},
		"cookie":   {Config{CookieFile: path}, []string{cookie, all[4] + " " + path}},
		"nothing":  {Config{}, []string{none}},
	} {
		_, log, err := start(t, test.c)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range test.want {
			if !strings.Contains(log, line) {
				t.Errorf("%s: logged %s, want %s", name, log, line)
			}
		}
		for _, line := range all {
			wanted := slices.ContainsFunc(test.want, func(w string) bool { return strings.HasPrefix(w, line) })
			if strings.Contains(log, line) != wanted {
				t.Errorf("%s: logged %s", name, log)
			}
		}
	}
}

func TestCookieOfAnotherServerStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".cookie")
	first, _, err := start(t, Config{CookieFile: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, Config{CookieFile: path}); err != nil {
		t.Fatal(err)
	}
	if err := first.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// A server that ends leaves alone what is in its cookie's place and cannot be the cookie.
func TestWhatIsNoCookieStays(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"a folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"large":      func(path string) error { return os.WriteFile(path, make([]byte, maxCookie+1), 0o600) },
		"as large":   func(path string) error { return os.WriteFile(path, make([]byte, maxCookie), 0o600) },
		"empty":      func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"not a file": func(path string) error { return os.Symlink(filepath.Dir(path), path) },
	} {
		path := filepath.Join(t.TempDir(), ".cookie")
		c, err := writeCookie(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(path), replace(path)); err != nil {
			t.Fatal(err)
		}
		if err := c.remove(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(os.Remove(path), c.remove()); err != nil {
			t.Errorf("%s, gone: %v", name, err)
		}
	}
}

// Logins that wait for their turn may have a quarter of the connections, at least one. Logins from one address may have
// half of the address's connections.
func TestHowManyLoginsWait(t *testing.T) {
	for conns, want := range map[int]int{1: 1, 3: 1, 4: 1, 8: 2, 101: 25} {
		s, _, err := start(t, Config{MaxConns: conns})
		if err != nil {
			t.Fatal(err)
		}
		if s.guesses.limit != want || s.guesses.perPeer != maxConnsPerPeer/2 {
			t.Errorf("of %d connections %d may wait, %d of an address", conns, s.guesses.limit, s.guesses.perPeer)
		}
	}
}

// Lines of the log name the place that they come from.
func TestPlacesInTheLog(t *testing.T) {
	var log bytes.Buffer
	s, err := NewServer(Config{
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{AddSource: true, Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	for level, write := range map[string]func(string, ...any){
		"INFO": s.infof, "WARN": s.warnf, "ERROR": s.errorf, "DEBUG": s.debugf,
	} {
		log.Reset()
		write("%d lines", 7)
		for _, want := range []string{"level=" + level, "config_test.go:", "7 lines"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: %s", level, &log)
			}
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNoCookie(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".cookie")
	s, log, err := start(t, Config{CookieFile: path, User: "u", Password: "p:w"})
	if err != nil || strings.Contains(log, "p:w") {
		t.Fatal(err, log)
	}
	if _, ok := rpcauth.Login(s.accounts.Load().credentials, basic("u:p:w")); !ok {
		t.Error("the password does not log in")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a cookie was written")
	}
	s, log, err = start(t, Config{})
	if err != nil || !strings.Contains(log, "RPC authentication cookie file generation is disabled.") {
		t.Error(err, log)
	}
	if _, ok := rpcauth.Login(s.accounts.Load().credentials, basic(":")); ok {
		t.Error("nobody can log in")
	}
}

func basic(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
