package scanner_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/messages"
)

// waitProbes waits until no filter lacks its probe lines.
func (r *rig) waitProbes(tb testing.TB) {
	tb.Helper()
	for do(tb, r.indexer, messages.GetIndexStatus{}).WithoutProbes > 0 {
		runtime.Gosched()
	}
}

// Scans find the same with each layout, whatever becomes of the probe lines, and
// damaged lines are rebuilt.
func TestLayouts(t *testing.T) {
	const height = 2200
	r := newRigWith(t, height, filters.AppendLines, false)
	r.waitProbes(t)
	path := filepath.Join(r.dir, "prob00000.dat")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o := order{scripts: [][]byte{script(3), script(1005), script(9)}, to: height}
	for _, layout := range filters.Layouts {
		for name, damage := range map[string]func() error{
			"intact":  func() error { return nil },
			"garbage": func() error { return writeAt(path, make([]byte, len(good)/2), int64(len(good)/2)) },
			"cut":     func() error { return os.Truncate(path, 4096) },
		} {
			t.Run(string(layout)+"/"+name, func(t *testing.T) {
				method, err := filters.NewMethod("", string(layout))
				if err != nil {
					t.Fatal(err)
				}
				if err := damage(); err != nil {
					t.Fatal(err)
				}
				result, err := r.run(t.Context(), r.spawn(options{name: t.Name(), method: method}), o)
				r.check(t, answer{result, err}, o)
				do(t, r.indexer, messages.VerifyIndex{})
				r.waitProbes(t)
				if again, err := os.ReadFile(path); err != nil || string(again) != string(good) {
					t.Errorf("the lines are not as they were: %v", err)
				}
			})
		}
	}
}

// waitRanges waits until no range lacks its filter.
func (r *rig) waitRanges() {
	for {
		if _, _, ok := r.store.NextRange(); !ok {
			return
		}
		runtime.Gosched()
	}
}

// Scans that look into blocks find the same with range filters, whatever becomes
// of those, also by scripts that no block filter holds; damaged filters are made
// anew. Plain scans do not use them.
func TestRangeFilters(t *testing.T) {
	const height = 2048 + 152
	r := newRigWith(t, height, nil, true)
	r.waitRanges()
	path := filepath.Join(r.dir, "rang00000.dat")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var absent, some [][]byte
	for n := range 40 {
		absent = append(absent, script(5_000_000+n))
	}
	some = append(append(some, absent...), script(3), script(1005), script(1000+height))
	for name, damage := range map[string]func() error{
		"intact":  func() error { return nil },
		"garbage": func() error { return writeAt(path, make([]byte, len(good)/2), int64(len(good)/2)) },
		"cut":     func() error { return os.Truncate(path, 200) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			ref := r.spawn(options{name: t.Name()})
			for _, o := range []order{
				{scripts: some, to: height, checkBlocks: true},
				{scripts: some, from: 2000, to: height - 1, checkBlocks: true},
				{scripts: absent, to: height, checkBlocks: true},
				{scripts: some, to: height},
			} {
				result, err := r.run(t.Context(), ref, o)
				r.check(t, answer{result, err}, o)
			}
			r.waitRanges()
			if again, err := os.ReadFile(path); err != nil || len(again) != len(good) {
				t.Errorf("the range filter was not made anew: %d bytes, %v", len(again), err)
			}
		})
	}
}

// writeAt writes in place: the store has the file mapped.
func writeAt(path string, b []byte, at int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(b, at)
	return err
}
