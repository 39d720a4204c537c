package chaindb

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// An entry of the spend journal becomes undo data of the block's shape, and the undo data
// becomes the entry again. An entry that is torn, or has another number of coins, becomes
// nothing.
func TestUndoOfJournal(t *testing.T) {
	t.Parallel()
	coin, other := []byte{2, 0, 0, 6}, []byte{5, 0, 9, 7, 0x6a}
	run := append(bytes.Clone(other), coin...) // the last first
	undo, err := toUndo(run, []int{1, 0, 1})
	want := []byte{3, 1, 2, 0, 0, 6, 0, 1, 5, 0, 9, 7, 0x6a}
	if err != nil || !bytes.Equal(undo, want) {
		t.Fatalf("%x, want %x: %v", undo, want, err)
	}
	if again, err := fromUndo(undo); err != nil || !bytes.Equal(again, run) {
		t.Errorf("%x, want %x: %v", again, run, err)
	}
	for n := range run {
		for inputs := range 3 {
			_, err := toUndo(run[:n], make([]int, inputs))
			if whole := n == 0; (err == nil) != whole || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes for %d transactions without inputs: %v", n, inputs, err)
			}
			_, err = toUndo(run[:n], []int{inputs})
			whole := n == 0 && inputs == 0 || n == len(other) && inputs == 1
			if (err == nil) != whole || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes for %d inputs: %v", n, inputs, err)
			}
		}
	}
}

// btcd is not told of files that were removed: it would drop what it has of their blocks.
func TestBeenPruned(t *testing.T) {
	t.Parallel()
	if pruned, err := begin(t, prepare(t), false).BeenPruned(); pruned || err != nil {
		t.Errorf("%v, %v", pruned, err)
	}
}

// Closing a database does not return an earlier failure again.
func TestCloseAfterFailure(t *testing.T) {
	t.Parallel()
	disk := faultfs.New()
	o := testOptions(t.TempDir())
	o.FS = disk
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	put := func(tx database.Tx) error { return tx.Metadata().Put([]byte("k"), nil) }
	if err := db.BTCD().Update(put); err != nil {
		t.Fatal(err)
	}
	disk.Inject(faultfs.From(0, syscall.EIO))
	if err := db.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	disk.Inject(nil)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
