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

// receive handles a message of a worker node. The session, which is secret, proves the sender.
func (co *coordinator) receive(c actor.Context, m *wire.Message) {
	p := co.sessions[m.Session]
	if p == nil {
		return
	}
	p.lastSeen = time.Now()
	if m.Kind == wire.Welcome {
		co.welcome(p, m)
		return
	}
	if m.Kind == wire.Refused || m.Kind == wire.Unknown {
		if m.Kind == wire.Refused {
			p.refused(m.Text)
		}
		if p.up {
			co.down(p)
		}
		return
	}
	j := co.job(m.Scan)
	if j == nil || !p.up || p.scans[j] == nil {
		return
	}
	scan := p.scans[j]
	scan.asked = time.Now()
	switch m.Kind {
	case wire.Opened:
		co.opened(p, j, m)
	case wire.Taken:
		if int(m.Index) < scan.sent {
			scan.taken = min(scan.taken+1, scan.sent)
		}
		co.feed(p, j)
	case wire.Done:
		co.done(c, p, j, m)
	default: // looked at above, or a coordinator's
	}
}

// leaseAgain leases to a late worker node again, once it reports, leaseAgainAfter or later, that it is there.
// Its old units are cancelled: they may be lost, or too much for it to do.
func (co *coordinator) leaseAgain(p *peer) {
	if !p.late || p.lastSeen.Sub(p.lateAt) < leaseAgainAfter {
		return
	}
	for unit, l := range p.lost {
		co.say(p, &wire.Message{Kind: wire.Cancel, Scan: l.job.id, Unit: unit})
	}
	clear(p.lost)
	p.late = false
	co.fill(p)
}

