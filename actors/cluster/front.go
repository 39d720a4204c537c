package cluster

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

const (
	askAgain    = 300 * time.Millisecond // a message may have been lost
	retryAfter  = time.Second            // a member may have caught up
	window      = 4                      // chunks on their way to a member
	overdue     = 800 * time.Millisecond // a member is silent, at the earliest
	relentAfter = time.Second            // a member that was silent may be lent to again
	lentAtOnce  = 2                      // units of a member: the first in work, the second waiting
	mostChecks  = 16                     // answers to be looked into here, from which on nothing is lent of a pass
)

// front is the side that lends.
type front struct {
	cfg   *Config
	tasks *ask.Tasks
	ctx   context.Context //nolint:containedctx // ends what tasks wait for
	stop  context.CancelFunc

	peers    map[string]*peer // by address
	sessions map[[16]byte]*peer
	resolved time.Time // when names were looked up; zero: they are to be
	unknown  []string  // nodes whose names could not be, the last time
	jobs     []*job
	issued   uint64 // numbers of jobs and units
	chunk    []byte // that was sent last
}

// job is a pass that is lent from.
type job struct {
	call    *lendHeights
	pass    *match.Pass
	id      uint64
	began   time.Time
	ctx     context.Context //nolint:containedctx // ends what is done here for it
	cancel  context.CancelFunc
	waited  bool      // for Config.After, as short passes are not lent
	cutting bool      // its scripts are being cut, or have been
	unfit   bool      // it cannot be lent
	set     *wire.Set // nil until they are
	open    wire.Message
	loans   map[match.Heights][]*loan
	settled map[*peer]bool // members that have answered for a part of it
	checks  int            // answers that are looked into here now
	chain   []*peer        // members in the order in which they pass the scripts on
	local   bool           // workers of this node may take its heights
}

// loan is heights that a member was given.
type loan struct {
	unit     uint64
	job      *job
	peer     *peer
	heights  match.Heights
	at       time.Time
	takes    time.Duration // the work on it, as far as is known
	expected time.Duration // until it is answered, with what the member had before
}

