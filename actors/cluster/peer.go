package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/messages"
)

const (
	firstWait   = 500 * time.Millisecond // before a node that does not answer is asked again
	longestWait = 5 * time.Second
	pingEvery   = 2 * time.Second
	deadAfter   = 6 * time.Second // nothing was heard of a member
	resolveWait = 30 * time.Second
	resolveTime = 5 * time.Second
	readyWithin = 30 * time.Second // for ten million scripts, on a slow machine
	maxPeers    = 256
)

// peer is a node that work may be lent to.
type peer struct {
	address  string
	session  [16]byte
	listed   bool // it is one of the configured nodes, as they resolve now
	up       bool
	late     bool // it owes an answer for long, since lateAt
	lateAt   time.Time
	excluded bool // it has given a wrong one
	asked    time.Time
	heard    time.Time
	wait     time.Duration
	workers  int
	build    string
	height   int32

	out    map[uint64]*loan // by unit
	lost   map[uint64]*loan // given back, and it may answer yet
	scans  map[*job]*opened
	counts messages.ClusterMember
}

// opened is a pass as far as a member has it.
type opened struct {
	ready   bool
	refused bool // for good
	retryAt time.Time
	since   time.Time // when it was asked first
	asked   time.Time // or heard of, last
	source  string    // address of the member that it has the scripts from; empty: from this node
	need    bool      // it has them from this node
	sent    int       // chunks, or that it had before
	taken   int
	rate    float64 // heights a second
}

// works reports whether a member may be given heights of a pass.
func (p *peer) works(j *job) bool {
	scan := p.scans[j]
	return p.up && !p.late && !p.excluded && scan != nil && scan.ready
}

// getsReady reports whether a member is likely to open a pass soon: it still answers, or was asked only just now.
func (p *peer) getsReady(j *job, now time.Time) bool {
	scan := p.scans[j]
	switch {
	case !p.up || p.late || p.excluded:
		return false
	case scan == nil:
		return j.cutting && j.set == nil // it is asked next
	default:
		return !scan.refused && scan.retryAt.IsZero() && now.Sub(scan.since) < readyWithin &&
			(now.Sub(scan.since) < overdue || now.Sub(p.heard) < overdue)
	}
}

// forget removes a peer's units of a pass.
func (p *peer) forget(j *job) {
	for _, list := range []map[uint64]*loan{p.out, p.lost} {
		for unit, l := range list {
			if l.job == j {
				delete(list, unit)
			}
		}
	}
}

func (p *peer) state() messages.ClusterMember {
	s := p.counts
	s.Address, s.Build, s.Workers, s.Height = p.address, p.build, p.workers, p.height
	switch {
	case p.excluded:
		s.State = "excluded"
	case !p.up:
		s.State = "down"
	case p.late:
		s.State = "late"
	default:
		s.State = "up"
	}
	return s
}

// say sends a message to a member.
func (f *front) say(p *peer, m *wire.Message) {
	m.Session = p.session
	f.cfg.send(p.address, m)
}

func (f *front) anyUp() bool {
	return slices.ContainsFunc(f.sorted(), func(p *peer) bool { return p.up && !p.excluded })
}

// resolve looks the names of the nodes up, in a worker.
func (f *front) resolve(c actor.Context, now time.Time) {
	if len(f.cfg.Nodes) == 0 || now.Sub(f.resolved) < resolveWait {
		return
	}
	f.resolved = now
	f.tasks.Go(c, func() func() {
		ctx, cancel := context.WithTimeout(f.ctx, resolveTime)
		defer cancel()
		var list []string
		unknown := make(map[string]error)
		for _, node := range f.cfg.Nodes {
			found, err := f.addresses(ctx, node)
			if err != nil {
				unknown[node] = err
			}
			list = append(list, found...)
		}
		return func() {
			f.unknown = notFound(f.cfg.Log, f.unknown, unknown)
			f.listed(list)
		}
	})
}

// addresses returns what a node's name stands for.
func (f *front) addresses(ctx context.Context, node string) ([]string, error) {
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) != nil {
		return []string{node}, nil
	}
	hosts, err := f.cfg.Resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(hosts))
	for i, h := range hosts {
		list[i] = net.JoinHostPort(h, port)
	}
	return list, nil
}

// notFound logs nodes whose names cannot be resolved now, each once until it is found. It returns these nodes.
func notFound(log *slog.Logger, before []string, unknown map[string]error) []string {
	nodes := slices.Sorted(maps.Keys(unknown))
	for _, node := range nodes {
		if !slices.Contains(before, node) {
			log.Info("a node of the cluster cannot be found", "node", node, "err", unknown[node])
		}
	}
	return nodes
}

// listed takes the addresses of the nodes. A peer that is not listed any more stays as long as it answers.
func (f *front) listed(list []string) {
	self, _ := f.cfg.Link.State()
	for _, p := range f.peers {
		if p.listed = slices.Contains(list, p.address); !p.listed && !p.up {
			f.drop(p)
		}
	}
	for _, address := range list {
		if address == self || f.peers[address] != nil || len(f.peers) >= maxPeers {
			continue
		}
		p := &peer{
			address: address, listed: true, out: make(map[uint64]*loan), lost: make(map[uint64]*loan),
			scans: make(map[*job]*opened), height: -1,
		}
		f.renew(p)
		f.peers[address] = p
		f.keepUp(p, time.Now())
	}
}

// renew gives a peer a session that nobody else knows.
func (f *front) renew(p *peer) {
	delete(f.sessions, p.session)
	_, _ = rand.Read(p.session[:]) // it never fails
	f.sessions[p.session] = p
}

func (f *front) drop(p *peer) {
	delete(f.sessions, p.session)
	delete(f.peers, p.address)
}

// keepUp says hello to a peer: to find it, and to know that it is there.
func (f *front) keepUp(p *peer, now time.Time) {
	if p.up && now.Sub(p.heard) > deadAfter {
		f.down(p)
	}
	wait := p.wait
	if p.up {
		wait = pingEvery
	}
	if now.Sub(p.asked) < wait {
		return
	}
	if !p.up {
		p.wait = min(max(2*p.wait, firstWait), longestWait)
	}
	p.asked = now
	f.say(p, &wire.Message{
		Kind: wire.Hello, Protocols: []uint32{wire.Protocol}, Network: f.cfg.Network, Text: f.cfg.Build,
	})
}

// down takes everything back from a peer.
func (f *front) down(p *peer) {
	for _, l := range p.out {
		l.giveBack()
	}
	clear(p.lost)
	clear(p.scans)
	p.up, p.late, p.wait = false, false, firstWait
	f.renew(p)
	if !p.listed {
		f.drop(p)
	}
	for _, j := range f.jobs {
		f.share(j)
	}
	f.fillAll()
}

// gone handles the end of a watched node.
func (f *front) gone(_ actor.Context, address string) {
	if p := f.peers[address]; p != nil && p.up {
		p.asked = time.Now()
		f.down(p)
	}
}

// refused notes why a member does not do something.
func (p *peer) refused(why string) {
	p.counts.Refusals++
	p.counts.Refusal = why
}
