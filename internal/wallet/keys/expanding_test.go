package keys

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	expandingXprv = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
	expandingXpub = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
)

// supply has the jobs done, and returns how many indices they were.
func supply(tb testing.TB, r *rig, jobs []*Job) (indices int) {
	tb.Helper()
	for _, job := range jobs {
		b, err := job.Make(tb.Context())
		if err == nil {
			err = r.pool.Supply(b)
		}
		if err != nil {
			tb.Fatal(err)
		}
		indices += job.Size()
	}
	return indices
}

// Where scripts cannot be derived, or are not any more, none are handed over.
func TestNothingExpanded(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for text, test := range map[string]struct {
		ctx  context.Context
		want int
		err  error
	}{
		"wpkh(" + expandingXpub + "/0/*)":  {t.Context(), 40, nil},
		"wpkh(" + expandingXpub + "/0h/*)": {t.Context(), 0, nil},
		"pkh(" + expandingXpub + "/0/*)":   {ended, 0, context.Canceled},
	} {
		branches, err := descriptor.Parse(text, testParams().Network, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := (&Job{desc: branches[0], first: 3, last: 42}).Make(test.ctx)
		if !errors.Is(err, test.err) || len(b.scripts) != test.want || b.scripts != nil && test.want == 0 ||
			b.first != 3 {
			t.Errorf("%s: %d scripts from %d, %v", text, len(b.scripts), b.first, err)
		}
	}
}

// Scripts that were derived before equal those that a wallet derives itself, in
// memory and in the file.
func TestExpandedBefore(t *testing.T) {
	active := func(text string, from, to int64) messages.ImportItem {
		desc := descriptor.AddChecksum(text)
		return messages.ImportItem{Desc: desc, Range: &[2]int64{from, to}, Active: true, Timestamp: 9}
	}
	for name, test := range map[string]struct {
		private bool
		items   []messages.ImportItem
		indices int // derived before
	}{
		"public":             {false, []messages.ImportItem{active("wpkh("+expandingXpub+"/0/*)", 0, 299)}, 300},
		"range from above 0": {false, []messages.ImportItem{active("wpkh("+expandingXpub+"/0/*)", 200, 299)}, 100},
		"multipath":          {false, []messages.ImportItem{active("tr("+expandingXpub+"/<0;1>/*)", 0, 0)}, 200},
		"private":            {true, []messages.ImportItem{active("wpkh("+expandingXprv+"/0h/*)", 0, 299)}, 300},
		"hardened":           {true, []messages.ImportItem{active("pkh("+expandingXprv+"/0/*h)", 0, 49)}, 100},
		"twice": {false, []messages.ImportItem{
			active("wpkh("+expandingXpub+"/0/*)", 0, 99), active("wpkh("+expandingXpub+"/0/*)", 0, 149),
		}, 250},
		"without the private key": {false, []messages.ImportItem{active("wpkh("+expandingXpub+"/0h/*)", 0, 99)}, 100},
		"not a descriptor":        {false, []messages.ImportItem{active("wpkh("+expandingXpub+"*)", 0, 99)}, 0},
		"too large": {false, []messages.ImportItem{
			active("wpkh("+expandingXpub+"/0/*)", 0, descriptor.MaxRange),
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			plain, helped := setUp(t, test.private), setUp(t, test.private)
			if got := supply(t, helped, helped.importer.ImportJobs(test.items)); got != test.indices {
				t.Errorf("%d indices were derived before, want %d", got, test.indices)
			}
			want, wantErr := plain.importer.Import(test.items, ImportTimes{Tip: 10, Median: 10})
			got, err := helped.importer.Import(test.items, ImportTimes{Tip: 10, Median: 10})
			if !reflect.DeepEqual(got, want) || err != wantErr { //nolint:errorlint // none
				t.Errorf("got %+v, %v, want %+v, %v", got, err, want, wantErr)
			}
			helped.pool.Drop()
			compareLedgers(t, helped, plain)

			// Then more of the same.
			supply(t, helped, helped.pool.RefillJobs(700))
			wantErr, err = plain.pool.Refill(700), helped.pool.Refill(700)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("refill: got %v, want %v", err, wantErr)
			}
			helped.pool.Drop()
			compareLedgers(t, helped, plain)
		})
	}
}

func compareLedgers(t *testing.T, got, want *rig) {
	t.Helper()
	if !slices.EqualFunc(got.set.Scripts(), want.set.Scripts(), bytes.Equal) {
		t.Errorf("%d scripts, want %d or others", len(got.set.Scripts()), len(want.set.Scripts()))
	}
	if g, w := got.log.Take(), want.log.Take(); !reflect.DeepEqual(g, w) {
		t.Errorf("%d changes of the file, want %d or others", len(g), len(w))
	}
	if len(got.pool.pendingScripts) > 0 {
		t.Errorf("scripts of %d descriptors are kept", len(got.pool.pendingScripts))
	}
}

// Scripts at hand are not derived again.
func TestExpandedIsUsed(t *testing.T) {
	r := newRig(false)
	text := descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)")
	items := []messages.ImportItem{{Desc: text, Range: &[2]int64{0, 149}}}
	jobs := r.importer.ImportJobs(items)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	b, err := jobs[0].Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	odd := []byte{0x51}
	b.scripts[77] = [][]byte{odd}
	if err := r.pool.Supply(b); err != nil {
		t.Fatal(err)
	}
	if _, err := r.importer.Import(items, ImportTimes{}); err != nil || !bytes.Equal(r.set.Scripts()[77], odd) {
		t.Errorf("%v; script %x", err, r.set.Scripts()[77])
	}
}

// The descriptors of a new seed have their scripts before it is set up.
func TestSetupJobs(t *testing.T) {
	plain, helped := setUp(t, true), setUp(t, true)
	seed := walletfile.NewSecret(bytes.Repeat([]byte{8}, 32))
	jobs, err := helped.importer.SetupJobs(seed)
	if err != nil {
		t.Fatal(err)
	}
	if got := supply(t, helped, jobs); got != 8*100 {
		t.Errorf("%d indices", got)
	}
	for _, r := range []*rig{plain, helped} {
		if err := r.importer.Setup(seed, 11); err != nil {
			t.Fatal(err)
		}
		r.pool.Drop()
	}
	compareLedgers(t, helped, plain)
}

// Of the active descriptors those have their scripts derived before a refill that need no slow keys,
// and of which little has to be copied.
func TestRefillJobs(t *testing.T) {
	if jobs := slowRig(t, 1).pool.RefillJobs(700); len(jobs) > 0 {
		t.Errorf("%d jobs for scripts of slow keys", len(jobs))
	}
	for hardened, want := range map[int64]int{maxCopied: 8, maxCopied + 1: 7} {
		r := setUp(t, true)
		r.importOne(t, messages.ImportItem{
			Desc:  descriptor.AddChecksum("pkh(" + expandingXprv + "/0/*h)"),
			Range: &[2]int64{0, hardened - 1}, Active: true,
		})
		if jobs := r.pool.RefillJobs(2000); len(jobs) != want {
			t.Errorf("with %d hardened keys: %d jobs, want %d", hardened, len(jobs), want)
		}
		for _, size := range []int{0, 100, maxIndices + 1, 1<<32 + 700} {
			if jobs := r.pool.RefillJobs(size); len(jobs) > 0 {
				t.Errorf("%d jobs for %d addresses", len(jobs), size)
			}
		}
	}
}
