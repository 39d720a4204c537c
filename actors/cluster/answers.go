package cluster

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// receive handles a message of a member. The session, which is secret, proves the sender.
func (f *front) receive(c actor.Context, m *wire.Message) {
	p := f.sessions[m.Session]
	if p == nil {
		return
	}
	p.heard = time.Now()
	if m.Kind == wire.Welcome {
		f.welcome(p, m)
		return
	}
	if m.Kind == wire.Refused || m.Kind == wire.Unknown {
		if m.Kind == wire.Refused {
			p.refused(m.Text)
		}
		if p.up {
			f.down(p)
		}
		return
	}
	j := f.job(m.Scan)
	if j == nil || !p.up || p.scans[j] == nil {
		return
	}
	scan := p.scans[j]
	scan.asked = time.Now()
	switch m.Kind {
	case wire.Opened:
		f.opened(p, j, m)
	case wire.Taken:
		if int(m.Index) < scan.sent {
			scan.taken = min(scan.taken+1, scan.sent)
		}
		f.feed(p, j)
	case wire.Done:
		f.done(c, p, j, m)
	default: // looked at above, or a front's
	}
}

// relent lends again to a late member, once it says, relentAfter or later, that it is there. Its old units are
// cancelled: they may be lost, or too much for it to do.
func (f *front) relent(p *peer) {
	if !p.late || p.heard.Sub(p.lateAt) < relentAfter {
		return
	}
	for unit, l := range p.lost {
		f.say(p, &wire.Message{Kind: wire.Cancel, Scan: l.job.id, Unit: unit})
	}
	clear(p.lost)
	p.late = false
	f.fill(p)
}

