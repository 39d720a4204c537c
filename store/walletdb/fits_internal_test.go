package walletdb

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// A testHead is what a test's database says of itself.
type testHead struct {
	pageSize                 uint16 // as it is stored
	counter, pages, validFor uint32
	format                   byte
}

func (h testHead) bytes() []byte {
	b := append(bytes.Clone(sqliteMagic), make([]byte, sqliteHeadSize-len(sqliteMagic))...)
	binary.BigEndian.PutUint16(b[sqlitePageSizeAt:], h.pageSize)
	b[sqliteReadFormatAt] = h.format
	binary.BigEndian.PutUint32(b[sqliteCounterAt:], h.counter)
	binary.BigEndian.PutUint32(b[sqlitePagesAt:], h.pages)
	binary.BigEndian.PutUint32(b[sqliteValidForAt:], h.validFor)
	return b
}

// journalPart is a head of a journal, as long as a sector, and pages of the given numbers behind it. The first page
// has the counter of its head.
func journalPart(records, pages, sector, pageSize, counter uint32, numbers ...uint32) []byte {
	b := append(bytes.Clone(journalMagic), make([]byte, max(sector, journalHeadSize)-8)...)
	for at, n := range map[int]uint32{
		journalRecordsAt: records, journalPagesAt: pages, journalSectorAt: sector, journalPageAt: pageSize,
	} {
		binary.BigEndian.PutUint32(b[at:], n)
	}
	for _, number := range numbers {
		page := make([]byte, pageSize)
		if copy(page, (testHead{counter: 1 << 20}).bytes()); number == 1 {
			copy(page, testHead{counter: counter}.bytes())
		}
		b = append(append(binary.BigEndian.AppendUint32(b, number), page...), 0, 0, 0, 0)
	}
	return b
}

// padded fills up the last sector of a part.
func padded(part []byte, sector int) []byte {
	return append(bytes.Clone(part), make([]byte, -len(part)&(sector-1))...)
}

