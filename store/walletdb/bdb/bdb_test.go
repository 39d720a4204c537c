package bdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
	"github.com/seed61375155/trawl/store/walletdb/bdb"
)

func read(content []byte) ([]bdb.Record, error) {
	return bdb.Records(bytes.NewReader(content), int64(len(content)))
}

// Every record that Berkeley DB has written is read, in either byte order.
func TestRecords(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	seen := walletfile.Locator{*chaincfg.RegressionNetParams.GenesisHash}
	for _, kind := range legacytest.Kinds {
		got, err := read(legacytest.File(t, kind))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		want := legacytest.Make(kind, net, seen).Records
		slices.SortFunc(want, func(a, b walletfile.Record) int { return bytes.Compare(a.Key, b.Key) })
		same := slices.EqualFunc(got, want, func(a bdb.Record, b walletfile.Record) bool {
			return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
		})
		if !same {
			t.Errorf("%s: got %d records, want %d, or others", kind, len(got), len(want))
		}
	}
}

// TestLarge reads what is on many pages: trees of three levels, keys and values that
// take several pages, values of no bytes, all sizes of pages.
func TestLarge(t *testing.T) {
	load, err := exec.LookPath("db5.3_load")
	if err != nil {
		t.Skip("needs db5.3_load of Debian's db5.3-util; TestRecords reads its files without it")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i, size := range []string{"512", "4096", "65536"} {
		for _, order := range []string{"1234", "4321"}[i%2 : i%2+1] {
			want := make(map[string][]byte)
			for range 1_500 {
				value := make([]byte, random.IntN(40))
				key := binary.BigEndian.AppendUint64(nil, random.Uint64())
				switch random.IntN(50) {
				case 0:
					value = make([]byte, random.IntN(50_000))
				case 1:
					key = append(key, make([]byte, random.IntN(5_000))...)
				}
				for i := range value {
					value[i] = byte(random.Uint32())
				}
				want[string(key)] = value
			}
			var records []walletfile.Record
			for key, value := range want {
				records = append(records, walletfile.Record{Key: []byte(key), Value: value})
			}
			content := load5(t, load, order, size, records)
			got, err := read(content)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s %s: %d of %d records: %v", size, order, len(got), len(want), err)
			}
			for _, r := range got {
				if value, ok := want[string(r.Key)]; !ok || !bytes.Equal(r.Value, value) {
					t.Fatalf("%s %s: record %x", size, order, r.Key)
				}
			}
		}
	}
}

func load5(t *testing.T, load, order, size string, records []walletfile.Record) []byte {
	t.Helper()
	var dump strings.Builder
	if err := legacytest.Dump(&dump, records); err != nil {
		t.Fatal(err)
	}
	return legacytest.Load(t, load, order, strings.Replace(dump.String(), "db_pagesize=4096", "db_pagesize="+size, 1))
}

// page is a page of a file of ours, all of which have pages of 4096 bytes.
func page(content []byte, number int) []byte { return content[number*4096 : (number+1)*4096] }

