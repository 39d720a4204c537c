package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

const (
	maxSessions = 64
	maxScans    = 16               // of a session
	maxQueued   = 4                // units of a scan that wait
	maxSilence  = 10 * time.Second // after which a coordinator is forgotten
)

// workerNode is the side that works for others.
type workerNode struct {
	cfg      *Config
	tasks    *ask.Tasks
	sets     *sets
	sessions map[[16]byte]*session
	units    uint64
}

// session is a coordinator, from its first Hello on.
type session struct {
	token       [16]byte
	coordinator string // address
	lastSeen    time.Time
	scans       map[uint64]*served
}

// served is a scan of a coordinator.
type served struct {
	session      *session
	id           uint64
	ctx          context.Context //nolint:containedctx // ends the work on it
	cancel       context.CancelFunc
	stop         *chainview.Block
	check, exact bool
	set          *set
	lastSeen     time.Time
	before       *match.Pass     // the last unit, from whose speed the next one learns
	queue        []*wire.Message // units that wait
	unit         uint64          // that is worked on
	cancelUnit   context.CancelFunc
}

func newWorkerNode(cfg *Config, tasks *ask.Tasks) *workerNode {
	return &workerNode{
		cfg: cfg, tasks: tasks, sessions: make(map[[16]byte]*session), sets: newSets(cfg.Memory, cfg.PassOn),
	}
}

// receive looks at a message of a coordinator.
func (m *workerNode) receive(c actor.Context, from string, r *wire.Message) {
	s := m.sessions[r.Session]
	if s != nil && s.coordinator != from {
		return // from a node that knows another coordinator's session
	}
	if r.Kind == wire.Hello {
		m.hello(s, from, r)
		return
	}
	if s == nil {
		m.cfg.send(from, &wire.Message{Kind: wire.Unknown, Session: r.Session})
		return
	}
	s.lastSeen = time.Now()
	scan := s.scans[r.Scan]
	if scan != nil {
		scan.lastSeen = s.lastSeen
	}
	switch {
	case r.Kind == wire.Open:
		m.open(s, r)
	case scan == nil && r.Kind == wire.Unit:
		m.refuseUnit(s, r, "no such scan")
	case scan == nil:
	case r.Kind == wire.Chunk:
		m.chunk(c, scan, r)
	case r.Kind == wire.Unit:
		m.unit(c, scan, r)
	case r.Kind == wire.Cancel:
		scan.cancelled(r.Unit)
	case r.Kind == wire.Close:
		m.drop(scan)
	}
}

// hello begins a session, or confirms that it goes on.
func (m *workerNode) hello(s *session, from string, r *wire.Message) {
	refuse := func(why string) {
		m.cfg.send(from, &wire.Message{Kind: wire.Refused, Session: r.Session, Text: why})
	}
	switch {
	case !m.cfg.Serve:
		refuse("it does not work for others")
		return
	case !slices.Contains(r.Protocols, wire.Protocol):
		refuse(fmt.Sprintf("it speaks version %d of the protocol", wire.Protocol))
		return
	case r.Network != m.cfg.Network:
		refuse("it is of the network " + m.cfg.Network)
		return
	}
	if s == nil {
		m.gone(from) // a coordinator has one session
		if len(m.sessions) >= maxSessions {
			refuse("it works for too many nodes")
			return
		}
		s = &session{token: r.Session, coordinator: from, scans: make(map[uint64]*served)}
		m.sessions[s.token] = s
		m.cfg.Link.Watch(from)
	}
	s.lastSeen = time.Now()
	height := int32(-1)
	if reader := m.cfg.Chain.Open(); reader != nil {
		height = reader.Active().Tip().Height
	}
	m.cfg.send(from, &wire.Message{
		Kind: wire.Welcome, Session: s.token, Protocols: []uint32{wire.Protocol}, Network: m.cfg.Network,
		Text: m.cfg.Build, Workers: uint32(m.cfg.Workers), Height: height,
	})
}

// open takes a scan on, where this node has the same blocks and filters.
func (m *workerNode) open(s *session, r *wire.Message) {
	if scan := s.scans[r.Scan]; scan != nil {
		m.opened(scan)
		return
	}
	scan, why := m.newScan(s, r)
	if scan == nil {
		m.cfg.send(s.coordinator, &wire.Message{
			Kind: wire.Opened, Session: s.token, Scan: r.Scan, Text: why, Retry: why != differs,
		})
		return
	}
	s.scans[r.Scan] = scan
	if scan.set.from != nil && scan.set.receiving() {
		m.fetchMore(scan.set, time.Now())
	}
	m.opened(scan)
}

// differs is why a scan is refused for good.
const differs = "its filters are others"

