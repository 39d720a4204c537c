package keys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ranged is an import of a range of one descriptor.
func ranged(text string, first, last int64, active bool) messages.ImportItem {
	return messages.ImportItem{
		Desc: descriptor.AddChecksum(text), Range: &[2]int64{first, last}, Active: active, Timestamp: 50,
	}
}

// Addresses that were given out are not given out again when the wallet is loaded.
func TestNextAddressStays(t *testing.T) {
	p := testParams()
	p.KeyPool = 4
	r := rigOf(p, false)
	r.importOne(t, ranged("wpkh("+expandingXpub+"/0/*)", 0, 9, true))
	f := make(file)
	all := expandOf(t, "wpkh("+expandingXpub+"/0/*)", 14)
	for next := range 5 {
		r.set.ChooseDefaultTypes()
		want, _ := descriptor.AddressOf(all[next], p.Network)
		if got, err := r.pool.NewAddress(messages.NewAddress{}); err != nil || got != want {
			t.Errorf("address %d: %s, %v", next, got, err)
		}
		f.write(r.log.Take())
		r = r.reload(t, f)
		// As after loading: the descriptor is active in the file too.
		if m := r.set.active[walletfile.Slot{Type: walletfile.Bech32}]; m == nil ||
			m.lastDerived != m.record.RangeEnd-1 {
			t.Fatalf("not active, or derived to another end: %+v", m)
		}
	}
}

// A refill has scripts derived before from where the wallet's end, and fails where the pool cannot hold so many.
func TestRefill(t *testing.T) {
	r := setUp(t, true)
	jobs := r.pool.RefillJobs(2000)
	if len(jobs) != 8 {
		t.Fatalf("%d jobs", len(jobs))
	}
	for _, job := range jobs {
		if job.first != 100 || job.last != 1999 || job.Size() != 1900 {
			t.Errorf("from %d to %d", job.first, job.last)
		}
	}
	checkText(t, "too many", r.pool.Refill(maxIndices+1), "Error refreshing keypool.")
	p := testParams()
	p.KeyPool = 5
	one := rigOf(p, false)
	one.importOne(t, ranged("wpkh("+expandingXpub+"/0/*)", 0, 0, true))
	for _, size := range []int{7, 0, 9} {
		if err := one.pool.Refill(size); err != nil {
			t.Errorf("%d: %v", size, err)
		}
	}
	if receiving, change := one.set.PoolSizes(); receiving != 9 || change != 0 {
		t.Errorf("%d and %d addresses", receiving, change)
	}
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	r.vault.Lock()
	var refused *messages.WalletError
	if err := r.pool.Refill(0); !errors.As(err, &refused) || refused.Code != codes.UnlockNeeded {
		t.Errorf("locked: %v", err)
	}
}

// Scripts that were derived before are used where they are all that is wanted; else the wallet derives its own.
func TestExpandedInPart(t *testing.T) {
	for name, cut := range map[string]func(b *Batch){
		"the last lacks":  func(b *Batch) { b.scripts = b.scripts[:len(b.scripts)-1] },
		"the first lacks": func(b *Batch) { b.scripts, b.first = b.scripts[1:], 1 },
		"others":          func(b *Batch) { b.first = 1 },
	} {
		r := newRig(false)
		items := []messages.ImportItem{ranged("wpkh("+expandingXpub+"/0/*)", 0, 149, false)}
		b, err := r.importer.ImportJobs(items)[0].Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if cut(b); r.pool.Supply(b) != nil {
			t.Error(name)
		}
		want := expandOf(t, "wpkh("+expandingXpub+"/0/*)", 150)
		if _, err := r.importer.Import(items, ImportTimes{}); err != nil ||
			!slices.EqualFunc(r.set.Scripts(), want, bytes.Equal) {
			t.Errorf("%s: %d scripts, %v", name, len(r.set.Scripts()), err)
		}
	}
}

// Jobs for an import are those of each descriptor that has a range, up to where its pool ends, whatever stands beside.
func TestJobsOfSomeImports(t *testing.T) {
	r := newRig(false)
	next := ranged("wpkh("+expandingXpub+"/0/*)", 0, 49, false)
	next.NextIndex = new(int64(20))
	items := []messages.ImportItem{
		{Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/7)")}, {Desc: "wpkh(*)"}, next,
		ranged("tr("+expandingXpub+"/<0;1>/*)", 10, 39, false),
	}
	var got []string
	for _, job := range r.importer.ImportJobs(items) {
		got = append(got, fmt.Sprint(job.first, "-", job.last))
	}
	if want := "0-119 10-109 10-109"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	slow := qbitRig(t, true)
	items = []messages.ImportItem{
		ranged("mr(pk(pqc("+foreignQbitXpub(slow)+"/0/*)))", 0, 1, false),
		ranged("mr(pk(pqc("+expandingXprv+"/0/*)))", 0, 1, false),
		{Desc: descriptor.AddChecksum("mr(pk(pqc(" + expandingXprv + "/1/7)))")},
	}
	got = nil
	for _, job := range slow.importer.ImportJobs(items) {
		got = append(got, fmt.Sprint(job.first, "-", job.last))
	}
	if want := "0-2 0-0"; strings.Join(got, " ") != want {
		t.Errorf("slow keys: %v, want %s", got, want)
	}
	if jobs := qbitRig(t, false).importer.ImportJobs(items); len(jobs) != 0 {
		t.Errorf("a wallet without private keys has %d jobs", len(jobs))
	}
}

