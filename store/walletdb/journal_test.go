package walletdb_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// A missing file has no fingerprint.
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

// The fingerprint is of the file, and of the files beside it that are a part of the backup, each with its name.
func TestFingerprint(t *testing.T) {
	content := wallet(t, "default")
	journal, log := crash(t, content, "delete"), crash(t, content, "wal")
	other := crash(t, wallet(t, "base"), "wal")["-wal"]
	for name, test := range map[string]struct {
		left   folder
		hashed [][]byte
	}{
		"alone":           {folder{"": content}, [][]byte{content}},
		"with a journal":  {journal, [][]byte{journal[""], {0}, []byte("-journal"), journal["-journal"]}},
		"with a log":      {log, [][]byte{log[""], {0}, []byte("-wal"), log["-wal"]}},
		"with another's":  {folder{"": content, "-wal": other}, [][]byte{content}},
		"with what ended": {folder{"": content, "-journal": make([]byte, 600)}, [][]byte{content}},
	} {
		sum := sha256.Sum256(slices.Concat(test.hashed...))
		if got, err := walletdb.Fingerprint(test.left.put(t)); got != hex.EncodeToString(sum[:]) || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// A refusal names the files beside the backup that were taken for parts of the backup.
func TestHint(t *testing.T) {
	const journal, log = "'b.dat-journal'", "'b.dat-wal'"
	for _, test := range []struct {
		recovery     walletdb.Recovery
		journal, log bool
	}{
		{walletdb.Recovery{}, false, false},
		{walletdb.Recovery{Others: true}, false, false},
		{walletdb.Recovery{Journal: true}, true, false},
		{walletdb.Recovery{Log: true}, false, true},
		{walletdb.Recovery{Journal: true, Log: true}, true, true},
	} {
		hint := test.recovery.Hint("b.dat")
		if strings.Contains(hint, journal) != test.journal || strings.Contains(hint, log) != test.log ||
			(hint != "") != test.recovery.Any() {
			t.Errorf("%+v: %q", test.recovery, hint)
		}
	}
}

// changing calls change when a copy is begun: before each part of it the context is asked.
type changing struct {
	context.Context
	change func()
}

func (c changing) Err() error {
	c.change()
	return nil
}

// A wallet that somebody writes to while it is copied, with files beside it, is no backup.
func TestRestoreOfWhatIsWritten(t *testing.T) {
	for _, suffix := range []string{"", "-journal", "-wal"} {
		source := crash(t, wallet(t, "default"), "delete").put(t)
		path := filepath.Join(t.TempDir(), walletdb.FileName)
		ctx := changing{t.Context(), sync.OnceFunc(func() {
			content, err := os.ReadFile(source + suffix)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				err = os.WriteFile(source+suffix, append(content, 0), 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		})}
		err := walletdb.Restore(ctx, source, path, options, func(*walletdb.Staged) error {
			t.Error("checked")
			return nil
		})
		if !errors.Is(err, walletdb.ErrJournal) || !strings.Contains(err.Error(), "written to by another program") {
			t.Errorf("%s: %v", suffix, err)
		}
	}
}

// A copy that cannot be made whole is refused, with a hint at the files beside its source. No file is left.
func TestRestoreOfWhatIsNotWhole(t *testing.T) {
	source := folder{"": bytes.Repeat([]byte("no database"), 500), "-journal": []byte("no journal")}.put(t)
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	err := restore(source, path, func(string) error { t.Error("checked"); return nil })
	var refused *walletdb.Error
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), source+"-journal' was taken for a part") {
		t.Errorf("got %v", err)
	}
	if got := files(t, path); len(got) != 0 {
		t.Errorf("files %q", got)
	}
}

// Inspecting takes as many bytes as the limit says, of all files together.
func TestInspectLimit(t *testing.T) {
	left := crash(t, wallet(t, "default"), "delete")
	source, size := left.put(t), int64(len(left[""])+len(left["-journal"]))
	for limit, want := range map[int64]error{size: nil, size - 1: walletdb.ErrTooLarge, 0: walletdb.ErrTooLarge} {
		looked := false
		recovery, err := walletdb.Inspect(t.Context(), source, t.TempDir(), limit, options, func(path string) error {
			looked = path != source
			return nil
		})
		if !errors.Is(err, want) || looked != (want == nil) || recovery.Journal != looked {
			t.Errorf("limit %d: looked %v, %+v, %v", limit, looked, recovery, err)
		}
	}
	alone := folder{"": left[""]}.put(t)
	_, err := walletdb.Inspect(t.Context(), alone, t.TempDir(), 0, options, func(path string) error {
		if path != alone {
			t.Errorf("a copy is looked at")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