func (co *coordinator) job(id uint64) *job {
	for _, j := range co.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (co *coordinator) welcome(p *peer, m *wire.Message) {
	if !slices.Contains(m.Protocols, wire.Protocol) || m.Network != co.cfg.Network {
		p.refused("it speaks another protocol, or is of another network")
		return
	}
	p.workers, p.build, p.height, p.wait = int(min(m.Workers, 1<<12)), m.Text, m.Height, 0
	if p.up {
		co.leaseAgain(p)
		return
	}
	p.up = true
	co.cfg.Link.Watch(p.address)
	for _, j := range co.jobs {
		co.offer(j)
		co.share(j)
	}
}

// offer has the worker nodes that are up open a pass, and asks again those that have not answered.
func (co *coordinator) offer(j *job) {
	if j.set == nil {
		return
	}
	now := time.Now()
	for _, p := range co.peers {
		if !p.up || p.excluded {
			continue
		}
		scan := p.scans[j]
		if scan == nil {
			scan = &opened{source: co.sourceFor(p, j), since: now}
			p.scans[j] = scan
		}
		if scan.ready || scan.refused || now.Before(scan.retryAt) || now.Sub(scan.asked) < askAgain {
			continue
		}
		scan.asked, scan.need = now, false
		open := j.open
		open.Source = scan.source
		co.say(p, &open)
	}
}

// sourceFor returns the worker node that passes the scripts on to a worker node, if they are many: the last before
// it in the chain. So the coordinator sends them once. It returns an empty address for the coordinator.
func (co *coordinator) sourceFor(p *peer, j *job) (address string) {
	if j.set.Size < uint64(co.cfg.PassOn) {
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

func (co *coordinator) opened(p *peer, j *job, m *wire.Message) {
	scan := p.scans[j]
	switch {
	case m.Text != "":
		scan.ready, scan.refused, scan.retryAt = false, !m.Retry, time.Now().Add(retryAfter)
		scan.source = "" // from the coordinator, the next time
		p.refused(m.Text)
		co.share(j)
	case m.Need:
		if !scan.need { // from the first that it lacks on
			scan.need, scan.sent, scan.taken = true, int(m.Index), int(m.Index)
		}
		co.feed(p, j)
	case m.Retry: // it makes the scripts ready
	default:
		scan.ready, scan.need = true, false
		co.share(j)
		co.fill(p)
	}
}

// feed sends chunks of the scripts, a few at a time.
func (co *coordinator) feed(p *peer, j *job) {
	scan := p.scans[j]
	for scan.need && scan.sent < j.set.Chunks() && scan.sent-scan.taken < window {
		co.chunk = j.set.AppendChunk(co.chunk[:0], scan.sent)
		co.say(p, &wire.Message{Kind: wire.Chunk, Scan: j.id, Index: uint32(scan.sent), Data: co.chunk})
		scan.sent++
	}
}

// done takes the answer to a unit.
func (co *coordinator) done(c actor.Context, p *peer, j *job, m *wire.Message) {
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
		co.share(j)
		co.fillAll()
		return
	}
	took := min(time.Duration(m.Micros)*time.Microsecond, time.Since(l.at))
	p.counts.Busy += took
	p.scans[j].measure(l.heights, took)
	audit := rand.Float64() < co.cfg.Audit //nolint:gosec // seeded by the system
	if audit || len(m.Unchecked) > 0 || j.pass.KeepAll && len(m.Hits) > 0 {
		co.check(c, l, m, audit)
	} else {
		co.finishLease(l, hits(j, m.Hits))
	}
	co.fill(p)
}

// measure learns how fast a worker node is.
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

// finishLease takes hits as the answer for a range, unless it has one.
func (co *coordinator) finishLease(l *lease, found []match.Hit) {
	j := l.job
	if j.pass.Finish(l.heights, found) {
		l.peer.counts.Units++
		j.answered[l.peer] = true
	}
	for _, other := range j.leases[l.heights] {
		if other != l && other.peer.out[other.unit] == other {
			delete(other.peer.out, other.unit)
			co.say(other.peer, &wire.Message{Kind: wire.Cancel, Scan: j.id, Unit: other.unit})
		}
	}
	delete(j.leases, l.heights)
	if j.pass.Complete() {
		co.finish(j, nil)
	}
}

// check looks, in a worker, into the blocks that a worker node could not look into, or into all of its hits where
// the pass keeps all. Where the answer is audited, it is compared with this node's own.
func (co *coordinator) check(c actor.Context, l *lease, m *wire.Message, audit bool) {
	j := l.job
	j.checks++
	co.tasks.Go(c, func() func() {
		found, err := kept(j, m)
		verdict := unaudited
		if audit && err == nil {
			verdict = co.audit(j, l, found)
		}
		return func() {
			j.checks--
			l.checked(co, found, verdict, err)
		}
	})
}

// checked takes the result of a check of an answer.
func (l *lease) checked(co *coordinator, found []match.Hit, verdict verdict, err error) {
	switch {
	case verdict == wrong:
		co.exclude(l)
	case !slices.Contains(co.jobs, l.job):
	case l.peer.excluded && verdict != right: // by an audit meanwhile
		l.giveBack()
		co.fillAll()
	case err != nil:
		co.finish(l.job, &match.KeepError{Err: err})
	default:
		if verdict == right {
			l.peer.counts.Audited++
		}
		co.finishLease(l, found)
		co.fillAll()
	}
}

// exclude stops leasing to the worker node that has given a wrong answer. Its leased heights are given back. Each
// pass that it has answered a part of fails, whichever part that was.
func (co *coordinator) exclude(l *lease) {
	p := l.peer
	co.cfg.Log.Error("a member of the cluster has given a wrong answer",
		"member", p.address, "from", l.heights.From, "to", l.heights.To)
	p.excluded = true
	l.job.answered[p] = true
	for _, other := range p.out {
		other.giveBack()
	}
	clear(p.lost)
	for _, j := range slices.Clone(co.jobs) {
		if j.answered[p] {
			co.finish(j, &messages.ClusterError{Member: p.address, From: l.heights.From, To: l.heights.To})
			continue
		}
		co.share(j)
	}
	co.fillAll()
}

// kept returns the hits of a worker node that this node keeps.
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
	return slices.Compact(found), nil // a worker node may have said both of a block
}

// verdict is what an audit says of an answer.
type verdict int

const (
	unaudited verdict = iota // this node's own filters or blocks cannot be read
	right
	wrong
)

func (co *coordinator) audit(j *job, l *lease, found []match.Hit) verdict {
	own, err := co.own(j.ctx, j, l.heights)
	switch {
	case err != nil:
		return unaudited
	case slices.Equal(own, found):
		return right
	case j.pass.Exact && j.pass.Keep == nil:
		return j.without(co.cfg, slices.DeleteFunc(own, func(h match.Hit) bool {
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
func (co *coordinator) own(ctx context.Context, j *job, h match.Heights) ([]match.Hit, error) {
	pass := co.cfg.Scheduler.NewPass(match.Config{
		Query: j.pass.Query, First: h.From, Stop: j.pass.Stop.Ancestor(h.To - 1), Keep: j.pass.Keep,
		Exact: j.pass.Exact, Alone: true,
	})
	if err := co.cfg.Scheduler.Run(ctx, pass); err != nil {
		return nil, err
	}
	found, _ := pass.Hits()
	return found, nil
}
