package scriptindex_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/scriptindex"
)

// A chain that grows is found whole: behind the tip, at the tip, joined, and after each restart.
func TestGrows(t *testing.T) {
	o := options(t.TempDir(), nil)
	s := open(t, o)
	var c chain
	c.check(t, s)
	if err := c.add(t, s, 0, 300, 1000); err != nil { // behind the tip
		t.Fatal(err)
	}
	runs := s.State()
	if runs.Tables < 5 || runs.Elements == 0 {
		t.Errorf("behind the tip: %+v", runs)
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	for to := 301; to < 420; to++ {
		if err := c.add(t, s, 0, to, 0); err != nil {
			t.Fatal(err)
		}
		if to%7 == 0 {
			if err := s.Tidy(t.Context()); err != nil {
				t.Fatal(err)
			}
			if st := s.State(); st.Tables > few.Tables || st.Pending >= few.Blocks+few.Kept || st.Pending < few.Kept {
				t.Errorf("at %d: %+v", to, st)
			}
		}
		if to%50 == 0 {
			c.check(t, s)
			closeStore(t, s)
			s = open(t, o)
			c.check(t, s)
		}
	}
	if extra := c.check(t, s); extra > 0 {
		t.Errorf("%d blocks are told for nothing", extra)
	}
	closeStore(t, s)
}

// Blocks that leave the chain are left, also those that are in tables: these are told for nothing afterwards, and
// nothing of the new branch is missing.
func TestBranches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, restart := range []bool{false, true} {
		o := options(t.TempDir(), nil)
		s := open(t, o)
		var c chain
		for branch := range 30 {
			if err := c.back(s, min(len(c), r.IntN(2+r.IntN(30)))); err != nil {
				t.Fatal(err)
			}
			if branch%9 == 0 && restart {
				closeStore(t, s)
				s = open(t, o)
				c.check(t, s)
			}
			if err := c.add(t, s, branch, len(c)+r.IntN(20), int32(r.IntN(2))*100); err != nil {
				t.Fatal(err)
			}
			if err := s.Tidy(t.Context()); err != nil {
				t.Fatal(err)
			}
			if branch%5 == 0 {
				c.check(t, s)
			}
		}
		if err := c.back(s, len(c)); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		s = open(t, o)
		c.check(t, s)
		if err := c.add(t, s, 99, 30, 0); err != nil {
			t.Fatal(err)
		}
		c.check(t, s)
		closeStore(t, s)
	}
}

// A chain that has lost blocks takes the store along, to the newest block that is known.
func TestRewind(t *testing.T) {
	o := options(t.TempDir(), nil)
	s := open(t, o)
	var c chain
	if err := c.add(t, s, 0, 200, 0); err != nil {
		t.Fatal(err)
	}
	pending := s.State().Pending
	for _, to := range []int{199, 200 - pending, 150, 3, -1} {
		known := func(hash *chainhash.Hash) bool {
			return slices.ContainsFunc(c[:to+1], func(b made) bool { return b.Hash == *hash })
		}
		if err := s.Rewind(known); err != nil {
			t.Fatal(err)
		}
		got := at(t, s, c)
		if len(got)-1 > to || to >= 200-pending && len(got)-1 != to {
			t.Errorf("back to %d, want %d", len(got)-1, to)
		}
		got.check(t, s)
		closeStore(t, s)
		s = open(t, o)
		got.check(t, s)
		if err := got.add(t, s, 0, 200, 0); err != nil {
			t.Fatal(err)
		}
		got.check(t, s)
		pending = s.State().Pending
	}
	if err := s.Wipe(); err != nil {
		t.Fatal(err)
	}
	new(chain).check(t, s)
	if st := s.State(); st != (scriptindex.State{}) {
		t.Errorf("a wiped store has %+v", st)
	}
	closeStore(t, s)
	files, _ := filepath.Glob(filepath.Join(o.Dir, "*.tab"))
	s = open(t, o)
	new(chain).check(t, s)
	if len(files) > 0 {
		t.Errorf("files stay: %v", files)
	}
	closeStore(t, s)
}

// Too many blocks are counted and not told.
func TestTooMany(t *testing.T) {
	s := open(t, options(t.TempDir(), nil))
	var c chain
	if err := c.add(t, s, 0, 99, 0); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ most, heights int }{{100, 100}, {99, 0}, {10, 0}, {0, 0}} {
		found, err := s.Find(s.KeyOf(script(0)), test.most)
		if err != nil || len(found.Heights) != test.heights || found.Blocks != 100 {
			t.Errorf("at most %d: %d of %d, %v", test.most, len(found.Heights), found.Blocks, err)
		}
	}
	closeStore(t, s)
}

