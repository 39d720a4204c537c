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
	deadAfter   = 6 * time.Second // without a message of a worker node
	resolveWait = 30 * time.Second
	resolveTime = 5 * time.Second
	readyWithin = 30 * time.Second // for ten million scripts, on a slow machine
	maxPeers    = 256
)

// peer is a node that heights may be leased to.
type peer struct {
	address  string
	session  [16]byte
	listed   bool // it is one of the configured nodes, as they resolve now
	up       bool
	late     bool // it owes an answer for long, since lateAt
	lateAt   time.Time
	excluded bool // it has given a wrong one
	asked    time.Time
	lastSeen time.Time
	wait     time.Duration
	workers  int
	build    string
	height   int32

	out    map[uint64]*lease // by unit
	lost   map[uint64]*lease // given back, and it may answer yet
	scans  map[*job]*opened
	counts messages.ClusterMember
}

// opened is a pass as far as a worker node has it.
type opened struct {
	ready   bool
	refused bool // for good
	retryAt time.Time
	since   time.Time // when it was asked first
	asked   time.Time // or has answered, last
	source  string    // address of the worker node that it has the scripts from; empty: from this node
	need    bool      // it has them from this node
	sent    int       // chunks, or that it had before
	taken   int
	rate    float64 // heights a second
}

// works reports whether a worker node may be given heights of a pass.
func (p *peer) works(j *job) bool {
	scan := p.scans[j]
	return p.up && !p.late && !p.excluded && scan != nil && scan.ready
}

// getsReady reports whether a worker node is likely to open a pass soon: it still answers, or was asked only just
// now.
func (p *peer) getsReady(j *job, now time.Time) bool {
	scan := p.scans[j]
	switch {
	case !p.up || p.late || p.excluded:
		return false
	case scan == nil:
		return j.cutting && j.set == nil // it is asked next
	default:
		return !scan.refused && scan.retryAt.IsZero() && now.Sub(scan.since) < readyWithin &&
			(now.Sub(scan.since) < overdue || now.Sub(p.lastSeen) < overdue)
	}
}

// forget removes a peer's units of a pass.
func (p *peer) forget(j *job) {
	for _, list := range []map[uint64]*lease{p.out, p.lost} {
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

// say sends a message to a worker node.
func (co *coordinator) say(p *peer, m *wire.Message) {
	m.Session = p.session
	co.cfg.send(p.address, m)
}

func (co *coordinator) anyUp() bool {
	return slices.ContainsFunc(co.sorted(), func(p *peer) bool { return p.up && !p.excluded })
}

// resolve looks the names of the nodes up, in a worker.
func (co *coordinator) resolve(c actor.Context, now time.Time) {
	if len(co.cfg.Nodes) == 0 || now.Sub(co.resolved) < resolveWait {
		return
	}
	co.resolved = now
	co.tasks.Go(c, func() func() {
		ctx, cancel := context.WithTimeout(co.ctx, resolveTime)
		defer cancel()
		var list []string
		unknown := make(map[string]error)
		for _, node := range co.cfg.Nodes {
			found, err := co.addresses(ctx, node)
			if err != nil {
				unknown[node] = err
			}
			list = append(list, found...)
		}
		return func() {
			co.unknown = notFound(co.cfg.Log, co.unknown, unknown)
			co.listed(list)
		}
	})
}

// addresses returns what a node's name stands for.
func (co *coordinator) addresses(ctx context.Context, node string) ([]string, error) {
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) != nil {
		return []string{node}, nil
	}
	hosts, err := co.cfg.Resolve(ctx, host)
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
func (co *coordinator) listed(list []string) {
	self, _ := co.cfg.Link.State()
	for _, p := range co.peers {
		if p.listed = slices.Contains(list, p.address); !p.listed && !p.up {
			co.drop(p)
		}
	}
	for _, address := range list {
		if address == self || co.peers[address] != nil || len(co.peers) >= maxPeers {
			continue
		}
		p := &peer{
			address: address, listed: true, out: make(map[uint64]*lease), lost: make(map[uint64]*lease),
			scans: make(map[*job]*opened), height: -1,
		}
		co.renew(p)
		co.peers[address] = p
		co.keepUp(p, time.Now())
	}
}

// renew gives a peer a session that nobody else knows.
func (co *coordinator) renew(p *peer) {
	delete(co.sessions, p.session)
	_, _ = rand.Read(p.session[:]) // it never fails
	co.sessions[p.session] = p
}

func (co *coordinator) drop(p *peer) {
	delete(co.sessions, p.session)
	delete(co.peers, p.address)
}

// keepUp says hello to a peer: to find it, and to know that it is there.
func (co *coordinator) keepUp(p *peer, now time.Time) {
	if p.up && now.Sub(p.lastSeen) > deadAfter {
		co.down(p)
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
	co.say(p, &wire.Message{
		Kind: wire.Hello, Protocols: []uint32{wire.Protocol}, Network: co.cfg.Network, Text: co.cfg.Build,
	})
}

// down takes everything back from a peer.
func (co *coordinator) down(p *peer) {
	for _, l := range p.out {
		l.giveBack()
	}
	clear(p.lost)
	clear(p.scans)
	p.up, p.late, p.wait = false, false, firstWait
	co.renew(p)
	if !p.listed {
		co.drop(p)
	}
	for _, j := range co.jobs {
		co.share(j)
	}
	co.fillAll()
}

// gone handles the end of a watched node.
func (co *coordinator) gone(_ actor.Context, address string) {
	if p := co.peers[address]; p != nil && p.up {
		p.asked = time.Now()
		co.down(p)
	}
}

// refused notes why a worker node does not do something.
func (p *peer) refused(why string) {
	p.counts.Refusals++
	p.counts.Refusal = why
}
