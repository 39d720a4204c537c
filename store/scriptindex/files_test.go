package scriptindex_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func write(tb testing.TB, path string, raw []byte) {
	tb.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// flip changes a bit of a file.
func flip(tb testing.TB, path string, at int) {
	tb.Helper()
	raw := read(tb, path)
	raw[at] ^= 4
	write(tb, path, raw)
}

// first returns the first file with such a name.
func first(tb testing.TB, dir, pattern string) string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no file %s: %v", pattern, err)
	}
	return files[0]
}

func remove(tb testing.TB, dir, pattern string) {
	tb.Helper()
	if err := os.Remove(first(tb, dir, pattern)); err != nil {
		tb.Fatal(err)
	}
}

// exchange gives two tables each other's names.
func exchange(tb testing.TB, dir string) {
	tb.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.tab"))
	if len(files) < 2 {
		tb.Fatalf("tables: %v", files)
	}
	a, b := read(tb, files[0]), read(tb, files[1])
	write(tb, files[0], b)
	write(tb, files[1], a)
}

// newer makes a manifest of a later version.
func newer(tb testing.TB, dir string) {
	tb.Helper()
	path := filepath.Join(dir, "manifest")
	raw := read(tb, path)
	raw[8]++
	n := len(raw) - 4
	binary.LittleEndian.PutUint32(raw[n:], crc32.Checksum(raw[:n], crc32.MakeTable(crc32.Castagnoli)))
	write(tb, path, raw)
}