// foreignQbitXpub is an extended key without its private key.
func foreignQbitXpub(r *rig) string {
	key, _, _ := descriptor.Master([]byte(strings.Repeat("\x09", 32)))
	return descriptor.EncodeXPub(key, r.set.params.Network)
}

// The time of an import is that of its oldest descriptor, and no later than the tip's.
func TestTimeOfImport(t *testing.T) {
	times := ImportTimes{Tip: 100, Median: 90}
	for name, test := range map[string]struct {
		at   []int64
		from int64
	}{
		"now": {[]int64{messages.NowTimestamp}, 90}, "later": {[]int64{200}, 100}, "never": {[]int64{-7, 60}, 1},
		"some": {[]int64{70, 60, 80}, 60}, "none": {nil, 100},
	} {
		r := newRig(false)
		var items []messages.ImportItem
		for i, at := range test.at {
			item := ranged(fmt.Sprintf("wpkh(%s/%d/*)", expandingXpub, i), 0, 0, false)
			item.Timestamp = at
			items = append(items, item)
		}
		if len(items) > 0 {
			items = append(items, messages.ImportItem{Desc: "bad", Timestamp: 100})
		}
		got, err := r.importer.Import(items, times)
		if err != nil || got.From != test.from || got.Rescan != (len(test.at) > 0) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if len(test.at) > 0 &&
			r.set.managers[0].record.CreationTime != uint64(max(1, cmpNow(test.at[0], times.Median))) {
			t.Errorf("%s: from %d", name, r.set.managers[0].record.CreationTime)
		}
	}
}

// cmpNow is a time, or the median for now.
func cmpNow(at, median int64) int64 {
	if at == messages.NowTimestamp {
		return median
	}
	return at
}

// An import makes a descriptor the active one of its type, or no longer, and leaves others alone. Where there is no
// type an error tells that.
func TestActiveByImport(t *testing.T) {
	r := newRig(false)
	slot := walletfile.Slot{Type: walletfile.Bech32}
	one, other := "wpkh("+expandingXpub+"/0/*)", "wpkh("+expandingXpub+"/1/*)"
	for _, step := range []struct {
		text   string
		active bool
		want   string // the active one
	}{{one, true, one}, {other, false, one}, {other, true, other}, {one, false, other}, {other, false, ""}} {
		r.log.Take()
		r.importOne(t, ranged(step.text, 0, 99, step.active))
		got := ""
		if m := r.set.active[slot]; m != nil {
			got, _, _ = strings.Cut(m.record.Text, "#")
		}
		if got != step.want {
			t.Errorf("%s active %v: %s is active", step.text, step.active, got)
		}
		removed := slices.ContainsFunc(r.log.Take(), func(c records.Change) bool {
			return c.Delete && bytes.Equal(c.Key, slot.Key())
		})
		if removed != (step.want == "") {
			t.Errorf("%s active %v: the record is removed: %v", step.text, step.active, removed)
		}
	}
	done, err := r.importer.Import([]messages.ImportItem{ranged("pk("+expandingXpub+"/2/*)", 0, 0, true)}, ImportTimes{})
	if err != nil || done.Results[0].Err != nil ||
		!slices.Equal(done.Results[0].Warnings, []string{"Unknown output type, cannot set descriptor to active."}) {
		t.Errorf("%+v, %v", done.Results, err)
	}
	// The same descriptor gives addresses for receiving, or for change.
	item := ranged(one, 0, 99, true)
	r.importOne(t, item)
	item.Internal = new(true)
	r.importOne(t, item)
	m := r.set.active[walletfile.Slot{Type: walletfile.Bech32, Internal: true}]
	if m == nil || r.set.active[slot] == m {
		t.Error("it gives both, or none")
	}
	if active, internal := r.set.isActive(m); !active || !internal {
		t.Errorf("active %v, internal %v", active, internal)
	}
}

