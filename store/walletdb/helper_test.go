package walletdb_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

var (
	regtestMagic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}
	options      = walletdb.Options{Magic: regtestMagic}
	network      = descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	loadOptions  = walletfile.LoadOptions{Network: network}
)

// facts are replies of Bitcoin Core 30.2 on the wallets in testdata.
type facts struct {
	Passphrases map[string]string
	Wallets     map[string]walletFacts
	Damaged     []damagedFact
}

// walletFacts are the replies after a backup was restored.
type walletFacts struct {
	Public []listed
	Xprvs  map[string]string // by xpub
	Info   struct {
		Flags              []string
		TxCount            int
		PrivateKeysEnabled bool `json:"private_keys_enabled"`
	}
}

// listed is an element of listdescriptors.
type listed struct {
	Desc      string
	Timestamp uint64
	Active    bool
	Internal  bool
	NextIndex int32 `json:"next_index"`
}

// damagedFact is the reply of restorewallet to a broken file.
type damagedFact struct {
	Name     string
	Crash    bool // Core dies; any error will do
	CodeOnly bool `json:"code_only"`
	Error    *struct {
		Code    int
		Message string
	}
	Warnings []string
}

func unzip(tb testing.TB, path string) []byte {
	tb.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func readFacts(t *testing.T) facts {
	t.Helper()
	var f facts
	if err := json.Unmarshal(unzip(t, "testdata/facts.json.gz"), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// place writes a wallet of testdata into a directory of its own.
func place(tb testing.TB, folder, name string) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), walletdb.FileName)
	if err := os.WriteFile(path, unzip(tb, filepath.Join("testdata", folder, name+".dat.gz")), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// backups lists the wallets of testdata.
func backups(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/backups/*.dat.gz")
	if err != nil || len(paths) == 0 {
		t.Fatal("no wallets", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".dat.gz")
	}
	return paths
}

func open(tb testing.TB, path string) *walletdb.DB {
	tb.Helper()
	db, err := walletdb.Open(path, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func records(tb testing.TB, db *walletdb.DB) []walletfile.Record {
	tb.Helper()
	found, err := db.Records()
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

func sameRecords(a, b []walletfile.Record) bool {
	return slices.EqualFunc(a, b, func(x, y walletfile.Record) bool {
		return bytes.Equal(x.Key, y.Key) && bytes.Equal(x.Value, y.Value)
	})
}

// files lists what is in the directory of a file.
func files(tb testing.TB, path string) []string {
	tb.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// verify verifies the whole of a file.
func verify(
	path string, opts walletdb.Options, load walletfile.LoadOptions,
) (*walletfile.Wallet, walletfile.Severity, error) {
	return walletdb.Verify(context.Background(), path, opts, load, walletdb.Limits{})
}

// descriptorsFlag makes the records of a wallet without keys.
func descriptorsFlag(b *walletdb.Batch) error { return b.PutEntry(walletfile.Descriptors) }

// restore restores a backup.
func restore(source, path string, check func(staged string) error) error {
	return walletdb.Restore(context.Background(), source, path, options, func(s *walletdb.Staged) error {
		return check(s.Path)
	})
}