// newScan returns the scan that a coordinator asks for, or why it cannot be.
func (m *workerNode) newScan(s *session, r *wire.Message) (scan *served, why string) {
	reader := m.cfg.Chain.Open()
	if reader == nil {
		return nil, "its chain cannot be read yet"
	}
	stop := reader.Lookup((*chainhash.Hash)(&r.Block))
	if stop == nil || stop.Height != r.To {
		return nil, "it does not know the last block"
	}
	view := m.cfg.Scheduler.View()
	active := view.Active(stop.Height, &stop.Hash)
	view.Release()
	if !active {
		return nil, "it has no filters of that chain"
	}
	header, err := m.cfg.Header(&stop.Hash)
	if err != nil {
		return nil, "it cannot read the filter header of the last block"
	}
	if header != chainhash.Hash(r.Header) {
		return nil, differs
	}
	if len(s.scans) >= maxScans {
		return nil, "it has too many scans"
	}
	set := m.sets.take(s, r)
	if set == nil {
		return nil, "it has no memory for the scripts"
	}
	scan = &served{session: s, id: r.Scan, stop: stop, check: r.Check, exact: r.Exact, set: set, lastSeen: s.lastSeen}
	scan.ctx, scan.cancel = context.WithCancel(context.Background())
	return scan, ""
}

// opened tells the coordinator whether a scan's scripts are still needed of it, from which chunk on.
func (m *workerNode) opened(scan *served) {
	need := scan.set.receiving() && scan.set.from == nil
	reply := &wire.Message{
		Kind: wire.Opened, Session: scan.session.token, Scan: scan.id,
		Need: need, Retry: scan.set.query == nil && !need,
	}
	if need {
		reply.Index = uint32(scan.set.first())
	}
	m.cfg.send(scan.session.coordinator, reply)
}

// chunk takes a part of the scripts.
func (m *workerNode) chunk(c actor.Context, scan *served, r *wire.Message) {
	if scan.set.receiving() && !m.take(c, scan.set, r) {
		return
	}
	m.cfg.send(scan.session.coordinator, &wire.Message{
		Kind: wire.Taken, Session: scan.session.token, Scan: scan.id, Index: r.Index,
	})
}

// take takes a chunk, and reports false where it cannot be of the set, whose scans end.
func (m *workerNode) take(c actor.Context, s *set, r *wire.Message) bool {
	if !s.add(r.Index, r.Data) {
		m.failed(s)
		return false
	}
	m.arrived(s, r.Index)
	if !s.receiving() {
		m.prepare(c, s)
	}
	return true
}

// prepare makes the query of a set, in a worker, and answers the coordinators whose scans use it.
func (m *workerNode) prepare(c actor.Context, s *set) {
	chunks := s.chunks
	if s.size < m.sets.passOn {
		s.chunks = nil
	}
	m.tasks.Go(c, func() func() {
		query, err := s.prepare(chunks)
		return func() {
			if err != nil {
				m.failed(s)
				return
			}
			s.query = query
			m.sets.prepared(s)
			for scan := range m.of(s) {
				m.opened(scan)
			}
		}
	})
}

// failed ends the scans of a set that differs from its announcement.
func (m *workerNode) failed(s *set) {
	for scan := range m.of(s) {
		m.cfg.send(scan.session.coordinator, &wire.Message{
			Kind: wire.Opened, Session: scan.session.token, Scan: scan.id, Text: wire.ErrScripts.Error(), Retry: true,
		})
		m.drop(scan)
	}
	m.sets.remove(s)
}

// of yields the scans that look for a set of scripts.
func (m *workerNode) of(s *set) func(yield func(*served) bool) {
	return func(yield func(*served) bool) {
		for _, session := range m.sessions {
			for _, scan := range session.scans {
				if scan.set == s && !yield(scan) {
					return
				}
			}
		}
	}
}

func (m *workerNode) drop(scan *served) {
	scan.cancel()
	delete(scan.session.scans, scan.id)
	m.sets.release(scan.set)
}

// gone forgets a coordinator.
func (m *workerNode) gone(address string) {
	for token, s := range m.sessions {
		if s.coordinator == address {
			m.end(token)
		}
	}
}

func (m *workerNode) end(token [16]byte) {
	for _, scan := range m.sessions[token].scans {
		m.drop(scan)
	}
	delete(m.sessions, token)
}

// tick forgets coordinators that have been silent for long. It also forgets scans without messages: the
// message that ended them may be lost.
func (m *workerNode) tick(now time.Time) {
	for token, s := range m.sessions {
		if now.Sub(s.lastSeen) > maxSilence {
			m.end(token)
			continue
		}
		for _, scan := range s.scans {
			if scan.cancelUnit == nil && now.Sub(scan.lastSeen) > maxSilence {
				m.drop(scan)
			}
		}
	}
	m.fetch(now)
}

func (m *workerNode) close() {
	for token := range m.sessions {
		m.end(token)
	}
}

func (m *workerNode) state(s *messages.Cluster) {
	s.Fronts, s.Units, s.Scripts = len(m.sessions), m.units, m.sets.used
	for _, session := range m.sessions {
		s.Scans += len(session.scans)
	}
}