// TestDamaged breaks a file in one place each.
func TestDamaged(t *testing.T) {
	le := binary.LittleEndian
	last := len(legacytest.File(t, "hd"))/4096 - 1
	mainMeta := int(binary.BigEndian.Uint32(entry(page(legacytest.File(t, "hd"), 1), 1)[3:]))
	root := int(le.Uint32(page(legacytest.File(t, "hd"), mainMeta)[88:]))
	tests := []struct {
		name, want string
		spoil      func(content []byte) []byte
	}{
		{"empty", "AutoFile::read: end of file: unspecified iostream_category error", func([]byte) []byte {
			return nil
		}},
		{"short", "AutoFile::read: end of file: unspecified iostream_category error", func(b []byte) []byte {
			return b[:511]
		}},
		{"number of the first page", "Meta page number mismatch", set(8, 1)},
		{"magic", "Not a BDB file", set(12, 0x53163)},
		{"version", "Unsupported BDB data file version number", set(16, 8)},
		{"small pages", "Bad page size", set(20, 256)},
		{"odd pages", "Bad page size", set(20, 4095)},
		{"large pages", "Bad page size", set(20, 131072)},
		{"type", "Unexpected page type, should be 9 (BTree Metadata)", func(b []byte) []byte { b[25] = 8; return b }},
		{"flags", "Unexpected database flags, should only be 0x20 (subdatabases)", set(48, 0x21)},
		{"page missing", "Last page number could not fit in file", func(b []byte) []byte { return b[:len(b)-4096] }},
		{"page too many", "Last page number could not fit in file", func(b []byte) []byte {
			return append(b, page(b, 0)...)
		}},
		{"encrypted", "BDB builtin encryption is not supported", func(b []byte) []byte { b[24] = 1; return b }},
		{"log file", unflushed, func(b []byte) []byte { le.PutUint32(page(b, 1), 1); return b }},
		{"log position", unflushed, func(b []byte) []byte { le.PutUint32(page(b, root)[4:], 2); return b }},
		{"root of the names", "Unexpected outer database root page type", func(b []byte) []byte {
			page(b, 1)[25] = 3
			return b
		}},
		{"names", "Unexpected number of entries in outer database root page", func(b []byte) []byte {
			page(b, 1)[20] = 4
			return b
		}},
		{"name", "Subdatabase has an unexpected name", func(b []byte) []byte {
			entry(page(b, 1), 0)[3] = 'x'
			return b
		}},
		{"length of the place", "Subdatabase page number has unexpected length", func(b []byte) []byte {
			entry(page(b, 1), 1)[0] = 3
			return b
		}},
		{"place", "Page number is greater than database last page", func(b []byte) []byte {
			entry(page(b, 1), 1)[3] = 1
			return b
		}},
		{"inner size", "Unexpected page size", func(b []byte) []byte {
			le.PutUint32(page(b, mainMeta)[20:], 8192)
			return b
		}},
		{"inner last", "Subdatabase last page is greater than database last page", func(b []byte) []byte {
			le.PutUint32(page(b, mainMeta)[32:], uint32(last+1))
			return b
		}},
		{"inner encryption", "BDB builtin encryption is not supported", func(b []byte) []byte {
			page(b, mainMeta)[24] = 1
			return b
		}},
		{"inner root", "AutoFile::read: end of file: unspecified iostream_category error", func(b []byte) []byte {
			le.PutUint32(page(b, mainMeta)[88:], uint32(last+1))
			return b
		}},
		{"number of a page", "Page number mismatch", func(b []byte) []byte { page(b, root)[8]++; return b }},
		{"level", "Bad btree level", func(b []byte) []byte { page(b, root)[24] = 0; return b }},
		{"type of a page", "Unexpected page type", func(b []byte) []byte { page(b, root)[25] = 13; return b }},
		{"a page twice", "A page is used twice", func(b []byte) []byte {
			le.PutUint32(entry(page(b, root), 1)[4:], le.Uint32(entry(page(b, root), 0)[4:]))
			return b
		}},
		{"a loop", "A page is used twice", func(b []byte) []byte {
			le.PutUint32(entry(page(b, root), 1)[4:], uint32(root))
			return b
		}},
		{"inner item", "Unknown record type in internal page", func(b []byte) []byte {
			entry(page(b, root), 0)[2] = 2
			return b
		}},
		{"inner place", "Internal record position not in page", func(b []byte) []byte {
			le.PutUint16(page(b, root)[26:], 4095)
			return b
		}},
		{"place before", "Internal record position not in page", func(b []byte) []byte {
			le.PutUint16(page(b, root)[26:], 20)
			return b
		}},
		{"leaf item", "Unknown record type in records page", func(b []byte) []byte {
			entry(leaf(b, root), 0)[2] = 2
			return b
		}},
		{"leaf place", "Data record position not in page", func(b []byte) []byte {
			le.PutUint16(leaf(b, root)[26:], 4094)
			return b
		}},
		{"leaf length", "Data record position not in page", func(b []byte) []byte {
			le.PutUint16(entry(leaf(b, root), 0), 4096)
			return b
		}},
		{"odd leaf", "Records page has odd number of records", func(b []byte) []byte { leaf(b, root)[20]--; return b }},
		{"a key twice", "Two records have the same key", func(b []byte) []byte {
			le.PutUint16(leaf(b, root)[30:], le.Uint16(leaf(b, root)[26:]))
			return b
		}},
		{"overflow page", "Bad overflow record page type", func(b []byte) []byte {
			it := entry(leaf(b, root), 1)
			it[2] = 3
			le.PutUint32(it[4:], le.Uint32(entry(page(b, root), 1)[4:]))
			return b
		}},
	}
	for _, test := range tests {
		records, err := read(test.spoil(bytes.Clone(legacytest.File(t, "hd"))))
		var refused *bdb.Error
		if !errors.As(err, &refused) || refused.Text != test.want || records != nil {
			t.Errorf("%s: got %d records, %v", test.name, len(records), err)
			continue
		}
		kind := bdb.ErrDamaged
		if test.want == unflushed {
			kind = bdb.ErrUnflushed
		}
		if !errors.Is(err, kind) {
			t.Errorf("%s: kind of %v", test.name, refused.Kind)
		}
	}
}

