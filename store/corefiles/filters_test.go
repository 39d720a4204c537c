package corefiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// filterRecord is a filter as Core stores it.
func filterRecord(block chainhash.Hash, filter []byte) []byte {
	r := append([]byte(nil), block[:]...)
	switch n := len(filter); {
	case n < 0xfd:
		r = append(r, byte(n))
	case n < 1<<16:
		r = binary.LittleEndian.AppendUint16(append(r, 0xfd), uint16(n))
	default:
		r = binary.LittleEndian.AppendUint32(append(r, 0xfe), uint32(n))
	}
	return append(r, filter...)
}

func hashOf(n int) chainhash.Hash { return chainhash.DoubleHashH([]byte{byte(n), byte(n >> 8)}) }

// filterOf has lengths of one, two and four bytes.
func filterOf(n int) []byte {
	return bytes.Repeat([]byte{byte(n)}, 1+n%7*60+n%50/49*70000)
}

// writeFilters makes a file of records and returns its directory.
func writeFilters(tb testing.TB, dir string, number int, content []byte) {
	tb.Helper()
	folder := filepath.Join(dir, filepath.FromSlash(filterDir))
	err := errors.Join(
		os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, filterFile(number)), content, 0o600),
	)
	if err != nil {
		tb.Fatal(err)
	}
}

func openFilters(tb testing.TB, dir string) *FilterDir {
	tb.Helper()
	d, err := OpenFilters(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

func wantFilter(tb testing.TB, d *FilterDir, n int, want []byte) {
	tb.Helper()
	block := hashOf(n)
	got, err := d.Filter(&block)
	if want == nil && !errors.Is(err, ErrNotHere) || want != nil && (err != nil || !bytes.Equal(got, want)) {
		tb.Errorf("filter %d: %d bytes, %v; want %d", n, len(got), err, len(want))
	}
}

// All filters of all files are returned; if a filter was written twice, the last.
func TestFilters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const each = 120
	for number := range 3 {
		var content []byte
		for n := number * each; n < (number+1)*each; n++ {
			content = append(content, filterRecord(hashOf(n), filterOf(n))...)
		}
		if number == 2 { // what is left of the space that was asked for
			content = append(append(content, filterRecord(hashOf(5), []byte("newer"))...), make([]byte, 5000)...)
		}
		writeFilters(t, dir, number, content)
	}
	d := openFilters(t, dir)
	if n, err := d.Refresh(t.Context()); err != nil || n != 3*each+1 {
		t.Fatalf("%d filters, %v", n, err)
	}
	for n := range 3 * each {
		want := filterOf(n)
		if n == 5 {
			want = []byte("newer")
		}
		wantFilter(t, d, n, want)
	}
	wantFilter(t, d, 3*each, nil)

	writeFilters(t, dir, 3, filterRecord(hashOf(3*each), []byte{1, 2}))
	wantFilter(t, d, 3*each, nil)
	if n, err := d.Refresh(t.Context()); err != nil || n != 3*each+2 {
		t.Fatalf("%d filters, %v", n, err)
	}
	wantFilter(t, d, 3*each, []byte{1, 2})
	if err := os.Remove(filepath.Join(dir, filterDir, filterFile(3))); err != nil {
		t.Fatal(err)
	}
	wantFilter(t, d, 3*each, nil)
}

// Bytes that are no record end a file, and a missing or irregular file has no
// filters.
func TestNoFilters(t *testing.T) {
	t.Parallel()
	good := filterRecord(hashOf(1), []byte{1, 2, 3})
	for name, tail := range map[string][]byte{
		"nothing":       {},
		"zeros":         make([]byte, 100),
		"cut":           filterRecord(hashOf(2), filterOf(3))[:60],
		"cut in hash":   good[:20],
		"no length":     good[:32],
		"empty":         filterRecord(hashOf(2), nil),
		"too long":      append(append([]byte{}, good[:32]...), 0xfe, 0, 0, 0, 0xff),
		"64-bit length": append(append([]byte{}, good[:32]...), 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 9),
	} {
		dir := t.TempDir()
		writeFilters(t, dir, 0, append(append([]byte{}, good...), tail...))
		d := openFilters(t, dir)
		if n, err := d.Refresh(t.Context()); err != nil || n != 1 {
			t.Errorf("%s: %d filters, %v", name, n, err)
		}
		wantFilter(t, d, 1, []byte{1, 2, 3})
		wantFilter(t, d, 2, nil)
	}
	if _, err := OpenFilters(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without an index: %v", err)
	}

	outside, dir := t.TempDir(), t.TempDir()
	writeFilters(t, outside, 0, good)
	writeFilters(t, dir, 7, good)
	folder := filepath.Join(dir, filepath.FromSlash(filterDir))
	err := errors.Join(
		os.Symlink(filepath.Join(outside, filterDir, filterFile(0)), filepath.Join(folder, filterFile(1))),
		syscall.Mkfifo(filepath.Join(folder, filterFile(2)), 0o600),
		os.Mkdir(filepath.Join(folder, filterFile(3)), 0o700),
	)
	if err != nil {
		t.Fatal(err)
	}
	d := openFilters(t, dir)
	if n, err := d.Refresh(t.Context()); err != nil || n != 1 {
		t.Errorf("links and pipes: %d filters, %v", n, err)
	}
	if err := os.Rename(filepath.Join(dir, "indexes"), filepath.Join(dir, "was")); err == nil {
		err = os.Symlink(filepath.Join(outside, "indexes"), filepath.Join(dir, "indexes"))
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenFilters(dir); err == nil {
		t.Error("a link that leads out of the directory is followed")
	}
}

// Files that change between two reads are no reason for other bytes than a filter's.
func TestFiltersWrittenOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFilters(t, dir, 0, append(filterRecord(hashOf(1), []byte{1, 2, 3}), filterRecord(hashOf(2), []byte{4})...))
	d := openFilters(t, dir)
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	writeFilters(t, dir, 0, filterRecord(hashOf(2), []byte{5, 6, 7, 8}))
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, filterDir, filterFile(0)), later, later); err != nil {
		t.Fatal(err)
	}
	wantFilter(t, d, 1, nil)
	wantFilter(t, d, 2, nil)
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantFilter(t, d, 1, nil)
	wantFilter(t, d, 2, []byte{5, 6, 7, 8})
}

func FuzzFilters(f *testing.F) {
	f.Add(append(filterRecord(hashOf(1), []byte{1, 2, 3}), filterRecord(hashOf(2), filterOf(49))...))
	f.Add(filterRecord(hashOf(1), filterOf(6))[:100])
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		writeFilters(t, dir, 0, content)
		d := openFilters(t, dir)
		n, err := d.Refresh(t.Context())
		if err != nil || n > len(content)/34 {
			t.Fatalf("%d filters in %d bytes, %v", n, len(content), err)
		}
		if len(content) < chainhash.HashSize {
			return
		}
		first := chainhash.Hash(content)
		filter, err := d.Filter(&first)
		if err == nil && !bytes.Contains(content, filterRecord(first, filter)[chainhash.HashSize+1:]) {
			t.Fatalf("a filter that is not there: %x", filter)
		}
	})
}
