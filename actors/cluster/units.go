package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
)

// unit takes a unit, which waits until those before it are done: each is for all cores.
func (m *workerNode) unit(c actor.Context, scan *served, r *wire.Message) {
	switch {
	case scan.set.query == nil:
		m.refuseUnit(scan.session, r, "it does not have the scripts")
	case r.To > scan.stop.Height+1:
		m.refuseUnit(scan.session, r, "it ends above the last block")
	case len(scan.queue) >= maxQueued:
		m.refuseUnit(scan.session, r, "too many units wait")
	case scan.cancelUnit != nil && scan.unit == r.Unit: // asked again
	default:
		scan.queue = append(scan.queue, r)
		m.next(c, scan)
	}
}

func (m *workerNode) refuseUnit(s *session, r *wire.Message, why string) {
	m.cfg.send(s.coordinator, &wire.Message{
		Kind: wire.Done, Session: s.token, Scan: r.Scan, Unit: r.Unit, From: r.From, To: r.To, Text: why,
	})
}

// next works on the unit that waits longest.
func (m *workerNode) next(c actor.Context, scan *served) {
	if scan.cancelUnit != nil || len(scan.queue) == 0 || scan.ctx.Err() != nil {
		return
	}
	r := scan.queue[0]
	scan.queue = slices.Delete(scan.queue, 0, 1)
	ctx, cancel := context.WithCancel(scan.ctx)
	scan.unit, scan.cancelUnit = r.Unit, cancel
	reader, query := m.cfg.Chain.Open(), scan.set.query
	m.tasks.Go(c, func() func() {
		done, pass := m.match(ctx, scan, query, reader, r)
		return func() {
			cancelled := ctx.Err() != nil
			scan.before = pass
			cancel()
			scan.cancelUnit = nil
			if !cancelled {
				if done.Text == "" {
					m.units++
				}
				m.cfg.send(scan.session.coordinator, done)
			}
			m.next(c, scan) //nolint:contextcheck // another unit
		}
	})
}

// cancelled ends a unit that another node has done.
func (scan *served) cancelled(unit uint64) {
	scan.queue = slices.DeleteFunc(scan.queue, func(r *wire.Message) bool { return r.Unit == unit })
	if scan.cancelUnit != nil && scan.unit == unit {
		scan.cancelUnit()
	}
}

// match does a unit.
func (m *workerNode) match(
	ctx context.Context, scan *served, query *filters.Query, reader chainview.Reader, r *wire.Message,
) (done *wire.Message, pass *match.Pass) {
	began := time.Now()
	done = &wire.Message{
		Kind: wire.Done, Session: scan.session.token, Scan: scan.id, Unit: r.Unit, From: r.From, To: r.To,
	}
	cfg := match.Config{
		Query: query, First: r.From, Stop: scan.stop.Ancestor(r.To - 1), Exact: scan.exact, Alone: true,
	}
	l := &looker{cfg: m.cfg, reader: reader, query: query}
	if scan.check {
		cfg.Keep = l.keep
	}
	if scan.check && scan.exact {
		cfg.Blocks = &match.Blocks{Reader: reader, HeaderLen: m.cfg.HeaderLen}
	}
	pass = m.cfg.forOthers.NewPass(cfg)
	if scan.before != nil {
		pass.Follow(scan.before)
	}
	if err := m.cfg.forOthers.Run(ctx, pass); err != nil {
		done.Text = err.Error()
		return done, pass
	}
	hits, _ := pass.Hits()
	for _, hit := range hits {
		done.Hits = append(done.Hits, hit.Height)
	}
	slices.Sort(l.unchecked)
	done.Unchecked = l.unchecked
	done.Micros = uint64(time.Since(began).Microseconds())
	return done, pass
}

// looker looks into the blocks that match.
type looker struct {
	cfg    *Config
	reader chainview.Reader
	query  *filters.Query

	mu        sync.Mutex
	unchecked []int32 // heights of blocks that are not here
}

// keep tells a true match from a false match. Pruned blocks cannot be checked here;
// they are left to the coordinator.
func (l *looker) keep(_ context.Context, block *chainhash.Hash) (bool, error) {
	raw, err := l.reader.Raw(block)
	var spent [][]byte
	if err == nil {
		spent, err = l.reader.SpentScripts(block)
	}
	if errors.Is(err, chainview.ErrPruned) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unchecked = append(l.unchecked, l.reader.Lookup(block).Height)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return l.query.InBlock(raw, l.cfg.HeaderLen(raw), spent)
}