const unflushed = "LSNs are not reset, this database is not completely flushed. Please reopen then close the " +
	"database with a version that has BDB support"

func set(at int, value uint32) func([]byte) []byte {
	return func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b[at:], value)
		return b
	}
}

// entry is where an item of a page begins.
func entry(page []byte, i int) []byte { return page[binary.LittleEndian.Uint16(page[26+2*i:]):] }

// leaf is the first leaf below a root.
func leaf(content []byte, root int) []byte {
	return page(content, int(binary.LittleEndian.Uint32(entry(page(content, root), 0)[4:])))
}

// An item that is marked as deleted is none, whichever of a pair has the mark; nor are the
// pages below one.
func TestDeleted(t *testing.T) {
	whole, err := read(legacytest.File(t, "hd"))
	if err != nil {
		t.Fatal(err)
	}
	root := int(binary.LittleEndian.Uint32(page(legacytest.File(t, "hd"), 2)[88:]))
	for i := range 2 {
		content := bytes.Clone(legacytest.File(t, "hd"))
		entry(leaf(content, root), i)[2] |= 0x80
		if got, err := read(content); err != nil || len(got) != len(whole)-1 {
			t.Errorf("item %d: %d of %d records, %v", i, len(got), len(whole), err)
		}
	}
	content := bytes.Clone(legacytest.File(t, "hd"))
	gone := int(leaf(content, root)[20]) / 2
	entry(page(content, root), 0)[2] |= 0x80
	if got, err := read(content); err != nil || len(got) != len(whole)-gone {
		t.Errorf("%d of %d records, %v", len(got), len(whole), err)
	}
}

// failing fails to read after some bytes.
type failing struct{ left int64 }

var errDisk = errors.New("disk failed")

func (f failing) ReadAt(_ []byte, at int64) (int, error) {
	if at >= f.left {
		return 0, errDisk
	}
	return 0, nil
}

// A failure of the disk is told as it is.
func TestDiskFails(t *testing.T) {
	if _, err := bdb.Records(failing{}, 8192); !errors.Is(err, errDisk) || errors.Is(err, bdb.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

// FuzzRecords reads arbitrary files. The records are never larger than the file.
func FuzzRecords(f *testing.F) {
	for _, kind := range []string{"blank", "empty", "watching"} {
		f.Add(legacytest.File(f, kind))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		records, err := read(content)
		if err != nil {
			return
		}
		total := 0
		for _, r := range records {
			total += len(r.Key) + len(r.Value)
		}
		if total > len(content) {
			t.Errorf("%d bytes of records in a file of %d", total, len(content))
		}
	})
}
