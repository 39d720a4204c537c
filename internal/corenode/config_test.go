package corenode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dataDir makes a data directory with a configuration file.
func dataDir(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, configName), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReadConfig(t *testing.T) {
	blocks := t.TempDir()
	for name, test := range map[string]struct {
		config, chain string
		address       string
		cookie        string // below the data directory
		blocks        string // same, or absolute
		want          func(Configured) bool
	}{
		"empty": {
			"", "", "http://127.0.0.1:8332", ".cookie", "blocks",
			func(c Configured) bool { return c.Chain == "main" && !c.REST },
		},
		"of the file": {
			"regtest=1\n[regtest]\nrpcport=7\nrest=1", "", "http://127.0.0.1:7", "regtest/.cookie", "regtest/blocks",
			func(c Configured) bool { return c.Chain == "regtest" && c.REST },
		},
		"mark of the encoding": { // Core does not know an option of this name
			"\xef\xbb\xbfregtest=1\nrpcport=7", "", "http://127.0.0.1:7", ".cookie", "blocks",
			func(c Configured) bool { return c.Chain == "main" },
		},
		"asked":         {"rpcport=7\nregtest=1", "main", "http://127.0.0.1:7", ".cookie", "blocks", nil},
		"other section": {"rpcport=7\n[test]\nrpcport=8", "signet", "http://127.0.0.1:38332", "signet/.cookie", "signet/blocks", nil},
		"own cookie":    {"rpccookiefile=x/c", "test", "http://127.0.0.1:18332", "testnet3/x/c", "testnet3/blocks", nil},
		"no cookie":     {"norpccookiefile=1", "", "http://127.0.0.1:8332", "", "blocks", nil},
		"password": {
			"rpcuser=u\nrpcpassword=" + secret, "", "http://127.0.0.1:8332", "", "blocks",
			func(c Configured) bool { return c.User == "u" && c.Password == secret && len(c.Credentials) == 1 },
		},
		"user alone":      {"rpcuser=u", "", "http://127.0.0.1:8332", ".cookie", "blocks", func(c Configured) bool { return c.User == "" }},
		"bind alone":      {"rpcbind=10.0.0.1:9", "", "http://127.0.0.1:8332", ".cookie", "blocks", nil},
		"bind":            {"rpcallowip=0.0.0.0/0\nrpcbind=10.0.0.1:9", "", "http://10.0.0.1:9", ".cookie", "blocks", nil},
		"bind here too":   {"rpcallowip=0.0.0.0/0\nrpcbind=10.0.0.1:9\nrpcbind=::1", "", "http://[::1]:8332", ".cookie", "blocks", nil},
		"bind everywhere": {"rpcallowip=0.0.0.0/0\nrpcbind=0.0.0.0:9", "", "http://127.0.0.1:9", ".cookie", "blocks", nil},
		"blocksdir":       {"blocksdir=" + blocks, "regtest", "http://127.0.0.1:18443", "regtest/.cookie", blocks + "/regtest/blocks", nil},
		"index": {
			"blockfilterindex=basic\nprune=550\nserver=0", "", "http://127.0.0.1:8332", ".cookie", "blocks",
			func(c Configured) bool { return c.FilterIndex && c.Prune == 550 && c.NoServer },
		},
		"unknown options": {"zmqpubrawblock=tcp://x\ndbcache=9", "", "http://127.0.0.1:8332", ".cookie", "blocks", nil},
	} {
		dir := dataDir(t, test.config)
		c, err := ReadConfig(dir, test.chain)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if test.cookie != "" {
			test.cookie = filepath.Join(dir, test.cookie)
		}
		if !filepath.IsAbs(test.blocks) {
			test.blocks = filepath.Join(dir, test.blocks)
		}
		if c.Address.String() != test.address || c.Cookie != test.cookie || c.BlocksDir != test.blocks {
			t.Errorf("%s: %s, %s, %s", name, c.Address, c.Cookie, c.BlocksDir)
		}
		if test.want != nil && !test.want(c) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestConfigWhoMayCall(t *testing.T) {
	c, err := ReadConfig(dataDir(t, "rpcauth=alice:s$f41748e835f4867cb52ecf83327f47aa210de33ab672889a45fda95776ea9d43\n"+
		"rpcwhitelist=alice:getblock\nrpcwhitelistdefault=0"), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Credentials) != 1 || !c.Credentials[0].Matches("alice", []byte("p:ü")) {
		t.Error("alice may not log in")
	}
	alice, others := c.Whitelists.Of("alice"), c.Whitelists.Of("bob")
	if !alice.Limited() || !alice.Allows("getblock") || alice.Allows("stop") || others.Limited() {
		t.Errorf("alice %v, others %v", alice, others)
	}
}

func TestConfigElsewhere(t *testing.T) {
	data := t.TempDir()
	c, err := ReadConfig(dataDir(t, "datadir="+data), "signet")
	if err != nil || c.DataDir != data || c.NetDir != filepath.Join(data, "signet") {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = ReadConfig(data, "regtest")
	if err != nil || c.File != "" || c.Cookie != filepath.Join(data, "regtest", ".cookie") {
		t.Errorf("without a file: %+v, %v", c, err)
	}
	dir := dataDir(t, "includeconf=more.conf\n")
	if err := os.WriteFile(filepath.Join(dir, "more.conf"), []byte("rpcport=9"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = ReadConfig(dir, ""); err != nil || c.Address.Port != 9 {
		t.Errorf("included: %+v, %v", c, err)
	}
}

// Nothing of a file that cannot be read is in the error, and nothing outside of the
// directory is read by way of a link.
func TestConfigRefused(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("rpcport=9"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(linked, configName)); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, configName), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"a link":        linked,
		"a folder":      folder,
		"no directory":  filepath.Join(folder, "none"),
		"no equals":     dataDir(t, "rpcpassword "+secret),
		"two chains":    dataDir(t, "regtest=1\nsignet=1\nrpcpassword="+secret),
		"unknown chain": dataDir(t, "chain="+secret),
		"ambiguous":     dataDir(t, "rpcpassword="+secret+"#x"),
		"port":          dataDir(t, "rpcport="+secret),
		"bind":          dataDir(t, "rpcallowip=::/0\nrpcbind=x:"+secret),
		"include":       dataDir(t, "includeconf="+secret),
		"blocksdir":     dataDir(t, "blocksdir="+secret),
		"dash":          dataDir(t, "-rpcpassword="+secret),
		"huge":          dataDir(t, strings.Repeat("#", maxConfig)+"\n"),
	} {
		_, err := ReadConfig(dir, "")
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		noSecret(t, err)
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "regtest=1\n[regtest]\nrpcport=7", "rpcauth=a:b$c\nrpcwhitelist=a:b,c", "rpcbind=[::1]:80\nrpcallowip=1",
		"norpccookiefile=0", "chain=x", "includeconf=bitcoin.conf", "datadir=/", "x",
	} {
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, text, chain string) {
		c, err := ReadConfig(dataDir(t, text), chain)
		if err != nil {
			return
		}
		if c.Address.Port == 0 || c.Address.TLS || c.BlocksDir == "" || !filepath.IsAbs(c.BlocksDir) || c.Chain == "" {
			t.Errorf("%+v", c)
		}
	})
}
