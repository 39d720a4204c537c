package ledger

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A ledger that is closed says so whatever it is asked. Another end of it does nothing.
func TestClosed(t *testing.T) {
	o := options(t, t.TempDir())
	l, _ := mustOpen(t, o)
	if err := commit(l, 1); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	_, get := l.Get([]byte(rows(1)[0]))
	_, last := l.Last([]byte("k"))
	_, rewind := l.Rewind(func([]byte) bool { return true })
	_, rewindAll := l.Rewind(func([]byte) bool { return false })
	for what, err := range map[string]error{
		"Get": get, "Last": last, "Rewind": rewind, "Rewind to nothing": rewindAll,
		"Commit": commit(l, 2), "CommitDurably": l.CommitDurably(new(Batch), position(2)), "Sync": l.Sync(),
		"Wipe":    l.Wipe(),
		"Compact": l.Compact(t.Context(), []byte("a"), []byte("z")), "compactNow": l.compactNow(t.Context(), nil, nil),
		"Range": only(t, l.Range([]byte("k"))), "Between": only(t, l.Between([]byte("a"), []byte("z"))),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	mustClose(t, l)
	l, at := mustOpen(t, o)
	if check(t, l, 1); at != 1 {
		t.Errorf("then at %d", at)
	}
	mustClose(t, l)
}

// Each durable commit leaves a mark to go back to, also beside commits that are made durable later.
func TestMarksOfDurableCommits(t *testing.T) {
	for back := uint64(1); back <= 6; back++ {
		o := options(t, t.TempDir())
		l, _ := mustOpen(t, o)
		for n := uint64(1); n <= 6; n++ {
			b := new(Batch)
			b.Put([]byte("k"), position(n))
			var err error
			if n == 4 {
				err = errors.Join(l.Commit(b, position(n)), l.Sync())
			} else {
				err = l.CommitDurably(b, position(n))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, l)
		l, at := mustOpen(t, o)
		if got := keys(t, l, commitPrefix); at != 6 || len(got) > 0 {
			t.Errorf("at %d, commits %v are not durable", at, got)
		}
		got, err := l.Rewind(func(p []byte) bool { return number(p) <= back })
		if err != nil || number(got) != back {
			t.Errorf("back at %d, want %d: %v", number(got), back, err)
		}
		mustClose(t, l)
		if l, at = mustOpen(t, o); at != back {
			t.Errorf("opened at %d, want %d", at, back)
		}
		mustClose(t, l)
	}
}

// only returns the error that is all that a loop yields.
func only(t *testing.T, pairs iter.Seq2[Pair, error]) (last error) {
	t.Helper()
	n := 0
	for pair, err := range pairs {
		if n++; n > 1 || pair.Key != nil {
			t.Errorf("%q of a closed ledger", pair.Key)
		}
		last = err
	}
	return last
}

// Between yields what lies from a key on and before another, and keeps nobody from closing the ledger after that,
// also where the loop ends early.
func TestBetweenKeys(t *testing.T) {
	l, _ := mustOpen(t, options(t, t.TempDir()))
	b := new(Batch)
	for key := range strings.FieldsSeq("a a1 a2 b b0 c") {
		b.Put([]byte(key), []byte("of "+key))
	}
	if err := l.Commit(b, position(1)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, to, want string }{
		{"a", "c", "a a1 a2 b b0"}, {"a1", "b0", "a1 a2 b"}, {"a0", "a9", "a1 a2"}, {"b", "b", ""}, {"x", "z", ""},
	} {
		var got []string
		for pair, err := range l.Between([]byte(test.from), []byte(test.to)) {
			if err != nil || string(pair.Value) != "of "+string(pair.Key) {
				t.Fatalf("%q: %q, %v", pair.Key, pair.Value, err)
			}
			got = append(got, string(pair.Key))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("from %s to %s: %s, want %s", test.from, test.to, text, test.want)
		}
	}
	for range l.Between([]byte("a"), []byte("c")) {
		break
	}
	mustClose(t, l)
}

// While a step of a compaction takes long, the ledger lags behind more and more. It does so no more once the step has
// ended, and nobody waits to learn it.
func TestLagOfCompaction(t *testing.T) {
	disk := faultfs.New()
	o := options(t, t.TempDir())
	o.FS = disk
	l, _ := mustOpen(t, o)
	for n := uint64(1); n <= 100; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.db.CompactRange(util.Range{}); err != nil { // so that nothing else is merged
		t.Fatal(err)
	}
	if lag := l.Lag(); lag != 0 {
		t.Errorf("lag %d at rest", lag)
	}
	b := new(Batch)
	b.Delete([]byte(rows(1)[0]))
	if err := l.Commit(b, position(101)); err != nil {
		t.Fatal(err)
	}
	reached, held := make(chan struct{}), make(chan struct{})
	first := true
	disk.Inject(func(op faultfs.Op) error {
		if first && op.Kind == faultfs.Create && strings.HasSuffix(op.Path, ".ldb") {
			first = false
			close(reached)
			<-held
		}
		return nil
	})
	compacted := make(chan error, 1)
	go func() { compacted <- l.compactNow(context.WithoutCancel(t.Context()), []byte("k"), []byte("l")) }()
	<-reached
	began := l.compacting.Load()
	if age := time.Since(time.Unix(0, began)); age < 0 || age > time.Minute {
		t.Errorf("the step began %v ago", age)
	}
	for steps := range 4 {
		l.compacting.Store(time.Now().Add(-time.Duration(steps)*compactTable - compactTable/2).UnixNano())
		if lag := l.Lag(); lag != steps {
			t.Errorf("lag %d after the time of %d tables", lag, steps)
		}
	}
	close(held)
	if err := <-compacted; err != nil {
		t.Error(err)
	}
	if lag := l.Lag(); lag != 0 {
		t.Errorf("lag %d after the compaction", lag)
	}
	l.open.Lock() // as while it is wiped
	l.compacting.Store(1)
	if lag := l.Lag(); lag != 0 {
		t.Errorf("lag %d of a ledger that is opened", lag)
	}
	l.compacting.Store(0)
	l.open.Unlock()
	mustClose(t, l)
}
