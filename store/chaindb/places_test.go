package chaindb

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A part of a block is read where the block lies now: a block whose file was pruned is gone, and
// is there again when it is stored again. Used equals the bytes that the files hold, after each
// of these steps and when the database is opened.
func TestPlaces(t *testing.T) {
	t.Parallel()
	db, l := pruned(t)
	check := func(hash *chainhash.Hash, want error) {
		t.Helper()
		raw := l.blocks[*hash]
		for range 2 { // from memory the second time
			part, err := db.BlockPart(hash, 90, 7)
			if !errors.Is(err, want) || want == nil && !bytes.Equal(part, raw[90:97]) {
				t.Errorf("block %v: %x, %v, want %v", hash, part, err, want)
			}
		}
	}
	used := func() {
		t.Helper()
		_, want := db.Files()
		if got := db.Used(); got != want || want == 0 {
			t.Errorf("%d bytes are used, the files have %d", got, want)
		}
	}
	used()
	for i := range l.order {
		var want error
		if l.gone[l.order[i]] {
			want = ErrPruned
		}
		check(&l.order[i], want)
	}
	files, before := db.Files()
	next := files[0]
	for i := range next.Blocks {
		check(&next.Blocks[i], nil)
	}
	if err := db.Prune([]int{next.Number}); err != nil {
		t.Fatal(err)
	}
	used()
	if _, after := db.Files(); after != before-next.Size {
		t.Errorf("%d bytes less after a file of %d", before-after, next.Size)
	}
	for i := range next.Blocks {
		check(&next.Blocks[i], ErrPruned)
	}
	again := next.Blocks[0]
	change := &Change{Blocks: []NewBlock{{again, l.blocks[again]}}}
	if err := db.Commit(change); err != nil {
		t.Fatal(err)
	}
	check(&again, nil)
	used()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, db.o)
	check(&again, nil)
	used()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A place that was looked up before a block was stored again is not remembered afterwards.
// As many places are remembered as there is room for.
func TestPlacesForget(t *testing.T) {
	var p places
	hash := chainhash.Hash{1}
	moment := p.now()
	p.put(&hash, &location{file: 1}, moment)
	if l := p.get(&hash); l == nil || l.file != 1 {
		t.Errorf("%+v", l)
	}
	p.forget(&hash)
	if l := p.get(&hash); l != nil {
		t.Errorf("forgotten: %+v", l)
	}
	p.put(&hash, &location{file: 1}, moment)
	if l := p.get(&hash); l != nil {
		t.Errorf("what was looked up before: %+v", l)
	}
	for i := range 3 * mostPlaces {
		p.put(&chainhash.Hash{2, byte(i), byte(i >> 8)}, &location{}, p.now())
		if len(p.known) > mostPlaces {
			t.Fatalf("%d blocks are remembered", len(p.known))
		}
	}
	if len(p.known) != mostPlaces {
		t.Errorf("%d blocks are remembered", len(p.known))
	}
}
