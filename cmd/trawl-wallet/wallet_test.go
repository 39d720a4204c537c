package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// shown is what info prints.
func shown(name, encrypted, hd string, pool, txs, addresses int) string {
	return fmt.Sprintf("Wallet info\n===========\nName: %s\nFormat: sqlite\nDescriptors: yes\nEncrypted: %s\n"+
		"HD (hd seed available): %s\nKeypool Size: %d\nTransactions: %d\nAddress Book: %d\n",
		name, encrypted, hd, pool, txs, addresses)
}

// Wallets of Bitcoin Core are shown as they are in their files, which are not changed.
func TestInfo(t *testing.T) {
	p := newPlace(t)
	for name, want := range map[string]string{
		"default":     shown("default", "no", "yes", 8000, 16, 14),
		"encrypted":   shown("encrypted", "yes", "yes", 8000, 5, 4),
		"blank":       shown("blank", "no", "no", 0, 0, 0),
		"watch-xpub":  shown("watch-xpub", "no", "yes", 7999, 5, 8),
		"unconfirmed": shown("unconfirmed", "no", "yes", 7999, 6, 4),
	} {
		p.recorded(name)
		before := p.read(p.file(name))
		p.want(result{out: want}, "-wallet="+name, "info")
		if !bytes.Equal(p.read(p.file(name)), before) {
			t.Errorf("%s: the file has changed", name)
		}
		if left, err := os.ReadDir(filepath.Dir(p.file(name))); err != nil || len(left) != 1 {
			t.Errorf("%s: %v, %v", name, left, err)
		}
	}
}

// A wallet that cannot be read is told of as loadwallet does, without an end of the line.
func TestInfoRefuses(t *testing.T) {
	p := newPlace(t)
	p.recorded("one-key")
	path := p.file("one-key")
	p.write("regtest/wallets/text/wallet.dat", bytes.Repeat([]byte("text"), 1000))
	p.want(failed("Failed to load database path '"+p.wallets()+"/text'. Data is not in recognized format."), "-wallet=text", "info")
	p.want(failed("Failed to load database path '"+p.wallets()+"/'. Data is not in recognized format."), "-wallet=", "info")
	db, err := walletdb.Open(path, walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}})
	if err != nil {
		t.Fatal(err)
	}
	const locked = "SQLiteDatabase: Unable to obtain an exclusive lock on the database, is it being used by another " +
		"instance of Bitcoin Core?\n"
	p.want(failed(locked), "-wallet=one-key", "info")
	for _, change := range []struct {
		record walletfile.Record
		want   string
	}{
		{
			walletfile.Record{Key: append(walletfile.KeyPrefix("mkey"), 1), Value: []byte{1}},
			"Error loading " + path + ": Wallet corrupted",
		},
		{
			walletfile.RecordOf(1<<40 | walletfile.Descriptors),
			"Error loading " + path + ": Wallet requires newer version of Bitcoin Core",
		},
	} {
		if err := db.Update(func(b *walletdb.Batch) error { return b.Put(change.record) }); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		p.want(result{err: change.want, status: exitFailure}, "-wallet=one-key", "info")
		if db, err = walletdb.Open(path, walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A wallet that is made can be looked at, and no other takes its place.
func TestCreate(t *testing.T) {
	p := newPlace(t)
	const made = "Topping up keypool...\n"
	p.want(result{out: made + shown("foo", "no", "yes", 8000, 0, 0)}, "-wallet=foo", "create")
	p.want(result{out: shown("foo", "no", "yes", 8000, 0, 0)}, "-wallet=foo", "info")
	before := p.read(p.file("foo"))
	p.want(
		result{err: "Failed to create database path '" + p.wallets() + "/foo'. Database already exists.\n"}, // as in Core: 0
		"-wallet=foo", "create",
	)
	if !bytes.Equal(p.read(p.file("foo")), before) {
		t.Error("the file has changed")
	}
	p.want(result{out: made + shown("bar", "no", "yes", 8000, 0, 0)}, "-wallet=bar", "create")
	if bytes.Equal(recordOf(t, p.file("foo"), "walletdescriptor"), recordOf(t, p.file("bar"), "walletdescriptor")) {
		t.Error("two wallets have the same keys")
	}
	info, err := os.Stat(p.file("foo"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	p.want(result{out: made + shown("", "no", "yes", 8000, 0, 0)}, "-wallet=", "create")
	if _, err := os.Stat(filepath.Join(p.wallets(), "wallet.dat")); err != nil {
		t.Error(err)
	}
}

// As Core 32, the tool makes no wallet without a name.
func TestCreateUnnamed(t *testing.T) {
	p := newPlace(t)
	p.want(failed("Wallet name cannot be empty"), "-core=32", "-wallet=", "create")
	p.want(failed("Error: Invalid value for -core: '31'. It is 30 or 32."), "-core=31", "-wallet=", "create")
}

// recordOf returns the first value of a type.
func recordOf(t *testing.T, path, kind string) []byte {
	t.Helper()
	db, err := walletdb.Open(path, walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	records, err := db.Records()
	at := slices.IndexFunc(records, func(r walletfile.Record) bool {
		name, _ := r.Type()
		return name == kind
	})
	if err != nil || at < 0 {
		t.Fatalf("%s: %v", kind, err)
	}
	return records[at].Value
}

// A new wallet of qbit has addresses of qbit's kind, and Bitcoin's tool does not take it for its own.
func TestQbit(t *testing.T) {
	p := newPlace(t)
	got := p.run("-dialect=qbit", "-wallet=pq", "create")
	if got.status != 0 || !strings.Contains(got.out, "\nKeypool Size: 32\n") {
		t.Errorf("%+v", got)
	}
	p.want(failed("Failed to load database path '"+p.wallets()+"/pq'. Data is not in recognized format."), "-wallet=pq", "info")
	p.want(result{out: "The dumpfile may contain private keys. To ensure the safety of your QBT, do not share the dumpfile.\n"},
		"-dialect=qbit", "-wallet=pq", "-dumpfile="+filepath.Join(p.dir, "pq.dump"), "dump")
}

// With later versions of Core each wallet has a name, and none is found by a name that leads out of the directory of
// wallets.
func TestNamesOfLaterVersions(t *testing.T) {
	p := newPlace(t)
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	net.Answers = dialect.Answers{}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"createfromdump"}, "Wallet name must be provided when creating a new wallet."},
		{[]string{"-wallet=", "create"}, "Wallet name cannot be empty"},
		{[]string{"-wallet=", "-dumpfile=missing", "createfromdump"}, "Wallet name cannot be empty"},
		{[]string{"-wallet=.", "info"}, "Wallet name given as a relative path cannot begin with ./ or ../, for wallets not in " +
			"the walletdir, please use an absolute path."},
	} {
		var out bytes.Buffer
		std := &streams{&out, &out, p.dir}
		s := options.New(table.WalletTool(), p.dir)
		if err := s.ParseArgs(append([]string{"-datadir=" + p.dir, "-regtest"}, test.args...)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SelectChain(); err != nil {
			t.Fatal(err)
		}
		command := s.Words()[0]
		tool, err := newTool(net, s, std, strings.HasPrefix(command, "create"))
		if err == nil {
			err = commands[command](tool)
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%q: %v", test.args, err)
		}
	}
	if left, err := os.ReadDir(p.wallets()); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
