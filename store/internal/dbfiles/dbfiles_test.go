package dbfiles

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// made makes a database with some keys, of which some are in a journal and others,
// with tables, in tables.
func made(tb testing.TB, tables bool, compression opt.Compression, keys ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	db, err := leveldb.OpenFile(dir, &opt.Options{Compression: compression})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	for i, key := range keys {
		if err := db.Put([]byte(key), []byte("value of "+key), nil); err != nil {
			tb.Fatal(err)
		}
		if tables && i == len(keys)/2 {
			if err := db.CompactRange(util.Range{}); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return dir
}

func someKeys(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("key %06d", i))
	}
	return keys
}

// Every pair is read, from journals and tables, and no file is changed.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, compression := range []opt.Compression{opt.NoCompression, opt.SnappyCompression} {
		for _, tables := range []bool{false, true} {
			want := someKeys(3000)
			dir := made(t, tables, compression, want...)
			before := contents(t, dir)
			var got []string
			read, all, err := Walk(dir, func(key, value []byte) bool {
				if string(value) != "value of "+string(key) {
					t.Fatalf("value of %s is %q", key, value)
				}
				got = append(got, string(key))
				return true
			})
			if err != nil || read != all || tables != (all > 1) {
				t.Errorf("%d of %d files, %v", read, all, err)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("tables %v: got %d keys", tables, len(got))
			}
			if !slices.Equal(contents(t, dir), before) {
				t.Error("files were changed")
			}
		}
	}
}

func contents(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %x %v", entry.Name(), content, info.ModTime()))
	}
	return all
}

func ours(key, _ []byte) bool { return bytes.HasPrefix(key, []byte("key ")) }

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tables := range []bool{false, true} {
		for _, test := range []struct {
			keys []string
			want Verdict
		}{
			{someKeys(1000), Own},
			{someKeys(1), Own},
			{[]string{"another"}, Foreign},
			{append(someKeys(20), "another"), Own},
			{append(someKeys(1), "another"), Foreign},
			{nil, Empty},
		} {
			dir := made(t, tables, opt.SnappyCompression, test.keys...)
			if got, err := Judge(dir, ours); got != test.want || err != nil {
				t.Errorf("%d keys, tables %v: got %v, %v, want %v", len(test.keys), tables, got, err, test.want)
			}
		}
	}
	if got, err := Judge(filepath.Join(t.TempDir(), "none"), ours); got != Empty || err != nil {
		t.Errorf("no folder: %v, %v", got, err)
	}
}

// The rest of a damaged database is read. A database without any readable pair
// does not count as empty.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := made(t, true, opt.SnappyCompression, someKeys(5000)...)
	for _, name := range []string{"CURRENT", "MANIFEST-000000"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Judge(dir, ours); got != Own || err != nil {
		t.Errorf("without the list of its files: %v, %v", got, err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		if err := os.Truncate(table, 3); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Judge(dir, ours); got != Own || err != nil {
		t.Errorf("without tables: %v, %v", got, err)
	}
	journals, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(journals) == 0 {
		t.Fatal(journals, err)
	}
	for _, journal := range journals {
		if err := os.WriteFile(journal, bytes.Repeat([]byte{7}, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Judge(dir, ours); got != Unknown || err != nil {
		t.Errorf("with nothing: %v, %v", got, err)
	}
}

// Reading a file of any content ends, and takes no more memory than the file has
// bytes, within a small factor.
func FuzzFiles(f *testing.F) {
	dir := made(f, true, opt.SnappyCompression, someKeys(100)...)
	plain := made(f, true, opt.NoCompression, someKeys(100)...)
	for _, pattern := range []string{dir + "/*.ldb", dir + "/*.log", plain + "/*.ldb"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(files, err)
		}
		content, err := os.ReadFile(files[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, walk := range []walk{walkTable, walkJournal} {
			total := 0
			_ = walk(bytes.NewReader(content), int64(len(content)), func(key, value []byte) bool {
				total++
				return total < keysPerFile
			})
		}
	})
}
