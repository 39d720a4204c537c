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

func write(t testing.TB, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// flip changes a bit of a file.
func flip(t testing.TB, path string, at int) {
	t.Helper()
	raw := read(t, path)
	raw[at] ^= 4
	write(t, path, raw)
}

// first returns the first file with such a name.
func first(t testing.TB, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	return files[0]
}

func remove(t testing.TB, dir, pattern string) {
	t.Helper()
	if err := os.Remove(first(t, dir, pattern)); err != nil {
		t.Fatal(err)
	}
}

// exchange gives two tables each other's names.
func exchange(t testing.TB, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.tab"))
	if len(files) < 2 {
		t.Fatalf("tables: %v", files)
	}
	a, b := read(t, files[0]), read(t, files[1])
	write(t, files[0], b)
	write(t, files[1], a)
}

// newer makes a manifest of a later version.
func newer(t testing.TB, dir string) {
	t.Helper()
	path := filepath.Join(dir, "manifest")
	raw := read(t, path)
	raw[8]++
	n := len(raw) - 4
	binary.LittleEndian.PutUint32(raw[n:], crc32.Checksum(raw[:n], crc32.MakeTable(crc32.Castagnoli)))
	write(t, path, raw)
}
