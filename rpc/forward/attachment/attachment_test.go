package attachment_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/forward/attachment"
)

// coreDir makes a data directory of Bitcoin Core with a configuration.
func coreDir(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	if config != "" {
		if err := os.WriteFile(filepath.Join(dir, "bitcoin.conf"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The address of Core comes from the given settings, then from its configuration,
// then from its network.
func TestAddress(t *testing.T) {
	const regtest = "regtest=1\n[regtest]\nrpcport=1234\n"
	tests := []struct {
		name, config   string
		cfg            attachment.Config
		address, chain string
	}{
		{"no configuration", "", attachment.Config{}, "http://127.0.0.1:8332", "main"},
		{"no configuration, a chain", "", attachment.Config{Chain: "signet"}, "http://127.0.0.1:38332", "signet"},
		{"its chain and port", regtest, attachment.Config{}, "http://127.0.0.1:1234", "regtest"},
		{"its other chain", regtest, attachment.Config{Chain: "main"}, "http://127.0.0.1:8332", "main"},
		{"another port", regtest, attachment.Config{RPC: "127.0.0.1:99"}, "http://127.0.0.1:99", "regtest"},
		{"another host", regtest, attachment.Config{RPC: "localhost"}, "http://localhost:1234", "regtest"},
		{"an IPv6 host", regtest, attachment.Config{RPC: "::1"}, "http://[::1]:1234", "regtest"},
		{"an IPv6 host and port", regtest, attachment.Config{RPC: "[::1]:7"}, "http://[::1]:7", "regtest"},
		{"an address", "", attachment.Config{
			Core: "http://127.0.0.1", Chain: "testnet4", CookieFile: "c",
		}, "http://127.0.0.1:48332", "testnet4"},
		{"an address and port", "", attachment.Config{
			Core: "https://node:1", LoginFile: "l",
		}, "https://node:1", "main"},
	}
	for _, test := range tests {
		if test.cfg.Core == "" {
			test.cfg.Core = coreDir(t, test.config)
		}
		a, err := attachment.New(test.cfg)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if a.Address() != test.address || a.Chain() != test.chain {
			t.Errorf("%s: %s, chain %s; want %s, %s", test.name, a.Address(), a.Chain(), test.address, test.chain)
		}
	}
}

// Impossible settings are refused, and no text holds a password.
func TestRefused(t *testing.T) {
	const secret = "hunter2"
	tests := []struct {
		name, config string
		cfg          attachment.Config
		want         string
	}{
		{"no directory", "", attachment.Config{Core: "/nowhere"}, "no such file"},
		{"a login in the URL", "", attachment.Config{
			Core: "http://me:" + secret + "@127.0.0.1:8332", CookieFile: "c",
		}, "does not belong in the address"},
		{"no login for a URL", "", attachment.Config{Core: "http://127.0.0.1:8332"}, "-attachlogin"},
		{"two addresses", "", attachment.Config{
			Core: "http://127.0.0.1:8332", RPC: "127.0.0.1:1", CookieFile: "c",
		}, "twice"},
		{"plain HTTP to another machine", "", attachment.Config{
			Core: "http://192.0.2.1:8332", CookieFile: "c",
		}, "-attachinsecure"},
		{"a mode", "", attachment.Config{Forward: "some"}, "all, read and none"},
		{"a port", "", attachment.Config{RPC: "127.0.0.1:x"}, "host:port"},
		{"port 0", "", attachment.Config{RPC: "127.0.0.1:0"}, "host:port"},
		{"a configuration", "rpcpassword=" + secret + "\nnonsense " + secret, attachment.Config{}, "line 2"},
		{"certificates", "", attachment.Config{CA: "/nowhere/ca.pem"}, "certificates"},
	}
	for _, test := range tests {
		if test.cfg.Core == "" {
			test.cfg.Core = coreDir(t, test.config)
		}
		_, err := attachment.New(test.cfg)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A node does not write where Core does, by whatever name that goes.
func TestCheckDirs(t *testing.T) {
	core := coreDir(t, "regtest=1\nblocksdir="+t.TempDir())
	a, err := attachment.New(attachment.Config{Core: core})
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(core, link); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(core, "regtest"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		t.TempDir(): true, filepath.Join(t.TempDir(), "not", "there"): true,
		core: false, link: false, filepath.Dir(core): false,
		filepath.Join(core, "regtest"): false, filepath.Join(link, "regtest", "trawl", "new"): false,
		filepath.Join(core, "trawl"): false,
	} {
		if err := a.CheckDirs(t.TempDir(), dir); (err == nil) != want {
			t.Errorf("%s beside %s: %v", dir, core, err)
		}
	}
}
