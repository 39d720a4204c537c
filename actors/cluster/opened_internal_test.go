package cluster

import (
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// passOf returns a pass that a coordinator leases from, of one script up to a height.
func passOf(co *coordinator, height int32) *job {
	co.issued++
	j := &job{
		id: co.issued, local: true, leases: map[match.Heights][]*lease{}, answered: map[*peer]bool{},
		pass: match.New(match.Config{Query: filters.NewQuery([][]byte{{1}}), Stop: blockAt(height)}),
	}
	co.jobs = append(co.jobs, j)
	return j
}

// setOf returns scripts in so many chunks.
func setOf(t *testing.T, chunks int) *wire.Set {
	t.Helper()
	for count := 0; ; count += 20 {
		set, ok := wire.NewSet(func(n int) iter.Seq[[]byte] {
			return func(yield func([]byte) bool) {
				for ; n < count; n++ {
					if !yield(append(make([]byte, 9_000), byte(n>>8), byte(n))) {
						return
					}
				}
			}
		})
		if ok && set.Chunks() >= chunks {
			return set
		}
	}
}

// A worker node that opens a pass says whether it has the scripts, needs them from some chunk on, makes ready, or
// cannot.
func TestWhatWorkerNodesSayOfAPass(t *testing.T) {
	set := setOf(t, window+4)
	for _, test := range []struct {
		name   string
		before opened
		says   wire.Message
		want   opened // but for times
		later  bool   // it is asked later
		sent   int    // chunks
		leased bool
	}{
		{name: "it has them", before: opened{need: true}, want: opened{ready: true}, leased: true},
		{
			name: "it needs all", says: wire.Message{Need: true}, want: opened{need: true, sent: window}, sent: window,
		},
		{
			name: "it needs the rest", says: wire.Message{Need: true, Index: 2},
			want: opened{need: true, sent: 2 + window, taken: 2}, sent: window,
		},
		{
			name: "it needs them still", before: opened{need: true, sent: 5, taken: 3}, says: wire.Message{Need: true},
			want: opened{need: true, sent: 3 + window, taken: 3}, sent: window - 2,
		},
		{name: "it makes ready", says: wire.Message{Retry: true}, want: opened{}},
		{
			name: "it cannot", before: opened{ready: true, source: "b:1"}, says: wire.Message{Text: "no"},
			want: opened{refused: true}, later: true,
		},
		{name: "it cannot yet", says: wire.Message{Text: "no", Retry: true}, want: opened{}, later: true},
	} {
		link := new(sentLink)
		co := newCoordinator(testConfig(link), nil)
		co.listed([]string{"a:1"})
		link.kinds()
		p, j := co.peers["a:1"], passOf(co, 1000)
		p.up, j.set = true, set
		scan := test.before
		p.scans[j] = &scan
		test.says.Kind, test.says.Scan, test.says.Session = wire.Opened, j.id, p.session
		co.receive(nil, &test.says)
		got := scan
		got.asked, got.retryAt = time.Time{}, time.Time{}
		if got != test.want || !scan.retryAt.IsZero() != test.later {
			t.Errorf("%s: %+v, asked later: %v", test.name, got, !scan.retryAt.IsZero())
		}
		chunks, units := 0, 0
		for _, kind := range link.kinds() {
			if kind == wire.Chunk {
				chunks++
			}
			if kind == wire.Unit {
				units++
			}
		}
		if chunks != test.sent || (units > 0) != test.leased {
			t.Errorf("%s: %d chunks, %d units", test.name, chunks, units)
		}
	}
}

// Each chunk that was taken lets the next be sent, as long as there are more. Taking a chunk that was not sent has no
// effect.
func TestChunksThatWereTaken(t *testing.T) {
	set := setOf(t, window+2)
	link := new(sentLink)
	co := newCoordinator(testConfig(link), nil)
	co.listed([]string{"a:1"})
	p, j := co.peers["a:1"], passOf(co, 1000)
	p.up, j.set = true, set
	scan := &opened{need: true}
	p.scans[j] = scan
	co.feed(p, j)
	taken := func(index int) {
		co.receive(nil, &wire.Message{Kind: wire.Taken, Scan: j.id, Session: p.session, Index: uint32(index)})
	}
	if taken(window); scan.sent != window || scan.taken != 0 {
		t.Errorf("one that was not sent: %+v", scan)
	}
	for n := range set.Chunks() {
		taken(n)
		if scan.taken != n+1 || scan.sent != min(n+1+window, set.Chunks()) {
			t.Errorf("after chunk %d: %+v", n, scan)
		}
	}
	if taken(0); scan.taken != scan.sent {
		t.Errorf("taken twice: %+v", scan)
	}
	var sent []uint32
	for _, m := range link.sent {
		if m.Kind == wire.Chunk {
			sent = append(sent, m.Index)
		}
	}
	if !slices.IsSorted(sent) || len(slices.Compact(sent)) != set.Chunks() {
		t.Errorf("sent were %v", sent)
	}
}

// Many scripts go from worker node to worker node: the source of each is the last before it that is up, is not
// excluded and has not refused.
func TestWhomScriptsComeFrom(t *testing.T) {
	co := newCoordinator(testConfig(new(sentLink)), nil)
	co.listed([]string{"a:1", "b:1", "c:1", "d:1"})
	j := passOf(co, 1000)
	j.set = &wire.Set{Size: uint64(co.cfg.PassOn) - 1}
	a, b, c, d := co.peers["a:1"], co.peers["b:1"], co.peers["c:1"], co.peers["d:1"]
	if got := co.sourceFor(a, j); got != "" || len(j.chain) != 0 {
		t.Errorf("few scripts: %q", got)
	}
	j.set.Size++
	for _, p := range []*peer{a, b, c} {
		p.up, p.scans[j] = true, new(opened)
	}
	if got := co.sourceFor(a, j); got != "" {
		t.Errorf("the first: %q", got)
	}
	if got := co.sourceFor(b, j); got != a.address {
		t.Errorf("the second: %q", got)
	}
	if got := co.sourceFor(c, j); got != b.address {
		t.Errorf("the third: %q", got)
	}
	c.up, b.scans[j].refused = false, true
	if got := co.sourceFor(d, j); got != a.address {
		t.Errorf("behind one that is down and one that has refused: %q", got)
	}
	c.up, c.excluded = true, true
	delete(a.scans, j)
	if got := co.sourceFor(d, j); got != "" {
		t.Errorf("behind a liar, and one that has not opened it: %q", got)
	}
}

// Units that a worker node has had for too long are taken back, and it gets no more until it answers.
func TestOverdueUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			expected, after time.Duration
			want            bool
		}{
			{0, overdue, false},
			{0, overdue + 1, true},
			{time.Second, 4 * time.Second, false},
			{time.Second, 4*time.Second + 1, true},
		} {
			co := newCoordinator(testConfig(new(sentLink)), nil)
			co.listed([]string{"a:1"})
			p, j := co.peers["a:1"], passOf(co, 1000)
			p.up, j.set = true, setOf(t, 1)
			p.scans[j] = &opened{ready: true, asked: time.Now().Add(time.Hour)}
			co.fill(p)
			for _, l := range p.out {
				l.expected = test.expected
			}
			time.Sleep(test.after)
			co.advance(j, time.Now())
			if p.late != test.want || (len(p.lost) == leasesAtOnce) != test.want || (len(p.out) == 0) != test.want {
				t.Errorf("%+v: late %v, %d lost, %d leased", test, p.late, len(p.lost), len(p.out))
			}
			redone := p.counts.Redone == leasesAtOnce
			if redone != test.want || test.want && !p.lateAt.Equal(time.Now()) {
				t.Errorf("%+v: %d units are to be done again, late since %v", test, p.counts.Redone, p.lateAt)
			}
		}
	})
}
