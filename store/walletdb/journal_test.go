package walletdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/store/walletdb"
)

// Sizes in the journals of these tests, in bytes.
const (
	sectorSize = 512
	pageSize   = 4096
	recordHead = 4 + 100 // number of a page and the head of the first
)

// isOthers reports whether a journal is taken for that of another file than the one with some content.
func isOthers(t *testing.T, content, journal []byte) bool {
	t.Helper()
	source := folder{"": content, "-journal": journal}.put(t)
	accept := func(string) error { return nil }
	recovery, err := walletdb.Inspect(t.Context(), source, t.TempDir(), 1<<30, options, accept)
	return err == nil && recovery == walletdb.Recovery{Others: true}
}

// Whether a journal is another file's is told by the first page in it, in whichever of its parts that is, and
// wherever the journal ends behind the head of the page.
func TestFirstPageOfJournal(t *testing.T) {
	content := wallet(t, "default")
	late := crash(t, later(t, content), "delete", firstPage)["-journal"]
	head, page := late[:sectorSize], late[sectorSize:sectorSize+4+pageSize+4]
	if binary.BigEndian.Uint32(head[20:]) != sectorSize || binary.BigEndian.Uint32(page) != 1 {
		t.Fatalf("the journal begins with %x", late[:sectorSize+4])
	}
	part := func(records uint32, page []byte) []byte {
		head := bytes.Clone(head)
		binary.BigEndian.PutUint32(head[8:], records)
		return append(head, bytes.Repeat(page, int(records))...)
	}
	other := bytes.Clone(page)
	binary.BigEndian.PutUint32(other, 2)
	if !isOthers(t, content, late) {
		t.Error("a whole journal is not told from the file's own")
	}
	for _, records := range []uint32{1, 2, 63, 64, 65, 128} {
		journal := part(records, other)
		journal = append(journal, make([]byte, -len(journal)&(sectorSize-1))...)
		if journal = append(journal, part(1, page)...); !isOthers(t, content, journal) {
			t.Errorf("the first page is not found behind %d others", records)
		}
	}
	for more := range 2 {
		if !isOthers(t, content, late[:sectorSize+recordHead+more]) {
			t.Errorf("the first page is not found with %d bytes behind its head", more)
		}
	}
}

// A journal may make a file of 1 GiB and four times its size.
func TestJournalOfLargeFile(t *testing.T) {
	left := crash(t, wallet(t, "default"), "delete", firstPage)
	most := uint32((1<<30 + 4*len(left[""])) / pageSize)
	for pages, want := range map[uint32]error{1: nil, most: nil, most + 1: walletdb.ErrJournal} {
		binary.BigEndian.PutUint32(left["-journal"][16:], pages)
		if _, err := walletdb.Fingerprint(left.put(t)); !errors.Is(err, want) {
			t.Errorf("%d pages: %v", pages, err)
		}
	}
}

// What cannot be read has no fingerprint.
func TestFingerprintOfNothing(t *testing.T) {
	sum, err := walletdb.Fingerprint(filepath.Join(t.TempDir(), "none"))
	if sum != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q, %v", sum, err)
	}
}

// A copy that cannot be removed after it was inspected is told of.
func TestInspectedCopyStays(t *testing.T) {
	source, dir := crash(t, wallet(t, "default"), "delete").put(t), t.TempDir()
	recovery, err := walletdb.Inspect(t.Context(), source, dir, 1<<30, options, func(path string) error {
		return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "kept"), 0o700))
	})
	if err == nil || !recovery.Journal {
		t.Errorf("%+v, %v", recovery, err)
	}
	if left := files(t, filepath.Join(dir, "any")); len(left) != 1 || slices.Contains(left, walletdb.FileName) {
		t.Errorf("left: %q", left)
	}
}
