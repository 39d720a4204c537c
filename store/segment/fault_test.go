package segment

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A life is what a store was told, and what of it was acknowledged.
type life struct {
	dir     string
	all     []Entry         // that were given to Append
	stored  []Entry         // that Append acknowledged
	tips    map[string]bool // that may be found: acknowledged last, or tried since
	synced  int             // of stored, what survives a loss of power
	durable map[string]bool // of tips likewise
	failed  bool
}

func newLife(t *testing.T) *life {
	t.Helper()
	none := chainhash.Hash{}.String()
	return &life{dir: filepath.Join(t.TempDir(), "indexes", "basic"), tips: map[string]bool{
		none: true,
	}, durable: map[string]bool{none: true}}
}

// live uses a store in every way that writes, up to the first error, and closes it.
// All acknowledged filters can be read to the end.
func (l *life) live(t *testing.T, fs vfs.FS) {
	t.Helper()
	for round := range 2 {
		s, err := Open(l.options(fs))
		if err != nil {
			l.failed = true
			return
		}
		l.use(t, s, 10*round)
		if n := checkNoWrongBytesOf(t, s, l.stored); n != len(l.stored) {
			t.Fatalf("%d of %d filters can be read", n, len(l.stored))
		}
		if err := s.Close(); err != nil || l.failed {
			l.failed = true
			return
		}
		l.markDurable()
	}
}

// options are those of a store whose keys become tables often.
func (l *life) options(fs vfs.FS) Options {
	return Options{FS: fs, Dir: l.dir, SegmentSize: testSegment, RangeFilters: true, keyBuffer: 2 << 10}
}

func (l *life) use(t *testing.T, s *Store, branch int) {
	t.Helper()
	const rebuilding = 4 // whose failure concerns nobody else
	for i, step := range []func() error{
		func() error { return l.append(s, testChain(1)) },
		func() error { return l.append(s, testBranch(l.before(0), branch+1, 12)) },
		func() error { return l.sync(s) },
		func() error { return l.append(s, testBranch(l.before(4), branch+2, 9)) },
		func() error { return s.Rebuild(t.Context(), s.Segments()[0].Number, remake) },
		func() error { return l.append(s, testBranch(l.before(0), branch+3, 5)) },
		func() error { return l.sync(s) },
		func() error { return l.append(s, testBranch(l.before(2), branch+4, 3)) },
	} {
		if l.failed = step() != nil; !l.failed {
			continue
		}
		if err := s.Sync(); i != rebuilding && !errors.Is(err, ErrFailed) {
			t.Errorf("step %d, a sync after a failure: %v", i, err)
		}
		return
	}
}

// before is the entry that was stored n before the last.
func (l *life) before(n int) Entry { return l.stored[len(l.stored)-1-n] }

// append appends entries and makes the last the tip.
func (l *life) append(s *Store, entries []Entry) error {
	l.all = append(l.all, entries...)
	if err := s.Append(entries); err != nil {
		return err
	}
	l.stored = append(l.stored, entries...)
	tip := entries[len(entries)-1].Block
	l.tips[tip.String()], l.durable[tip.String()] = true, true
	err := s.SetTip(&tip)
	if err == nil {
		l.tips = map[string]bool{tip.String(): true}
	}
	return err
}

func (l *life) sync(s *Store) error {
	err := s.Sync()
	if err == nil {
		l.markDurable()
	}
	return err
}

func (l *life) markDurable() {
	l.synced, l.durable = len(l.stored), map[string]bool{}
	for tip := range l.tips {
		l.durable[tip] = true
	}
}

// check asserts that entries can be read, that no other is read wrongly, and that
// no segment is damaged.
func (l *life) check(t *testing.T, s *Store, entries []Entry) {
	t.Helper()
	checkEntries(t, s, entries)
	checkNoWrongBytesOf(t, s, l.all)
}

// after opens the store on a disk without faults: what was acknowledged is there, and
// more can be stored.
func (l *life) after(t *testing.T, kept []Entry, tips map[string]bool) {
	t.Helper()
	s := l.open(t)
	l.check(t, s, kept)
	if _, tip, _ := s.Tip(); !tips[tip.String()] {
		t.Fatalf("the tip is %v, not one of %v", tip, tips)
	}
	more := append(testChain(1), testBranch(testChain(1)[0], 99, 20)...)
	mustAppend(t, s, more)
	mustClose(t, s)
	s = l.open(t)
	checkEntries(t, s, append(kept, more...))
	checkActive(t, s, more)
	mustClose(t, s)
}

