package chaindb

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// A look tells the network of a database, and which block files are its own.
func TestLook(t *testing.T) {
	t.Parallel()
	own, other := settled(t), newLife(t)
	otherOptions := other.options(nil)
	db := open(t, otherOptions)
	if err := errors.Join(other.makeBuckets(db), other.commit(8)(db), db.Close()); err != nil {
		t.Fatal(err)
	}
	whole := Finding{Whose: dbfiles.Own, Magic: regtestMagic, HasMagic: true}
	for _, tc := range []struct {
		dir     string
		details bool
		blocks  string
		want    Finding
		fits    bool
	}{
		{own.Dir, true, own.BlocksDir, whole, true},
		{own.Dir, true, otherOptions.BlocksDir, whole, false},
		{own.Dir, false, own.BlocksDir, Finding{Whose: dbfiles.Own}, false},
		{otherOptions.Dir, true, otherOptions.BlocksDir, whole, true},
		{own.BlocksDir + ".none", true, own.BlocksDir, Finding{Whose: dbfiles.Empty}, false},
	} {
		got, err := Look(tc.dir, tc.details)
		if err != nil || got.Whose != tc.want.Whose || got.Magic != tc.want.Magic || got.HasMagic != tc.want.HasMagic {
			t.Errorf("%s: %v %x %v, %v", tc.dir, got.Whose, got.Magic, got.HasMagic, err)
		}
		if fits, err := got.Fits(tc.blocks); fits != tc.fits || err != nil {
			t.Errorf("%s fits %s: %v, %v", tc.dir, tc.blocks, fits, err)
		}
	}
}

// The form that a pair must have to tell the network.
func TestNote(t *testing.T) {
	t.Parallel()
	format := append([]byte{formatVersion}, regtestMagic[:]...)
	for name, tc := range map[string]struct {
		key, value []byte
		tells      bool // of the network
		many       bool
	}{
		"the format":        {formatKey, format, true, false},
		"a longer value":    {formatKey, append(format, 0), false, false},
		"a shorter value":   {formatKey, format[:4], false, false},
		"a longer key":      {append(formatKey, 0), format, false, false},
		"another key":       {syncedKey, format, false, false},
		"an item of btcd's": {append([]byte{prefixItem}, 0, 0, 0, 1), format, false, true},
	} {
		var f Finding
		if many := !f.note(tc.key, tc.value); f.HasMagic != tc.tells || many != tc.many ||
			tc.tells && f.Magic != regtestMagic {
			t.Errorf("%s: %v %x, many %v", name, f.HasMagic, f.Magic, many)
		}
	}
}

// Of the blocks that a database knows a look keeps some, by whole pairs.
func TestNotedBlocks(t *testing.T) {
	t.Parallel()
	value := (&location{file: 1, length: 90}).encode()
	var f Finding
	for n := range someBlocks + 5 {
		hash := chainhash.Hash{byte(n), byte(n >> 8)}
		for _, key := range [][]byte{
			hashKey(prefixUndo, &hash), hashKey(prefixBlock, &hash)[:32], append(hashKey(prefixBlock, &hash), 0),
		} {
			if f.note(key, value); len(f.blocks) != min(n, someBlocks) {
				t.Fatalf("%x is taken for a block", key)
			}
		}
		if f.blocks == nil {
			f.blocks = map[chainhash.Hash]*location{}
		}
		if f.note(hashKey(prefixBlock, &hash), value); len(f.blocks) != min(n+1, someBlocks) {
			t.Fatalf("%d of %d blocks are kept", len(f.blocks), n+1)
		}
	}
}

// A row of the set of unspent outputs is read with its key; what cannot be one is damage.
func TestParseCoin(t *testing.T) {
	t.Parallel()
	id := chainhash.Hash{1, 2, 3}
	key := blockfile.AppendOutputIndex(id[:], 300)
	value := blockfile.AppendUnspent(nil, blockfile.Coin{Height: 7, Coinbase: true, Amount: 5000, Script: []byte{0x51}})
	var coin Coin
	if err := coin.Parse(key, value); err != nil || coin.Out.Hash != id || coin.Out.Index != 300 || coin.Height != 7 ||
		!coin.Coinbase || coin.Amount != 5000 {
		t.Errorf("%+v, %v", coin, err)
	}
	for n := range key {
		if err := new(Coin).Parse(key[:n], value); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a key of %d bytes: %v", n, err)
		}
	}
	for n := range value {
		if err := new(Coin).Parse(key, value[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a value of %d bytes: %v", n, err)
		}
	}
}

// Whichever call at the end of a reload fails: that is told, and the reload is not over.
func TestReloadDoneFails(t *testing.T) {
	t.Parallel()
	for n, all := 0, 0; n <= all; n++ {
		l := newLife(t)
		db := open(t, l.options(nil))
		if err := errors.Join(l.makeBuckets(db), l.commit(6)(db), db.Close(), Rebuild(l.options(nil))); err != nil {
			t.Fatal(err)
		}
		disk := faultfs.New()
		o := l.options(disk)
		o.writeBuffer = 0
		db, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			disk.Inject(func(faultfs.Op) error { all++; return nil })
			if err := db.ReloadDone(); err != nil || db.Reloading() || all < 3 {
				t.Fatalf("%d calls: %v", all, err)
			}
			disk.Inject(nil)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, l.options(nil))
			if again.Reloading() {
				t.Error("the end of the reload is forgotten")
			}
			continue
		}
		disk.Inject(faultfs.Nth(n-1, syscall.EIO))
		if err := db.ReloadDone(); !errors.Is(err, syscall.EIO) || !db.Reloading() {
			t.Errorf("call %d: %v", n-1, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		l.checkBlocks(t, reloaded(t, l.options(nil)), l.order)
	}
}

// reloaded opens a database, and feeds what is to be fed.
func reloaded(t *testing.T, o Options) *DB {
	t.Helper()
	db := open(t, o)
	if err := reloadAll(db); err != nil {
		t.Fatal(err)
	}
	return db
}

// A look changes nothing.
func TestLookReads(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	if _, err := Look(dir, true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}
