package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
)

// FuzzOpen opens a store over an arbitrary segment file, record and tip. It
// must open, serve no filter that does not have its CRC, and go on.
func FuzzOpen(f *testing.F) {
	s, entries := newStore(f, 2)
	file := mustRead(f, s.Segments()[0].Path)
	at := position{0, headerSize}
	value, err := s.keys.db.Get(at.key(), nil)
	if err != nil {
		f.Fatal(err)
	}
	mark := syncMark{end: position{0, headerSize}}
	f.Add(file, at.key(), value, entries[0].Block[:], mark.value())
	f.Add(file[:100], at.key(), value, entries[0].Block[:], mark.value())
	f.Add(file, position{1 << 31, 1 << 31}.key(), value, entries[1].Block[:], mark.value()[:5])
	f.Add([]byte{}, at.key()[:4], value[:100], []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, file, key, value, tip, mark []byte) {
		dir := t.TempDir()
		db, err := leveldb.OpenFile(filepath.Join(dir, "db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		batch := new(leveldb.Batch)
		batch.Put(key, value)
		batch.Put(keyFormat, []byte{formatVersion})
		batch.Put(keyTip, tip)
		batch.Put(keySynced, mark)
		if err := db.Write(batch, nil); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if err := os.WriteFile(segmentPath(dir, 0), file, 0o600); err != nil {
			t.Fatal(err)
		}
		checkFuzzed(t, mustOpen(t, dir))
	})
}

func checkFuzzed(t *testing.T, s *Store) {
	t.Helper()
	for _, sl := range s.catalog.slots {
		var damaged *DamagedError
		e, err := s.ByHash(&sl.block)
		if err != nil && !errors.As(err, &damaged) {
			t.Fatal(err)
		}
		v := s.View()
		var dst [1][]byte
		viewErr := v.Filters(sl.height, []chainhash.Hash{sl.block}, dst[:])
		if (viewErr == nil) != (err == nil) || err == nil && !bytes.Equal(dst[0], e.Filter) {
			t.Fatalf("ByHash: %v, Filters: %v", err, viewErr)
		}
		v.Release()
	}
	for _, info := range s.Segments() {
		_ = s.Verify(t.Context(), info.Number, true)
		_ = s.Rebuild(t.Context(), info.Number, remake)
	}
	height, block, ok := s.Tip()
	entries := []Entry{testEntry(testBlock(2, 0), chainhash.Hash{}, 0)}
	if ok {
		entries = testBranch(Entry{Block: block, Height: height}, 2, 3)
	}
	mustAppend(t, s, entries)
	for _, want := range entries {
		if got, err := s.ByHash(&want.Block); err != nil || !sameEntry(got, want) {
			t.Fatalf("ByHash = %+v, %v", got, err)
		}
	}
}

// FuzzCatalog fills a catalog from arbitrary pairs of the database, of a fixed
// size each. Filters that the catalog takes must not overlap and must be found.
func FuzzCatalog(f *testing.F) {
	const pair = positionSize + recordSize
	var seed []byte
	at := position{0, headerSize}
	for _, e := range testChain(4) {
		r := record{position: at, block: e.Block, prev: e.Prev, height: e.Height, length: uint32(len(e.Filter))}
		seed = append(at.append(seed), r.value()...)
		at.offset += r.length
	}
	f.Add(seed)
	f.Add(append(seed[2*pair:], seed[:3*pair]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c catalog
		var m marks
		for ; len(b) >= pair; b = b[pair:] {
			c.addPair(&m, append(keyFilter[:2:2], b[:positionSize]...), b[positionSize:pair])
		}
		checkCatalog(t, &c)
		c.truncate(len(c.slots) / 2)
		checkCatalog(t, &c)
	})
}

func checkCatalog(t *testing.T, c *catalog) {
	t.Helper()
	filters := 0
	for i, info := range c.segments {
		end := int64(headerSize)
		for _, s := range c.slotsOf(i) {
			if n, ok := c.find(&s.block); !ok || c.slots[n] != s {
				t.Fatalf("find(%v) = %d, %v", s.block, n, ok)
			}
			if int64(s.offset) < end || int(s.segment) != i {
				t.Fatalf("slot %+v in segment %d overlaps the one that ends at %d", s, i, end)
			}
			end = s.end()
			filters++
		}
		if at, ok := c.segmentAt(int(info.number)); info.end != end || !ok || at != i {
			t.Fatalf("segment %+v ends at %d, is found at %d, %v", info, end, at, ok)
		}
	}
	if filters != len(c.slots) {
		t.Fatalf("%d filters in segments, want %d", filters, len(c.slots))
	}
	if tip, ok := c.longest(); ok {
		if _, err := c.branch(&tip); err != nil {
			t.Fatal(err)
		}
	}
}