func (f *front) job(id uint64) *job {
	for _, j := range f.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (f *front) welcome(p *peer, m *wire.Message) {
	if !slices.Contains(m.Protocols, wire.Protocol) || m.Network != f.cfg.Network {
		p.refused("it speaks another protocol, or is of another network")
		return
	}
	p.workers, p.build, p.height, p.wait = int(min(m.Workers, 1<<12)), m.Text, m.Height, 0
	if p.up {
		f.relent(p)
		return
	}
	p.up = true
	f.cfg.Link.Watch(p.address)
	for _, j := range f.jobs {
		f.offer(j)
		f.share(j)
	}
}

// offer has the members that are up open a pass, and asks again those that have not answered.
func (f *front) offer(j *job) {
	if j.set == nil {
		return
	}
	now := time.Now()
	for _, p := range f.peers {
		if !p.up || p.excluded {
			continue
		}
		scan := p.scans[j]
		if scan == nil {
			scan = &opened{source: f.sourceFor(p, j), since: now}
			p.scans[j] = scan
		}
		if scan.ready || scan.refused || now.Before(scan.retryAt) || now.Sub(scan.asked) < askAgain {
			continue
		}
		scan.asked, scan.need = now, false
		open := j.open
		open.Source = scan.source
		f.say(p, &open)
	}
}

// sourceFor returns the member that passes the scripts on to a member, if they are many: the last before it in the
// chain. So the front sends them once. It returns an empty address for the front.
func (f *front) sourceFor(p *peer, j *job) (address string) {
	if j.set.Size < uint64(f.cfg.PassOn) {
		return ""
	}
	for _, before := range j.chain {
		if scan := before.scans[j]; before.up && !before.excluded && scan != nil && !scan.refused {
			address = before.address
		}
	}
	j.chain = append(j.chain, p)
	return address
}

func (f *front) opened(p *peer, j *job, m *wire.Message) {
	scan := p.scans[j]
	switch {
	case m.Text != "":
		scan.ready, scan.refused, scan.retryAt = false, !m.Retry, time.Now().Add(retryAfter)
		scan.source = "" // from the front, the next time
		p.refused(m.Text)
		f.share(j)
	case m.Need:
		if !scan.need { // from the first that it lacks on
			scan.need, scan.sent, scan.taken = true, int(m.Index), int(m.Index)
		}
		f.feed(p, j)
	case m.Retry: // it makes the scripts ready
	default:
		scan.ready, scan.need = true, false
		f.share(j)
		f.fill(p)
	}
}

// feed sends chunks of the scripts, a few at a time.
func (f *front) feed(p *peer, j *job) {
	scan := p.scans[j]
	for scan.need && scan.sent < j.set.Chunks() && scan.sent-scan.taken < window {
		f.chunk = j.set.AppendChunk(f.chunk[:0], scan.sent)
		f.say(p, &wire.Message{Kind: wire.Chunk, Scan: j.id, Index: uint32(scan.sent), Data: f.chunk})
		scan.sent++
	}
}

// done takes the answer to a unit.
func (f *front) done(c actor.Context, p *peer, j *job, m *wire.Message) {
	l, asked := p.out[m.Unit], true
	if l == nil {
		l, asked = p.lost[m.Unit], false
	}
	if l == nil || l.job != j {
		return // it was cancelled
	}
	p.late = false
	delete(p.out, m.Unit)
	delete(p.lost, m.Unit)
	if m.Text == "" && (match.Heights{From: m.From, To: m.To}) != l.heights {
		m.Text = "it has answered for other heights"
	}
	if m.Text != "" {
		scan := p.scans[j]
		scan.ready, scan.retryAt = false, time.Now().Add(retryAfter)
		p.refused(m.Text)
		if asked {
			l.giveBack()
		}
		f.share(j)
		f.fillAll()
		return
	}
	took := min(time.Duration(m.Micros)*time.Microsecond, time.Since(l.at))
	p.counts.Busy += took
	p.scans[j].measure(l.heights, took)
	audit := rand.Float64() < f.cfg.Audit //nolint:gosec // seeded by the system
	if audit || len(m.Unchecked) > 0 || j.pass.KeepAll && len(m.Hits) > 0 {
		f.check(c, l, m, audit)
	} else {
		f.settle(l, hits(j, m.Hits))
	}
	f.fill(p)
}

// measure learns how fast a member is.
func (o *opened) measure(h match.Heights, took time.Duration) {
	rate := float64(h.To-h.From) / max(took.Seconds(), 1e-5)
	if o.rate == 0 {
		o.rate = rate
	}
	o.rate = 0.7*o.rate + 0.3*rate
}

// hits are the blocks at some heights.
func hits(j *job, at []int32) []match.Hit {
	list := make([]match.Hit, len(at))
	for i, height := range at {
		list[i] = match.Hit{Height: height, Block: j.pass.Stop.Ancestor(height).Hash}
	}
	return list
}

// settle takes hits as the answer for a range, unless it has one.
func (f *front) settle(l *loan, found []match.Hit) {
	j := l.job
	if j.pass.Settle(l.heights, found) {
		l.peer.counts.Units++
		j.settled[l.peer] = true
	}
	for _, other := range j.loans[l.heights] {
		if other != l && other.peer.out[other.unit] == other {
			delete(other.peer.out, other.unit)
			f.say(other.peer, &wire.Message{Kind: wire.Cancel, Scan: j.id, Unit: other.unit})
		}
	}
	delete(j.loans, l.heights)
	if j.pass.Complete() {
		f.finish(j, nil)
	}
}

// check looks, in a worker, into the blocks that a member could not look into, or into all of its hits where the pass
// keeps all. Where the answer is audited, it is compared with this node's own.
func (f *front) check(c actor.Context, l *loan, m *wire.Message, audit bool) {
	j := l.job
	j.checks++
	f.tasks.Go(c, func() func() {
		found, err := kept(j, m)
		verdict := unaudited
		if audit && err == nil {
			verdict = f.audit(j, l, found)
		}
		return func() {
			j.checks--
			l.checked(f, found, verdict, err)
		}
	})
}

// checked takes the result of a check of an answer.
func (l *loan) checked(f *front, found []match.Hit, verdict verdict, err error) {
	switch {
	case verdict == wrong:
		f.exclude(l)
	case !slices.Contains(f.jobs, l.job):
	case l.peer.excluded && verdict != right: // by an audit meanwhile
		l.giveBack()
		f.fillAll()
	case err != nil:
		f.finish(l.job, &match.KeepError{Err: err})
	default:
		if verdict == right {
			l.peer.counts.Audited++
		}
		f.settle(l, found)
		f.fillAll()
	}
}

// exclude has nothing more to do with the member that has given a wrong answer. Its lent heights are given back. Each
// pass that it has answered a part of fails, whichever part that was.
func (f *front) exclude(l *loan) {
	p := l.peer
	f.cfg.Log.Error("a member of the cluster has given a wrong answer",
		"member", p.address, "from", l.heights.From, "to", l.heights.To)
	p.excluded = true
	l.job.settled[p] = true
	for _, other := range p.out {
		other.giveBack()
	}
	clear(p.lost)
	for _, j := range slices.Clone(f.jobs) {
		if j.settled[p] {
			f.finish(j, &messages.ClusterError{Member: p.address, From: l.heights.From, To: l.heights.To})
			continue
		}
		f.share(j)
	}
	f.fillAll()
}

// kept returns the hits of a member that this node keeps.
func kept(j *job, m *wire.Message) (found []match.Hit, err error) {
	found = hits(j, m.Hits)
	candidates := hits(j, m.Unchecked)
	if j.pass.KeepAll {
		candidates, found = append(candidates, found...), nil
	}
	for _, candidate := range candidates {
		keep := j.pass.Keep == nil
		if !keep {
			if keep, err = j.pass.Keep(j.ctx, &candidate.Block); err != nil {
				return nil, err
			}
		}
		if keep {
			found = append(found, candidate)
		}
	}
	slices.SortFunc(found, func(a, b match.Hit) int { return int(a.Height - b.Height) })
	return slices.Compact(found), nil // a member may have said both of a block
}

// verdict is what an audit says of an answer.
type verdict int

const (
	unaudited verdict = iota // this node's own filters or blocks cannot be read
	right
	wrong
)

func (f *front) audit(j *job, l *loan, found []match.Hit) verdict {
	own, err := f.own(j.ctx, j, l.heights)
	switch {
	case err != nil:
		return unaudited
	case slices.Equal(own, found):
		return right
	case j.pass.Exact && j.pass.Keep == nil:
		return j.without(f.cfg, slices.DeleteFunc(own, func(h match.Hit) bool {
			_, has := slices.BinarySearchFunc(found, h.Height, func(x match.Hit, height int32) int {
				return int(x.Height - height)
			})
			return has
		}))
	}
	return wrong
}

// without judges an answer that lacks the blocks left, where blocks whose filters match by chance may be missing. It
// is wrong if a missing block has one of the scripts.
func (j *job) without(cfg *Config, left []match.Hit) verdict {
	reader, matcher := cfg.Chain.Open(), filters.NewBlockMatcher(j.pass.Query)
	for _, hit := range left {
		raw, err := reader.Raw(&hit.Block)
		if err != nil {
			return unaudited
		}
		spent, err := reader.SpentScripts(&hit.Block)
		if err != nil {
			return unaudited
		}
		switch presence, err := matcher.Match(raw, cfg.HeaderLen(raw), spent); {
		case err != nil:
			return unaudited
		case presence == filters.Indexed:
			return wrong
		}
	}
	return right
}

// own matches a range here.
func (f *front) own(ctx context.Context, j *job, h match.Heights) ([]match.Hit, error) {
	pass := f.cfg.Scheduler.NewPass(match.Config{
		Query: j.pass.Query, First: h.From, Stop: j.pass.Stop.Ancestor(h.To - 1), Keep: j.pass.Keep,
		Exact: j.pass.Exact, Alone: true,
	})
	if err := f.cfg.Scheduler.Run(ctx, pass); err != nil {
		return nil, err
	}
	found, _ := pass.Hits()
	return found, nil
}