// Only the address of a descriptor for receiving gets a label, an empty one too.
func TestLabelsOfImports(t *testing.T) {
	for name, test := range map[string]struct {
		item messages.ImportItem
		want string
	}{
		"none":       {messages.ImportItem{}, `""`},
		"some":       {messages.ImportItem{Label: new("shop")}, `"shop"`},
		"for change": {messages.ImportItem{Internal: new(true)}, "none"},
		"receiving":  {messages.ImportItem{Internal: new(false)}, `""`},
	} {
		r := newRig(false)
		text := "wpkh(" + expandingXpub + "/0/3)"
		test.item.Desc = descriptor.AddChecksum(text)
		r.importOne(t, test.item)
		got := "none"
		if labels := r.set.AddressInfo(expandOf(t, text, 1)[0]).Labels; len(labels) > 0 {
			got = fmt.Sprintf("%q", labels[0])
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Keys are made for all descriptors that want some and have their private keys, whichever come before.
func TestJobsOfSome(t *testing.T) {
	r := slowRig(t, 2)
	public := newManager(slowBranch(t, r, foreignQbitXpub(r)), 1)
	public.wanted = 5
	r.set.managers = slices.Insert(r.set.managers, 0, public)
	last := r.set.managers[2]
	last.wanted = last.lastDerived + 3
	for _, limit := range []int{1, 2, 100} {
		jobs := r.pool.Jobs(limit)
		if len(jobs) != 1 || jobs[0].id != last.id() || jobs[0].Size() != min(limit, 2) {
			t.Errorf("up to %d: %d jobs", limit, len(jobs))
		}
	}
	if !r.pool.Wanting() || makeable(r.set, public) || !makeable(r.set, last) || makeable(r.set, r.set.managers[1]) {
		t.Error("not all that is wanted can be made, or nothing")
	}
}

func slowBranch(t *testing.T, r *rig, key string) *descriptor.Descriptor {
	t.Helper()
	branches, err := descriptor.Parse("mr(pk(pqc("+key+"/3/*)))", r.set.params.Network, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return branches[0]
}

// Keys that cannot be made are no keys.
func TestKeysThatCannotBeMade(t *testing.T) {
	r := slowRig(t, 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	public := slowBranch(t, r, foreignQbitXpub(r))
	if b, err := (&Job{desc: public}).Make(t.Context()); err == nil {
		t.Errorf("%d keys without a private one", len(b.keys))
	}
	whole := makerOf(r.set, r.set.managers[0])
	if b, err := (&Job{desc: whole}).Make(ended); err == nil {
		t.Errorf("%d keys after the end", len(b.keys))
	}
	if b, err := (&Job{desc: whole, first: 5, last: 6}).Make(t.Context()); err != nil || len(b.keys) != 2 {
		t.Errorf("%v", err)
	}
	seed := walletfile.NewSecret(bytes.Repeat([]byte{9}, 32))
	fresh := qbitRig(t, true)
	if err := fresh.importer.SetupWithKeys(ended, seed, 5); !errors.Is(err, context.Canceled) || fresh.set.Len() != 0 ||
		len(fresh.pool.pendingKeys) != 0 {
		t.Errorf("set up after the end: %d descriptors, %v", fresh.set.Len(), err)
	}
	for pool, size := range map[int32]int{3: 3, warmPool: warmPool, warmPool + 9: warmPool} {
		fresh.set.params.KeyPool = pool
		jobs, err := fresh.importer.SetupJobs(seed)
		if err != nil || len(jobs) != 2 || jobs[0].Size() != size || jobs[0].first != 0 {
			t.Errorf("a pool of %d: %v", pool, err)
		}
	}
}

// Whether a pool is to be filled later is what the file says, or follows from its range.
func TestIsDeferred(t *testing.T) {
	r := slowRig(t, 4)
	m := r.set.managers[0]
	for _, test := range []struct {
		end, next int32
		want      bool
	}{{4, 0, false}, {3, 0, true}, {4, 1, true}, {9, 5, false}, {8, 5, true}} {
		m.record.RangeEnd, m.record.NextIndex, m.record.FillPending = test.end, test.next, nil
		if got := r.pool.isDeferred(m); got != test.want {
			t.Errorf("to %d, next %d: %v", test.end, test.next, got)
		}
		for _, said := range []bool{false, true} {
			m.record.FillPending = &said
			if got := r.pool.isDeferred(m); got != said {
				t.Errorf("the file says %v: %v", said, got)
			}
		}
	}
	bitcoin := setUp(t, true)
	m = bitcoin.set.managers[0]
	if m.record.RangeEnd = 3; bitcoin.pool.isDeferred(m) {
		t.Error("a pool without slow keys")
	}
	const pool = warmPool + 2
	of, f := slowRig(t, pool), make(file)
	f.write(of.log.Take())
	loaded := of.reload(t, f)
	if !loaded.pool.Deferring() || !loaded.pool.FillDeferred() {
		t.Error("the rest of the pool is forgotten when the wallet is loaded")
	}
	// The pool for receiving is full before that for change.
	supply(t, of, func() []*Job { of.pool.FillDeferred(); return of.pool.Jobs(2) }())
	if receiving, _ := of.set.PoolSizes(); receiving != pool || !of.pool.Deferring() || !of.pool.FillDeferred() {
		t.Errorf("%d addresses, deferring %v", receiving, of.pool.Deferring())
	}
	if low := of.pool.LowPools(); low != nil {
		t.Errorf("a pool that is filled for the first time is low: %+v", low)
	}
}
