package walletdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// create makes an empty wallet.
func create(tb testing.TB) *walletdb.DB {
	tb.Helper()
	db, err := walletdb.Create(
		filepath.Join(tb.TempDir(), walletdb.FileName), options, func(*walletdb.Batch) error { return nil },
	)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// TestCreate compares a new file with Core's: the header's settings, the schema
// and what lies beside it.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	fill := func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Descriptors) }
	db, err := walletdb.Create(path, options, fill)
	if err != nil {
		t.Fatal(err)
	}
	if got := records(t, db); len(got) != 1 {
		t.Errorf("records %v", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path); !slices.Equal(got, []string{walletdb.FileName}) {
		t.Errorf("files left: %q", got)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cores := unzip(t, "testdata/backups/blank.dat.gz")
	for _, field := range []struct {
		name     string
		from, to int
	}{
		{"magic, page size, journal mode", 0, 24},
		{"schema format to auto vacuum", 44, 48},
		{"vacuum, encoding, user version, application id", 52, 72},
	} {
		if got, want := content[field.from:field.to], cores[field.from:field.to]; !bytes.Equal(got, want) {
			t.Errorf("%s: %x, Core has %x", field.name, got, want)
		}
	}
	if _, err := walletdb.Create(path, options, fill); !errors.Is(err, walletdb.ErrExists) {
		t.Errorf("again: %v", err)
	}
}

// TestCreateFails leaves nothing behind.
func TestCreateFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	failure := errors.New("no")
	_, err := walletdb.Create(path, options, func(b *walletdb.Batch) error {
		return errors.Join(b.PutEntry(walletfile.Descriptors), failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if got := files(t, path); len(got) != 0 {
		t.Errorf("files left: %q", got)
	}
}

// TestUpdateAgainstMap compares random transactions, some of which fail, with
// those on a map.
func TestUpdateAgainstMap(t *testing.T) {
	db := create(t)
	model := make(map[string]string)
	failure := errors.New("no")
	rapid.Check(t, func(rt *rapid.T) {
		short := rapid.SliceOfN(rapid.ByteRange(0, 2), 0, 3)
		next := maps.Clone(model)
		fails := rapid.Bool().Draw(rt, "fails")
		err := db.Update(func(b *walletdb.Batch) error {
			for range rapid.IntRange(0, 5).Draw(rt, "changes") {
				key := short.Draw(rt, "key")
				var err error
				switch rapid.IntRange(0, 3).Draw(rt, "kind") {
				case 0, 1:
					value := short.Draw(rt, "value")
					next[string(key)] = string(value)
					err = b.Put(walletfile.Record{Key: key, Value: value})
				case 2:
					delete(next, string(key))
					err = b.Delete(key)
				case 3:
					maps.DeleteFunc(next, func(k, _ string) bool { return bytes.HasPrefix([]byte(k), key) })
					err = b.DeletePrefix(key)
				}
				if err != nil {
					return err
				}
				value, found, err := b.Get(key)
				if want, there := next[string(key)]; err != nil || found != there || string(value) != want {
					rt.Fatalf("get %x: %x %v %v", key, value, found, err)
				}
			}
			if fails {
				return failure
			}
			return nil
		})
		if fails != errors.Is(err, failure) || !fails && err != nil {
			rt.Fatal(err)
		}
		if !fails {
			model = next
		}
		got, err := db.Records()
		if err != nil || !sameRecords(got, sorted(model)) {
			rt.Fatalf("got %v, want %v (%v)", got, model, err)
		}
	})
}

// sorted returns the records of a map.
func sorted(model map[string]string) []walletfile.Record {
	var all []walletfile.Record
	for _, key := range slices.Sorted(maps.Keys(model)) {
		all = append(all, walletfile.Record{Key: []byte(key), Value: []byte(model[key])})
	}
	return all
}

// TestUpdatePanics rolls back and leaves the wallet usable.
func TestUpdatePanics(t *testing.T) {
	db := create(t)
	func() {
		defer func() { _ = recover() }()
		_ = db.Update(func(b *walletdb.Batch) error {
			_ = b.PutEntry(walletfile.Blank)
			panic("bug")
		})
	}()
	if err := db.Update(func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Version(1)) }); err != nil {
		t.Fatal(err)
	}
	if got := records(t, db); len(got) != 1 {
		t.Errorf("records %v", got)
	}
}

// TestRewrite looks for deleted bytes in the file.
func TestRewrite(t *testing.T) {
	path := place(t, "backups", "base")
	db := open(t, path)
	all := records(t, db)
	secret := all[slices.IndexFunc(all, func(r walletfile.Record) bool {
		name, _ := r.Type()
		return name == "walletdescriptorkey"
	})]
	if err := db.Update(func(b *walletdb.Batch) error { return b.DeletePrefix(walletfile.KeyPrefix("walletdescriptorkey")) }); err != nil {
		t.Fatal(err)
	}
	want := records(t, db)
	if err := db.Rewrite(); err != nil {
		t.Fatal(err)
	}
	if !sameRecords(records(t, db), want) {
		t.Error("records differ")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || bytes.Contains(content, secret.Value[:60]) {
		t.Error("the private key is still in the file", err)
	}
	open(t, path)
}

// TestConcurrentUse counts with many goroutines, none of which may be lost.
func TestConcurrentUse(t *testing.T) {
	const workers, rounds = 8, 10
	db := create(t)
	key := []byte("counter")
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range rounds {
				err := db.Update(func(b *walletdb.Batch) error {
					value, _, err := b.Get(key)
					if err != nil {
						return err
					}
					n := binary.LittleEndian.Uint64(append(value, make([]byte, 8)...))
					return b.Put(walletfile.Record{Key: key, Value: binary.LittleEndian.AppendUint64(nil, n+1)})
				})
				if err != nil {
					t.Error(err)
				}
				if _, err := db.Records(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	value, _, err := db.Get(key)
	if err != nil || binary.LittleEndian.Uint64(value) != workers*rounds {
		t.Errorf("counted %x (%v)", value, err)
	}
}

// A transaction that cannot be committed is told and undone; the wallet goes on as it was.
func TestCommitFails(t *testing.T) {
	db := create(t)
	if err := db.Exec("PRAGMA foreign_keys = ON", "CREATE TABLE a(b PRIMARY KEY)",
		"CREATE TABLE c(d REFERENCES a DEFERRABLE INITIALLY DEFERRED)"); err != nil {
		t.Fatal(err)
	}
	err := db.Update(func(b *walletdb.Batch) error {
		return errors.Join(b.PutEntry(walletfile.Version(1)), db.Exec("INSERT INTO c VALUES(1)"))
	})
	if !errors.Is(err, walletdb.ErrIO) || !strings.Contains(err.Error(), "COMMIT") {
		t.Errorf("got %v", err)
	}
	if got := records(t, db); len(got) != 0 {
		t.Errorf("records %v", got)
	}
	if err := db.Update(func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Version(1)) }); err != nil {
		t.Error(err)
	}
	if got := records(t, db); len(got) != 1 {
		t.Errorf("records %v", got)
	}
}

// Records that cannot be read to the end are not told as all there are.
func TestRecordsEndEarly(t *testing.T) {
	db := create(t)
	if err := db.Update(func(b *walletdb.Batch) error {
		return errors.Join(b.Put(walletfile.Record{Key: []byte{1}}), b.Put(walletfile.Record{Key: []byte{2}}))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("ALTER TABLE main RENAME TO whole", "CREATE VIEW main AS SELECT key, "+
		"CASE key WHEN x'02' THEN abs(-9223372036854775808) ELSE value END AS value FROM whole"); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Records(); !errors.Is(err, walletdb.ErrIO) || !strings.Contains(err.Error(), "records of") {
		t.Errorf("got %v, %v", got, err)
	}
}

// A file with more records, or longer records, than the limits say is refused as a whole.
func TestLimits(t *testing.T) {
	db := open(t, place(t, "backups", "base"))
	all, size := records(t, db), int64(0)
	for _, r := range all {
		size += int64(len(r.Key) + len(r.Value))
	}
	n := len(all)
	for _, test := range []struct {
		limits walletdb.Limits
		whole  bool
	}{
		{walletdb.Limits{}, true},
		{walletdb.Limits{Records: n}, true},
		{walletdb.Limits{Records: n - 1}, false},
		{walletdb.Limits{Records: 1}, false},
		{walletdb.Limits{Bytes: size}, true},
		{walletdb.Limits{Bytes: size - 1}, false},
		{walletdb.Limits{Records: n, Bytes: size}, true},
		{walletdb.Limits{Records: n - 1, Bytes: size}, false},
		{walletdb.Limits{Records: n, Bytes: size - 1}, false},
	} {
		got, err := db.Within(test.limits)
		if test.whole && (err != nil || !sameRecords(got, all)) ||
			!test.whole && (!errors.Is(err, walletdb.ErrTooLarge) || got != nil) {
			t.Errorf("%+v: %d of %d records, %v", test.limits, len(got), n, err)
		}
	}
}

// Records are told by ascending keys, in whatever order they were written.
func TestOrderOfRecords(t *testing.T) {
	db := create(t)
	if err := db.Update(func(b *walletdb.Batch) error {
		for _, key := range [][]byte{{7}, {1, 2}, {0xff}, {1}, {}, {1, 1, 1}} {
			if err := b.Put(walletfile.Record{Key: key, Value: key}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range records(t, db) {
		keys = append(keys, string(r.Key))
	}
	if !slices.Equal(keys, []string{"", "\x01", "\x01\x01\x01", "\x01\x02", "\x07", "\xff"}) {
		t.Errorf("%q", keys)
	}
}
