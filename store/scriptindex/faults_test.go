package scriptindex_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/scriptindex"
)

// A life is what a store goes through, and where it may be after an end of any kind.
type life struct {
	now    chain
	since  []chain // all that was the chain since the last Sync that went well, the chain at that Sync first
	branch int
}

func (l *life) note() { l.since = append(l.since, slices.Clone(l.now)) }

// synced notes that what is there survives a loss of power.
func (l *life) synced() { l.since = []chain{slices.Clone(l.now)} }

// step does something to the store; what it does depends on r alone.
func (l *life) step(tb testing.TB, s *scriptindex.Store, r *rand.Rand) error {
	tb.Helper()
	switch r.IntN(8) {
	case 0:
		n := min(len(l.now), 1+r.IntN(3)*r.IntN(6))
		l.branch++
		for range n {
			if err := l.now.back(s, 1); err != nil {
				return err
			}
			l.note()
		}
	case 1, 2:
		if err := s.Sync(); err != nil {
			return err
		}
		l.synced()
	case 3:
		return s.Tidy(tb.Context())
	default:
		left := int32(r.IntN(2)) * 100
		for range r.IntN(6) {
			b := makeBlock(l.branch, len(l.now))
			err := s.Add(b.Position, keys(s, b), left)
			if _, height, _ := s.Best(); int(height) == len(l.now) {
				l.now = append(l.now, b)
				l.note()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// found returns where the store is: at one of the places that it may be at.
func (l *life) found(tb testing.TB, s *scriptindex.Store) *chain {
	tb.Helper()
	hash, height, ok := s.Best()
	for _, c := range l.since {
		if !ok && len(c) == 0 || ok && int(height) == len(c)-1 && c[height].Hash == hash {
			c = slices.Clone(c)
			return &c
		}
	}
	tb.Fatalf("the store is at height %d, %v, where it cannot be: %d places since height %d", height, ok, len(l.since),
		len(l.since[0])-1)
	return nil
}

func cases(few int) int {
	if os.Getenv("TRAWL_SOAK") != "" {
		return 50 * few
	}
	return few
}

// A store is killed, loses its power, or its disk breaks, at any moment. It is back at the last Sync or a later
// block, finds all blocks up to there, and goes on. It never counts as damaged.
func TestEnds(t *testing.T) {
	for _, powerLoss := range []bool{false, true} {
		r := rand.New(rand.NewPCG(7, uint64(len(t.Name()))))
		dir := t.TempDir()
		l := &life{}
		l.synced()
		for n := range cases(20) {
			fs := faultfs.New()
			fs.Inject(faultfs.From(r.IntN(90), errors.New("end")))
			log, text := logged()
			o := options(dir, fs)
			o.Log = log
			s, err := scriptindex.Open(o)
			for err == nil {
				err = l.step(t, s, r)
			}
			if powerLoss {
				if err := fs.PowerLoss(r); err != nil {
					t.Fatal(err)
				}
			}
			if s != nil {
				_ = s.Close() // it has failed, and closes its files
			}
			s = open(t, func() scriptindex.Options { o.FS = nil; return o }())
			if strings.Contains(text.String(), "damaged") {
				t.Fatalf("life %d, power lost %v: %s", n, powerLoss, text)
			}
			l.now = *l.found(t, s)
			l.now.check(t, s)
			l.branch++
			closeStore(t, s)
			l.synced()
			if len(l.now) > 150 {
				dir, l.now = t.TempDir(), nil
				l.synced()
			}
		}
	}
}

// A call that fails once says so, and loses nothing: the next goes well, and all is there after a restart.
func TestOneFault(t *testing.T) {
	for n := range cases(40) {
		r := rand.New(rand.NewPCG(11, uint64(n)))
		fs := faultfs.New()
		o := options(t.TempDir(), fs)
		s := open(t, o)
		l := &life{}
		l.synced()
		fs.Inject(faultfs.Nth(n, errors.New("once")))
		failed := 0
		for range 40 {
			if err := l.step(t, s, r); err != nil {
				failed++
			}
		}
		if failed > 1 {
			t.Errorf("call %d: %d steps failed", n, failed)
		}
		l.now.check(t, s)
		fs.Inject(nil)
		closeStore(t, s)
		l.synced()
		s = open(t, o)
		l.found(t, s).check(t, s)
		closeStore(t, s)
	}
}

// Damage of a table is an error of each look-up that meets it: none of a script's blocks is ever denied. The store is
// as good as new when it was wiped. Damage of the log takes the store back.
func TestDamagedFiles(t *testing.T) {
	o := options(t.TempDir(), nil)
	s := open(t, o)
	var c chain
	if err := c.add(t, s, 0, 150, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	r := rand.New(rand.NewPCG(3, 4))
	kept := map[string][]byte{}
	files, _ := filepath.Glob(filepath.Join(o.Dir, "*"))
	for _, f := range files {
		kept[f] = read(t, f)
	}
	noticed := map[string]int{}
	for range cases(60) {
		path := files[r.IntN(len(files))]
		for f, raw := range kept {
			write(t, f, raw)
		}
		flip(t, path, r.IntN(len(kept[path])))
		s, err := scriptindex.Open(o)
		if err != nil {
			if !errors.Is(err, scriptindex.ErrForeign) && !errors.Is(err, scriptindex.ErrNewer) {
				t.Fatalf("%s: %v", path, err)
			}
			continue
		}
		got := at(t, s, c)
		kind := filepath.Ext(path)
		if len(got) < len(c) {
			noticed[kind]++
		}
		for n := range scripts {
			found, err := s.Find(s.KeyOf(script(n)), 1000)
			if err != nil {
				if !errors.Is(err, scriptindex.ErrDamaged) {
					t.Fatal(err)
				}
				noticed[kind]++
				break
			}
			for h := range got {
				if slices.Contains(got[h].scripts, n) && !slices.Contains(found.Heights, int32(h)) {
					t.Fatalf("%s: script %d is denied at %d", path, n, h)
				}
			}
		}
		if err := s.Wipe(); err != nil {
			t.Fatal(err)
		}
		new(chain).check(t, s)
		closeStore(t, s)
	}
	if noticed[".tab"] == 0 || noticed[".log"] == 0 || noticed[""] == 0 {
		t.Errorf("noticed: %v", noticed)
	}
}

// Damage that a join meets is told, and the tables stay.
func TestJoinOfDamage(t *testing.T) {
	o := options(t.TempDir(), nil)
	s := open(t, o)
	var c chain
	for to := range 100 {
		if err := c.add(t, s, 0, to, 0); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	path := first(t, o.Dir, "*.tab")
	flip(t, path, 300)
	s = open(t, o)
	before := s.State()
	if err := s.Tidy(t.Context()); !errors.Is(err, scriptindex.ErrDamaged) {
		t.Errorf("joined: %v", err)
	}
	if after := s.State(); after != before {
		t.Errorf("before %+v, after %+v", before, after)
	}
	closeStore(t, s)
}