func newFront(cfg *Config, tasks *ask.Tasks) *front {
	f := &front{
		cfg: cfg, tasks: tasks, peers: make(map[string]*peer), sessions: make(map[[16]byte]*peer),
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// lend takes a pass on.
func (f *front) lend(call *lendHeights) {
	f.issued++
	j := &job{
		call: call, pass: call.Req.Pass, id: f.issued, began: time.Now(), local: true,
		loans: make(map[match.Heights][]*loan), settled: make(map[*peer]bool),
	}
	j.ctx, j.cancel = context.WithCancel(f.ctx)
	f.jobs = append(f.jobs, j)
}

// cut cuts the scripts of a pass for sending, in a worker.
func (f *front) cut(c actor.Context, j *job) {
	j.cutting = true
	f.share(j)
	f.tasks.Go(c, func() func() {
		stop := j.pass.Stop
		header, err := f.cfg.Header(&stop.Hash)
		set, ok := wire.NewSet(func(n int) iter.Seq[[]byte] { return until(j.ctx, j.pass.Query.ScriptsFrom(n)) })
		return func() {
			if !slices.Contains(f.jobs, j) {
				return
			}
			if !ok || err != nil || set.Chunks() == 0 {
				j.unfit = true
				f.share(j)
				return
			}
			j.open = wire.Message{
				Kind: wire.Open, Scan: j.id, Set: set.Digest, Scripts: uint32(set.Scripts()),
				Chunks: uint32(set.Chunks()), Size: set.Size, To: stop.Height, Block: stop.Hash, Header: header,
				Check: j.pass.Keep != nil, Exact: j.pass.Exact,
			}
			j.set = set
			f.offer(j)
		}
	})
}

// until yields scripts until a context has ended.
func until(ctx context.Context, scripts iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		count := 0
		for script := range scripts {
			if count++; count%lookEvery == 0 && ctx.Err() != nil || !yield(script) {
				return
			}
		}
	}
}

// end ends the lending from a pass.
func (f *front) end(pass *match.Pass) {
	for _, j := range f.jobs {
		if j.pass == pass {
			f.finish(j, nil)
			return
		}
	}
}

// finish answers a job. It gives lent heights back to the pass, and closes it at the members.
func (f *front) finish(j *job, err error) {
	f.jobs = slices.DeleteFunc(f.jobs, func(x *job) bool { return x == j })
	j.cancel()
	for heights := range j.loans {
		j.pass.GiveBack(heights)
	}
	clear(j.loans)
	if !j.local {
		j.pass.Reserve(false)
	}
	for _, p := range f.peers {
		p.forget(j)
		if p.scans[j] != nil {
			f.say(p, &wire.Message{Kind: wire.Close, Scan: j.id})
			delete(p.scans, j)
		}
	}
	j.call.Answer(messages.Done{}, err)
}

// tick does what is due.
func (f *front) tick(c actor.Context, now time.Time) {
	f.resolve(c, now)
	for _, p := range f.peers {
		f.keepUp(p, now)
	}
	for _, j := range slices.Clone(f.jobs) {
		switch {
		case j.pass.Complete():
			f.finish(j, nil)
		case j.set == nil:
			if !j.waited && now.Sub(j.began) >= f.cfg.After {
				j.waited = true
			}
			if j.waited && !j.cutting && f.anyUp() {
				f.cut(c, j)
			}
		default:
			f.advance(j, now)
		}
	}
}

// advance repeats unanswered messages, takes overdue loans back, and lends.
func (f *front) advance(j *job, now time.Time) {
	f.offer(j)
	for _, list := range j.loans {
		for _, l := range slices.Clone(list) {
			if now.Sub(l.at) > max(4*l.expected, overdue) && l.peer.out[l.unit] == l {
				l.peer.late, l.peer.lateAt = true, now // and gets no more until it answers
				l.peer.lost[l.unit] = l
				l.giveBack()
			}
		}
	}
	f.share(j)
	f.fillAll()
}

// share lets workers of this node take heights, or forbids it while members work on them.
func (f *front) share(j *job) {
	now := time.Now()
	local := f.cfg.Local || j.unfit || !slices.ContainsFunc(f.sorted(), func(p *peer) bool {
		return p.works(j) || p.getsReady(j, now)
	})
	if local != j.local {
		j.local = local
		j.pass.Reserve(!local)
	}
}

// giveBack takes heights from a member. Where nobody else has them, they are to be lent again.
func (l *loan) giveBack() {
	delete(l.peer.out, l.unit)
	if l.remove() {
		l.peer.counts.Redone++
		l.job.pass.GiveBack(l.heights)
	}
}

// remove forgets a loan. It reports whether nobody else has its heights.
func (l *loan) remove() (last bool) {
	list := l.job.loans[l.heights]
	at := slices.Index(list, l)
	if at < 0 {
		return false
	}
	list = slices.Delete(list, at, at+1)
	l.job.loans[l.heights] = list
	if len(list) == 0 {
		delete(l.job.loans, l.heights)
	}
	return len(list) == 0
}

// close gives everything back. Callers are answered by the guard of the actor.
func (f *front) close() {
	for _, j := range f.jobs {
		for heights := range j.loans {
			j.pass.GiveBack(heights)
		}
		if !j.local {
			j.pass.Reserve(false)
		}
	}
	f.jobs = nil
	f.stop()
}

// sorted returns the peers by their addresses.
func (f *front) sorted() []*peer {
	list := make([]*peer, 0, len(f.peers))
	for _, p := range f.peers {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *peer) int { return cmp.Compare(a.address, b.address) })
	return list
}

func (f *front) state(s *messages.Cluster) {
	s.Lending = len(f.jobs)
	for _, p := range f.sorted() {
		s.Members = append(s.Members, p.state())
	}
}
