package datadir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/datadir"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/segment"
	"github.com/seed61375155/trawl/store/txindex"
)

var (
	regtest = datadir.Network{Name: "regtest", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}}
	signet  = datadir.Network{Name: "signet", Magic: [4]byte{0x0a, 0x03, 0xcf, 0x40}}
)

// tree returns all below a folder, files with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), info.ModTime())
		if !entry.IsDir() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += string(content)
		}
		files[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// put writes files below a folder; a name that ends with a slash is a folder.
func put(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte("whatever it is"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// database makes one with a pair as Bitcoin Core has it.
func database(t *testing.T, dir, key, value string) {
	t.Helper()
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Put([]byte(key), []byte(value), nil), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// claim checks a directory and claims it; a refusal leaves it as it was.
func claim(t *testing.T, d datadir.Dirs, n datadir.Network) error {
	t.Helper()
	before := tree(t, d.Data)
	checked := datadir.Check(d, n)
	if after := tree(t, d.Data); !maps.Equal(before, after) {
		t.Errorf("Check changed %v into %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	claimed := datadir.Claim(d, n)
	if fmt.Sprint(checked) != fmt.Sprint(claimed) {
		t.Errorf("Check: %v, Claim: %v", checked, claimed)
	}
	if after := tree(t, d.Data); claimed != nil && !maps.Equal(before, after) {
		t.Errorf("refused, but changed: %v", slices.Sorted(maps.Keys(after)))
	}
	return claimed
}

func blocksOf(d datadir.Dirs) string {
	if d.Blocks != "" {
		return d.Blocks
	}
	return filepath.Join(d.Data, "blocks")
}

func TestNewDirectory(t *testing.T) {
	t.Parallel()
	d := datadir.Dirs{Data: t.TempDir()}
	// Files that people copy over are no sign, nor are empty folders.
	put(t, d.Data, "bitcoin.conf", "wallets/wallet.dat", "wallet.dat", "mempool.dat", "fee_estimates.dat", "peers.dat", "banlist.json",
		"settings.json", "anchors.dat", "debug.log", ".lock", "i2p_private_key", "blocks/xor.dat", "chainstate/",
		"indexes/txindex/", "regtest/blocks/blk00000.dat")
	for range 2 {
		if err := claim(t, d, regtest); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{d.Data, blocksOf(d)} {
		if info, err := os.Stat(filepath.Join(dir, datadir.MarkName)); err != nil || info.Mode() != 0o600 {
			t.Errorf("mark: %v, %v", info, err)
		}
	}
	put(t, d.Data, "blocks/blk00000.dat", "blocks/rev00000.dat") // by us
	if err := claim(t, d, regtest); err != nil {
		t.Error(err)
	}
	if err := datadir.Check(datadir.Dirs{Data: filepath.Join(d.Data, "none")}, regtest); err != nil {
		t.Errorf("of a directory that is not there: %v", err)
	}
}

func TestForeignDirectory(t *testing.T) {
	t.Parallel()
	for _, found := range []string{
		"chainstate", "blocks/index", "blocks/blk00000.dat", "blocks/rev00003.dat", "chainstate_snapshot",
		"indexes/blockfilter/basic", "indexes/txindex", "indexes/coinstatsindex", "indexes/coinstats/db", "indexes/txospenderindex/db",
	} {
		t.Run(found, func(t *testing.T) {
			t.Parallel()
			d := datadir.Dirs{Data: t.TempDir()}
			path := filepath.Join(d.Data, filepath.FromSlash(found))
			switch found {
			case "chainstate":
				database(t, path, "\x0e\x00obfuscate_key", "\x08abcdefgh")
			case "blocks/index":
				database(t, path, "b"+strings.Repeat("h", 32), "value")
			case "indexes/txindex":
				database(t, path, "B", strings.Repeat("locator", 10))
			case "indexes/coinstatsindex":
				database(t, filepath.Join(path, "db"), "B", "value")
			case "indexes/blockfilter/basic":
				put(t, path, "fltr00000.dat")
			case "blocks/blk00000.dat", "blocks/rev00003.dat":
				put(t, d.Data, found)
			default:
				database(t, path, "any", "value")
			}
			err := claim(t, d, regtest)
			foreign, ok := errors.AsType[*datadir.ForeignError](err)
			if !ok || !slices.Contains(foreign.Found, found) {
				t.Fatalf("got %v", err)
			}
			for _, words := range []string{d.Data, found, "Nothing in it was changed", "-datadir"} {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q is not in: %v", words, err)
				}
			}
		})
	}
}

// A damaged database, of which nobody can tell whose it is, is not touched.
func TestUnknownDatabase(t *testing.T) {
	t.Parallel()
	d := datadir.Dirs{Data: t.TempDir()}
	put(t, d.Data, "chainstate/CURRENT", "chainstate/000003.log", "chainstate/000005.ldb")
	if _, ok := errors.AsType[*datadir.ForeignError](claim(t, d, regtest)); !ok {
		t.Error("it was taken")
	}
}

// chain makes a chain database without a mark.
func chain(t *testing.T, d datadir.Dirs) {
	t.Helper()
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(d.Data, "chainstate"), BlocksDir: blocksOf(d), Magic: regtest.Magic, XOR: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// The directory of a revision without marks is known by its database, and is marked.
func TestOldDirectory(t *testing.T) {
	t.Parallel()
	d := datadir.Dirs{Data: t.TempDir()}
	chain(t, d)
	if _, ok := errors.AsType[*datadir.NetworkError](claim(t, d, signet)); !ok {
		t.Error("taken for another network")
	}
	for range 2 {
		if err := claim(t, d, regtest); err != nil {
			t.Fatal(err)
		}
	}
	// Its database is damaged: it is ours by the mark.
	damage(t, filepath.Join(d.Data, "chainstate"))
	if err := claim(t, d, regtest); err != nil {
		t.Error(err)
	}
	// And so is one without a mark, as long as anything else is known to be ours.
	removeMarks(t, d)
	store, err := segment.Open(segment.Options{Dir: filepath.Join(d.Data, "indexes", "blockfilter", "basic")})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := claim(t, d, regtest); err != nil {
		t.Error(err)
	}
}

// damage makes every file of a database unreadable.
func damage(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		put(t, dir, entry.Name())
	}
}

func removeMarks(t *testing.T, d datadir.Dirs) {
	t.Helper()
	for _, dir := range []string{d.Data, blocksOf(d)} {
		if err := os.Remove(filepath.Join(dir, datadir.MarkName)); err != nil {
			t.Fatal(err)
		}
	}
}

// Databases of others that were copied into a directory of ours are not opened.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{
		"chainstate": "B", "indexes/txindex": "B",
		"indexes/blockfilter/basic/db": "B", "indexes/coinstatsindex/db": "M", "indexes/txospenderindex/db": "s",
		"indexes/txospenderindex": "s", "indexes/scriptindex": "s",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := datadir.Dirs{Data: t.TempDir()}
			if err := claim(t, d, regtest); err != nil {
				t.Fatal(err)
			}
			database(t, filepath.Join(d.Data, filepath.FromSlash(name)), key, "value of another program")
			err := claim(t, d, regtest)
			if _, ok := errors.AsType[*datadir.ForeignError](err); !ok ||
				!strings.Contains(err.Error(), strings.TrimSuffix(name, "/db")) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       string // in the error
	}{
		{"of ours", "format=2\nnetwork=regtest\nmagic=fabfb5da\n", ""},
		{"with more", "# a comment\nformat=2\nnetwork=regtest\nmagic=fabfb5da\nfurther=value\n", ""},
		{"newer", "format=3\n", "which a newer version of Trawl has written"},
		{"of another network", "format=2\nnetwork=signet (bitcoin)\nmagic=0a03cf40\n", "belongs to signet (bitcoin), not to regtest"},
		{"empty", "", "cannot be read"},
		{"without a network", "format=2\n", "cannot be read"},
		{"of nonsense", "format=two\nmagic=fabfb5da\n", "cannot be read"},
		{"too long", "format=2\nnetwork=regtest\nmagic=fabfb5da\n" + strings.Repeat("#", 5000), "too large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, where := range []string{"", "blocks"} {
				d := datadir.Dirs{Data: t.TempDir()}
				put(t, d.Data, "blocks/")
				if err := os.WriteFile(
					filepath.Join(d.Data, where, datadir.MarkName), []byte(test.text), 0o600,
				); err != nil {
					t.Fatal(err)
				}
				err := claim(t, d, regtest)
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			}
		})
	}
}

// Databases of ours are known however little or much they hold.
func TestOwnDatabases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := txindex.Open(txindex.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var txs []chainhash.Hash
	for i := range 300 {
		txs = append(txs, chainhash.HashH(fmt.Append(nil, i)))
	}
	for height := range int32(40) {
		block := chainhash.HashH(fmt.Append(nil, "block", height))
		if err := store.Add(&block, height, txs, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if whose, err := txindex.Look(dir); whose != dbfiles.Own || err != nil {
		t.Errorf("got %v, %v", whose, err)
	}
}
