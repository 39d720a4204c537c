package records_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// TestLog makes random changes and compares the log with a list that is looked
// through for each change.
func TestLog(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var log records.Log
		var want []records.Change
		for range random.IntN(40) {
			if random.IntN(15) == 0 {
				compare(t, log.Take(), want)
				want = nil
			}
			name := walletfile.Name{Address: string('a' + rune(random.IntN(6)))}
			name.Label = string('0' + rune(random.IntN(9)))
			change := records.Change{Key: name.Key(), Value: name.Value()}
			if random.IntN(3) == 0 {
				change = records.Change{Key: name.Key(), Delete: true}
				log.Remove(name.Key())
			} else {
				log.Put(name)
			}
			at := slices.IndexFunc(want, func(c records.Change) bool { return bytes.Equal(c.Key, change.Key) })
			if at < 0 {
				want = append(want, change)
			} else {
				want[at] = change
			}
		}
		compare(t, log.Take(), want)
		if left := log.Take(); len(left) > 0 {
			t.Errorf("%d changes are left after they were taken", len(left))
		}
	}
}

func compare(t *testing.T, got, want []records.Change) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b records.Change) bool {
		return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) && a.Delete == b.Delete
	}) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFlags(t *testing.T) {
	var log records.Log
	f := records.NewFlags(walletfile.Blank, &log)
	if !f.Has(walletfile.Blank) || f.Has(walletfile.Blank|walletfile.AvoidReuse) || len(log.Take()) > 0 {
		t.Errorf("flags of the file: %v", f.Value())
	}
	f.Set(walletfile.AvoidReuse)
	if f.Has(walletfile.Blank) || !f.Has(walletfile.AvoidReuse) || f.Value() != walletfile.AvoidReuse {
		t.Errorf("after a change: %v", f.Value())
	}
	compare(t, log.Take(), []records.Change{{Key: f.Value().Key(), Value: f.Value().Value()}})
}