// Look-ups, additions and joins go beside each other, and an end ends them all.
func TestBeside(t *testing.T) {
	s := open(t, options(t.TempDir(), nil))
	var group sync.WaitGroup
	group.Go(func() {
		for {
			if err := s.Tidy(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := s.Find(1, 1); errors.Is(err, scriptindex.ErrClosed) {
				return
			}
		}
	})
	added := make(chan int, 1000)
	group.Go(func() {
		for to := range added {
			found, err := s.Find(s.KeyOf(script(0)), 1<<20)
			if errors.Is(err, scriptindex.ErrClosed) {
				continue
			}
			if err != nil || found.Blocks < to || found.Blocks != int(found.Best.Height)+1 {
				t.Errorf("%d blocks at %d, added %d: %v", found.Blocks, found.Best.Height, to, err)
			}
		}
	})
	var c chain
	for to := range 200 {
		if err := c.add(t, s, 0, to, int32(to%3)); err != nil {
			t.Fatal(err)
		}
		added <- to
	}
	closeStore(t, s)
	close(added)
	group.Wait()
	for name, err := range map[string]error{
		"Add": s.Add(scriptindex.Position{}, nil, 0), "Back": s.Back(scriptindex.Position{}), "Sync": s.Sync(),
		"Wipe": s.Wipe(), "Rewind": s.Rewind(func(*chainhash.Hash) bool { return true }),
	} {
		if !errors.Is(err, scriptindex.ErrClosed) {
			t.Errorf("%s of a closed store: %v", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// An abort ends a join without a trace.
func TestAbort(t *testing.T) {
	o := options(t.TempDir(), nil)
	s := open(t, o)
	var c chain
	if err := c.add(t, s, 0, 300, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Tidy(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("aborted: %v", err)
	}
	c.check(t, s)
	left, _ := filepath.Glob(filepath.Join(o.Dir, "*"+vfs.ReplacementSuffix))
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	closeStore(t, s)
}

// A folder of another network or a later version is not touched. Another key, or none, empties the store.
func TestForeignFolders(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*testing.T, *scriptindex.Options)
		want   error // nil: the store is empty
	}{
		"network": {func(_ *testing.T, o *scriptindex.Options) { o.Network[0]++ }, scriptindex.ErrForeign},
		"version": {func(t *testing.T, o *scriptindex.Options) { t.Helper(); newer(t, o.Dir) }, scriptindex.ErrNewer},
		"key": {func(t *testing.T, o *scriptindex.Options) {
			t.Helper()
			flip(t, filepath.Join(o.Dir, "script.key"), 3)
		}, nil},
		"no key": {func(t *testing.T, o *scriptindex.Options) { t.Helper(); remove(t, o.Dir, "script.key") }, nil},
		"long key": {func(t *testing.T, o *scriptindex.Options) {
			t.Helper()
			write(t, filepath.Join(o.Dir, "script.key"), make([]byte, 17))
		}, nil},
		"manifest": {func(t *testing.T, o *scriptindex.Options) {
			t.Helper()
			flip(t, filepath.Join(o.Dir, "manifest"), 50)
		}, nil},
		"long manifest": {func(t *testing.T, o *scriptindex.Options) {
			t.Helper()
			write(t, filepath.Join(o.Dir, "manifest"), make([]byte, 2<<20))
		}, nil},
		"no manifest": {func(t *testing.T, o *scriptindex.Options) { t.Helper(); remove(t, o.Dir, "manifest") }, nil},
		"no table":    {func(t *testing.T, o *scriptindex.Options) { t.Helper(); remove(t, o.Dir, "*.tab") }, nil},
		"other table": {func(t *testing.T, o *scriptindex.Options) { t.Helper(); exchange(t, o.Dir) }, nil},
		"short table": {func(t *testing.T, o *scriptindex.Options) {
			t.Helper()
			write(t, first(t, o.Dir, "*.tab"), []byte{1})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t.TempDir(), nil)
			s := open(t, o)
			var c chain
			if err := c.add(t, s, 0, 100, 0); err != nil {
				t.Fatal(err)
			}
			closeStore(t, s)
			log, text := logged()
			changed := o
			changed.Log = log
			test.change(t, &changed)
			s, err := scriptindex.Open(changed)
			if test.want != nil {
				if !errors.Is(err, test.want) {
					t.Fatalf("opened: %v", err)
				}
				if errors.Is(test.want, scriptindex.ErrForeign) {
					s = open(t, o)
					c.check(t, s)
					closeStore(t, s)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			new(chain).check(t, s)
			if !strings.Contains(text.String(), "building it anew from all blocks") != (name == "no manifest") {
				t.Errorf("logged: %s", text)
			}
			if files, _ := filepath.Glob(filepath.Join(o.Dir, "*")); len(files) != 3 {
				t.Errorf("files: %v", files)
			}
			var again chain
			if err := again.add(t, s, 1, 100, 0); err != nil {
				t.Fatal(err)
			}
			again.check(t, s)
			closeStore(t, s)
			s = open(t, o)
			again.check(t, s)
			closeStore(t, s)
		})
	}
}

// The secret is its owner's alone.
func TestSecretIsHidden(t *testing.T) {
	o := options(t.TempDir(), nil)
	closeStore(t, open(t, o))
	info, err := os.Stat(filepath.Join(o.Dir, "script.key"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 16 {
		t.Errorf("%v, %v", info, err)
	}
	a, b := open(t, o), open(t, options(t.TempDir(), nil))
	if a.KeyOf(script(1)) == b.KeyOf(script(1)) {
		t.Error("two stores have the same secret")
	}
	closeStore(t, a)
	closeStore(t, b)
}