// A journal is another database's if its pages have another size, or its first page is not just as old. A journal
// without the first page is another's if it tells another number of pages. Others may be the database's own.
func TestJournalFits(t *testing.T) {
	db := testHead{pageSize: 512, counter: 7, pages: 20, validFor: 7, format: rollbackFormat}
	unknown, large := db, db
	unknown.validFor, large.pageSize = 6, 1
	first := func(counter uint32) []byte { return journalPart(1, 99, 512, 512, counter, 1) }
	behind := func(n int) []uint32 { return append(bytes32(n), 1) }
	whole, two := first(99), journalPart(2, 20, 512, 512, 0, 2, 3)
	for name, test := range map[string]struct {
		db      testHead
		journal []byte
		want    bool
	}{
		"no journal":                  {db, make([]byte, 600), true},
		"a part of a head":            {db, whole[:27], true},
		"a head alone":                {db, journalPart(0, 20, 512, 512, 0)[:28], true},
		"a head of other pages":       {db, journalPart(0, 21, 512, 512, 0)[:28], false},
		"pages of another size":       {db, journalPart(1, 20, 512, 1024, 7, 1), false},
		"the largest pages":           {large, journalPart(1, 20, 512, 1<<16, 7, 1), true},
		"not the largest pages":       {large, journalPart(1, 20, 512, 1<<15, 7, 1), false},
		"its first page":              {db, first(7), true},
		"its first page before":       {db, first(6), true},
		"long before":                 {db, first(5), false},
		"a later first page":          {db, first(8), false},
		"the head of its first page":  {db, whole[:512+104], false},
		"less than that":              {db, journalPart(1, 20, 512, 512, 99, 1)[:512+103], true},
		"as many pages":               {db, journalPart(1, 20, 512, 512, 0, 2), true},
		"other pages":                 {db, journalPart(1, 21, 512, 512, 0, 2), false},
		"nobody knows how many":       {unknown, journalPart(1, 21, 512, 512, 0, 2), true},
		"the last page":               {db, journalPart(20, 20, 512, 512, 99, behind(19)...), false},
		"behind the last":             {db, journalPart(19, 20, 512, 512, 99, behind(19)...), true},
		"of a number that lacks":      {db, journalPart(0, 20, 512, 512, 99, behind(19)...), false},
		"a second part without":       {db, append(journalPart(0, 20, 512, 512, 0, 2, 3), first(99)...), true},
		"the smallest sector":         {db, journalPart(1, 20, 28, 512, 99, 1), false},
		"a sector that is too small":  {db, journalPart(1, 20, 27, 512, 99, 1), true},
		"the largest sector":          {db, journalPart(1, 20, maxSector, 512, 99, 1), false},
		"a sector that is too large":  {db, journalPart(1, 20, maxSector+1, 512, 99, 1), true},
		"a second part":               {db, append(padded(two, 512), first(99)...), false},
		"a second part, not anywhere": {db, append(bytes.Clone(two), first(99)...), true},
		"a second part of its own":    {db, append(padded(two, 512), first(7)...), true},
	} {
		path := filepath.Join(t.TempDir(), FileName)
		writeFiles(t, map[string][]byte{path: test.db.bytes(), path + journalSuffix: test.journal})
		if got, err := fits(path, journalSuffix); got != test.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// bytes32 are n numbers of pages from 2 on.
func bytes32(n int) (numbers []uint32) {
	for i := range n {
		numbers = append(numbers, uint32(i)+2)
	}
	return numbers
}

func writeFiles(t *testing.T, files map[string][]byte) {
	t.Helper()
	for path, content := range files {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// No file is another's beside a missing file or a file that is no database. A database with a journal has no log.
func TestFitsWhatever(t *testing.T) {
	db := testHead{pageSize: 512, counter: 7, format: rollbackFormat}
	logged := db
	logged.format = rollbackFormat + 1
	other := journalPart(1, 20, 512, 512, 99, 1)
	for name, test := range map[string]struct {
		db, journal, log []byte
		fits, logFits    bool
	}{
		"none":                 {nil, other, other, true, true},
		"alone":                {db.bytes(), nil, nil, true, true},
		"less than a head":     {db.bytes()[:99], other, other, true, true},
		"no database":          {make([]byte, 100), other, other, true, true},
		"with a journal":       {db.bytes(), other, other, false, false},
		"with a log":           {logged.bytes(), other, other, false, true},
		"a journal of nothing": {db.bytes(), []byte{}, []byte{}, true, false},
	} {
		path := filepath.Join(t.TempDir(), FileName)
		for suffix, content := range map[string][]byte{"": test.db, journalSuffix: test.journal, walSuffix: test.log} {
			if content != nil {
				writeFiles(t, map[string][]byte{path + suffix: content})
			}
		}
		for suffix, want := range map[string]bool{journalSuffix: test.fits, walSuffix: test.logFits} {
			if got, err := fits(path, suffix); got != want || err != nil {
				t.Errorf("%s: %s: %v, %v", name, suffix, got, err)
			}
		}
	}
}

// A log is hot behind its head, a journal by its first byte.
func TestIsHot(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	for _, test := range []struct {
		journal, log    []byte
		isHot, isLogHot bool
	}{
		{[]byte{}, []byte{}, false, false},
		{[]byte{1}, []byte{1}, true, false},
		{[]byte{0, 1}, make([]byte, walHeadSize), false, false},
		{[]byte{1, 0}, make([]byte, walHeadSize+1), true, true},
	} {
		writeFiles(t, map[string][]byte{path + journalSuffix: test.journal, path + walSuffix: test.log})
		for suffix, want := range map[string]bool{journalSuffix: test.isHot, walSuffix: test.isLogHot} {
			if got, err := isHot(path, suffix); got != want || err != nil {
				t.Errorf("%d and %d bytes: %s: %v, %v", len(test.journal), len(test.log), suffix, got, err)
			}
		}
	}
	if got, err := isHot(path+"none", walSuffix); got || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
}

// A journal names another if it ends with the other's mark.
func TestCheckNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	for _, test := range []struct {
		content []byte
		refused bool
	}{
		{nil, false},
		{journalMagic[1:], false},
		{journalMagic, true},
		{append([]byte{1}, journalMagic...), true},
		{append(bytes.Clone(journalMagic), 1), false},
	} {
		writeFiles(t, map[string][]byte{path: test.content})
		if err := checkNames(path); (err != nil) != test.refused {
			t.Errorf("%x: %v", test.content, err)
		}
	}
}

// A file beside a database may be as large as the limit, and may make the database as large.
func TestCheckRecovery(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	journal := journalPart(1, 100, 512, 512, 0, 1)
	huge := journalPart(1, 2, 512, 512, 0)
	binary.BigEndian.PutUint32(huge[journalPageAt:], 1<<30) // no page is so large
	for _, test := range []struct {
		suffix  string
		content []byte
		size    int64
	}{
		{walSuffix, journal, int64(len(journal))},
		{journalSuffix, journal, 100 * 512},
		{journalSuffix, journalPart(1, 1, 512, 512, 0, 1), 512 + 520},
		{journalSuffix, append([]byte{0}, journal...), 1 + int64(len(journal))},
		{journalSuffix, journal[:20], 20},
		{journalSuffix, huge, 2 << 16},
	} {
		writeFiles(t, map[string][]byte{path + test.suffix: test.content})
		if err := checkRecovery(path, test.suffix, test.size); err != nil {
			t.Errorf("%d bytes of %s: %v", test.size, test.suffix, err)
		}
		if err := checkRecovery(path, test.suffix, test.size-1); err == nil {
			t.Errorf("%d bytes of %s are not refused", test.size, test.suffix)
		}
	}
	if err := checkRecovery(path+"none", walSuffix, 0); err != nil {
		t.Errorf("none: %v", err)
	}
}
