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
	askAgain        = 300 * time.Millisecond // a message may have been lost
	retryAfter      = time.Second            // a worker node may have caught up
	window          = 4                      // chunks on their way to a worker node
	overdue         = 800 * time.Millisecond // a worker node is silent, at the earliest
	leaseAgainAfter = time.Second            // before a silent worker node gets leases again
	leasesAtOnce    = 2                      // units of a worker node: the first in work, the second waiting
	mostChecks      = 16                     // answers of a pass under check here, from which on nothing is leased
)

// coordinator is the side that leases.
type coordinator struct {
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

// job is a pass whose heights are leased.
type job struct {
	call     *leaseHeights
	pass     *match.Pass
	id       uint64
	began    time.Time
	ctx      context.Context //nolint:containedctx // ends what is done here for it
	cancel   context.CancelFunc
	waited   bool      // for Config.After, as short passes are not leased
	cutting  bool      // its scripts are being cut, or have been
	unfit    bool      // it cannot be leased
	set      *wire.Set // nil until they are
	open     wire.Message
	leases   map[match.Heights][]*lease
	answered map[*peer]bool // worker nodes that have answered for a part of it
	checks   int            // answers that are looked into here now
	chain    []*peer        // worker nodes in the order in which they pass the scripts on
	local    bool           // workers of this node may take its heights
}

// lease is heights that a worker node was given.
type lease struct {
	unit     uint64
	job      *job
	peer     *peer
	heights  match.Heights
	at       time.Time
	takes    time.Duration // the work on it, as far as is known
	expected time.Duration // until it is answered, with what the worker node had before
}

func newCoordinator(cfg *Config, tasks *ask.Tasks) *coordinator {
	co := &coordinator{
		cfg: cfg, tasks: tasks, peers: make(map[string]*peer), sessions: make(map[[16]byte]*peer),
	}
	co.ctx, co.stop = context.WithCancel(context.Background())
	return co
}

// leaseFrom takes a pass on, to lease its heights.
func (co *coordinator) leaseFrom(call *leaseHeights) {
	co.issued++
	j := &job{
		call: call, pass: call.Req.Pass, id: co.issued, began: time.Now(), local: true,
		leases: make(map[match.Heights][]*lease), answered: make(map[*peer]bool),
	}
	j.ctx, j.cancel = context.WithCancel(co.ctx)
	co.jobs = append(co.jobs, j)
}

// cut cuts the scripts of a pass for sending, in a worker.
func (co *coordinator) cut(c actor.Context, j *job) {
	j.cutting = true
	co.share(j)
	co.tasks.Go(c, func() func() {
		stop := j.pass.Stop
		header, err := co.cfg.Header(&stop.Hash)
		set, ok := wire.NewSet(func(n int) iter.Seq[[]byte] { return until(j.ctx, j.pass.Query.ScriptsFrom(n)) })
		return func() {
			if !slices.Contains(co.jobs, j) {
				return
			}
			if !ok || err != nil || set.Chunks() == 0 {
				j.unfit = true
				co.share(j)
				return
			}
			j.open = wire.Message{
				Kind: wire.Open, Scan: j.id, Set: set.Digest, Scripts: uint32(set.Scripts()),
				Chunks: uint32(set.Chunks()), Size: set.Size, To: stop.Height, Block: stop.Hash, Header: header,
				Check: j.pass.Keep != nil, Exact: j.pass.Exact,
			}
			j.set = set
			co.offer(j)
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

// end ends the leases of a pass.
func (co *coordinator) end(pass *match.Pass) {
	for _, j := range co.jobs {
		if j.pass == pass {
			co.finish(j, nil)
			return
		}
	}
}

// finish answers a job. It gives leased heights back to the pass, and closes it at the worker nodes.
func (co *coordinator) finish(j *job, err error) {
	co.jobs = slices.DeleteFunc(co.jobs, func(x *job) bool { return x == j })
	j.cancel()
	for heights := range j.leases {
		j.pass.GiveBack(heights)
	}
	clear(j.leases)
	if !j.local {
		j.pass.Reserve(false)
	}
	for _, p := range co.peers {
		p.forget(j)
		if p.scans[j] != nil {
			co.say(p, &wire.Message{Kind: wire.Close, Scan: j.id})
			delete(p.scans, j)
		}
	}
	j.call.Answer(messages.Done{}, err)
}

// tick does what is due.
func (co *coordinator) tick(c actor.Context, now time.Time) {
	co.resolve(c, now)
	for _, p := range co.peers {
		co.keepUp(p, now)
	}
	for _, j := range slices.Clone(co.jobs) {
		switch {
		case j.pass.Complete():
			co.finish(j, nil)
		case j.set == nil:
			if !j.waited && now.Sub(j.began) >= co.cfg.After {
				j.waited = true
			}
			if j.waited && !j.cutting && co.anyUp() {
				co.cut(c, j)
			}
		default:
			co.advance(j, now)
		}
	}
}

// advance repeats unanswered messages, takes overdue leases back, and leases.
func (co *coordinator) advance(j *job, now time.Time) {
	co.offer(j)
	for _, list := range j.leases {
		for _, l := range slices.Clone(list) {
			if now.Sub(l.at) > max(4*l.expected, overdue) && l.peer.out[l.unit] == l {
				l.peer.late, l.peer.lateAt = true, now // and gets no more until it answers
				l.peer.lost[l.unit] = l
				l.giveBack()
			}
		}
	}
	co.share(j)
	co.fillAll()
}

// share lets workers of this node take heights, or forbids it while worker nodes work on them.
func (co *coordinator) share(j *job) {
	now := time.Now()
	local := co.cfg.Local || j.unfit || !slices.ContainsFunc(co.sorted(), func(p *peer) bool {
		return p.works(j) || p.getsReady(j, now)
	})
	if local != j.local {
		j.local = local
		j.pass.Reserve(!local)
	}
}

// giveBack takes heights from a worker node. Where nobody else has them, they are to be leased again.
func (l *lease) giveBack() {
	delete(l.peer.out, l.unit)
	if l.remove() {
		l.peer.counts.Redone++
		l.job.pass.GiveBack(l.heights)
	}
}

// remove forgets a lease. It reports whether nobody else has its heights.
func (l *lease) remove() (last bool) {
	list := l.job.leases[l.heights]
	at := slices.Index(list, l)
	if at < 0 {
		return false
	}
	list = slices.Delete(list, at, at+1)
	l.job.leases[l.heights] = list
	if len(list) == 0 {
		delete(l.job.leases, l.heights)
	}
	return len(list) == 0
}

// close gives everything back. Callers are answered by the guard of the actor.
func (co *coordinator) close() {
	for _, j := range co.jobs {
		for heights := range j.leases {
			j.pass.GiveBack(heights)
		}
		if !j.local {
			j.pass.Reserve(false)
		}
	}
	co.jobs = nil
	co.stop()
}

// sorted returns the peers by their addresses.
func (co *coordinator) sorted() []*peer {
	list := make([]*peer, 0, len(co.peers))
	for _, p := range co.peers {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *peer) int { return cmp.Compare(a.address, b.address) })
	return list
}

func (co *coordinator) state(s *messages.Cluster) {
	s.Lending = len(co.jobs)
	for _, p := range co.sorted() {
		s.Members = append(s.Members, p.state())
	}
}