// open opens the store on a disk that never fails and is not waited for.
func (l *life) open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(l.options(faultfs.New()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// calls is how many calls of the file system a life makes that can fail.
func calls(t *testing.T) (n int) {
	t.Helper()
	fs, l := faultfs.New(), newLife(t)
	fs.Inject(func(faultfs.Op) error { n++; return nil })
	if l.live(t, fs); l.failed {
		t.Fatal("the store fails without a fault")
	}
	return n
}

// every is the number of cases to go on by: 1 under TRAWL_SOAK.
func every(n int) int {
	if os.Getenv("TRAWL_SOAK") != "" {
		return 1
	}
	return n
}

// Whichever call fails, once or from then on, or all syncs from then on, nothing acknowledged is lost and
// nothing wrong is read. The store goes on when the disk is well again.
func TestEveryCallFails(t *testing.T) {
	t.Parallel()
	all := calls(t)
	for n := 0; n < all; n += every(23) {
		l := newLife(t)
		fs := faultfs.New()
		fs.Inject(faultfs.Nth(n, syscall.EIO))
		l.live(t, fs)
		l.after(t, l.stored, l.tips)

		l = newLife(t)
		fs = faultfs.New()
		failing := faultfs.From(n, syscall.EIO)
		fs.Inject(func(op faultfs.Op) error {
			if err := failing(op); op.Kind == faultfs.Sync || op.Kind == faultfs.SyncDir {
				return err
			}
			return nil
		})
		l.live(t, fs)
		l.after(t, l.stored, l.tips)

		l = newLife(t)
		fs = faultfs.New()
		full, hit := faultfs.From(n, syscall.ENOSPC), false
		fs.Inject(func(op faultfs.Op) error {
			err := full(op)
			hit = hit || err != nil && op.Kind == faultfs.Sync
			return err
		})
		if l.live(t, fs); hit && !l.failed {
			t.Errorf("call %d: nobody was told that a sync failed", n)
		}
		l.after(t, l.stored, l.tips)
	}
}

// Whenever the power is lost: what was synced is there, and nothing wrong is read.
func TestPowerLossAnywhere(t *testing.T) {
	t.Parallel()
	all := calls(t)
	for seed := uint64(0); seed < 500; seed += uint64(every(14)) {
		r := rand.New(rand.NewPCG(seed, 11))
		l := newLife(t)
		fs := faultfs.New()
		end, noTables := faultfs.From(r.IntN(all), syscall.EIO), r.IntN(2) == 0
		fs.Inject(func(op faultfs.Op) error {
			if noTables && op.Kind == faultfs.Create && filepath.Ext(op.Path) == ".ldb" {
				return syscall.EIO // what is in an old journal stays there
			}
			return end(op)
		})
		l.live(t, fs)
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		l.after(t, l.stored[:l.synced], l.durable)
	}
}

// To open a store that was closed changes none of its segments.
func TestOpenChangesNothing(t *testing.T) {
	t.Parallel()
	dir, fs := t.TempDir(), faultfs.New()
	s := mustOpen(t, dir)
	entries := testChain(60)
	mustAppend(t, s, entries)
	mustClose(t, s)
	fs.Inject(func(op faultfs.Op) error {
		if filepath.Ext(op.Path) == ".dat" && op.Kind != faultfs.Create { // which opens the last segment
			t.Errorf("call %d of %s", op.Kind, op.Path)
		}
		return nil
	})
	s, err := Open(Options{FS: fs, Dir: dir, SegmentSize: testSegment})
	if err != nil {
		t.Fatal(err)
	}
	checkActive(t, s, entries)
	mustClose(t, s)
}

// A sync makes durable what is new, and nothing else: without news it makes no call.
func TestSyncOfNews(t *testing.T) {
	t.Parallel()
	fs, synced, all := faultfs.New(), 0, 0
	s, err := Open(Options{FS: fs, Dir: t.TempDir(), SegmentSize: testSegment})
	if err != nil {
		t.Fatal(err)
	}
	entries := testChain(80)
	fs.Inject(func(op faultfs.Op) error {
		if all++; op.Kind == faultfs.Sync && filepath.Ext(op.Path) == ".dat" {
			synced++
		}
		return nil
	})
	for i, end := range []int{60, 60, 61, 61, 80} {
		if s.Len() < end {
			mustAppend(t, s, entries[:end])
		}
		before := len(s.Segments()) // of which the last is durable in part
		synced, all = 0, 0
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0 && synced != before, i == 2 && (synced < 1 || synced > 2),
			i == 4 && (synced < 2 || synced == before):
			t.Errorf("sync %d: %d of %d segments", i, synced, before)
		case i%2 == 1 && all != 0:
			t.Errorf("sync %d: %d calls without news", i, all)
		}
	}
	mustClose(t, s)
}

// A sync whose mark cannot be written has failed, though all else is on the disk.
func TestMarkFails(t *testing.T) {
	t.Parallel()
	dir, fs := t.TempDir(), faultfs.New()
	s, err := Open(Options{FS: fs, Dir: dir, SegmentSize: testSegment})
	if err != nil {
		t.Fatal(err)
	}
	entries := testChain(20)
	mustAppend(t, s, entries)
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind == faultfs.Write {
			return syscall.EIO
		}
		return nil
	})
	if err := s.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("synced: %v", err)
	}
	fs.Inject(nil)
	if err := s.Sync(); !errors.Is(err, ErrFailed) {
		t.Errorf("then: %v", err)
	}
	_ = s.Close()
	s = mustOpen(t, dir)
	checkActive(t, s, entries)
	mustClose(t, s)
}
