package match

import (
	"context"
	"slices"
)

// leases is what a pass knows of heights that other nodes match. The pass's mutex
// guards it. A range keeps its bounds however often it is leased, so that a late or
// second answer is recognized.
type leases struct {
	leased   []Heights     // with no result yet, and not given back
	back     []Heights     // given back, and taken by nobody since
	reserved bool          // workers of this node take nothing
	changed  chan struct{} // closed when any of it changes; nil while nobody waits
}

// change wakes all waiting goroutines.
func (l *leases) change() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Lease gives out heights for other nodes to match. Ranges that were given back go
// first, as a whole. Then come the next heights: from the first height that nobody has
// taken, up to the height that end returns for it, not included. The result of end is
// above its argument. Lease reports false when nothing is left.
//
// Leased heights count as not done until their lease is finished. The holder finishes it
// or gives the range back, once or more often: only the first answer counts.
func (p *Pass) Lease(end func(from int32) int32) (Heights, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.take(end)
	if r.Empty() {
		return r, false
	}
	p.leases.leased = append(p.leases.leased, r)
	return r, true
}

// Finish notes the hits of a range that was leased, all of which lie in it. It reports
// false, and does nothing, where the range has an answer already, or a worker of this
// node has taken it since it was given back.
func (p *Pass) Finish(r Heights, hits []Hit) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !remove(&p.leases.leased, r) && !remove(&p.leases.back, r) {
		return false
	}
	p.hits = append(p.hits, hits...)
	p.leases.change()
	return true
}

// GiveBack notes that the holder will not finish the lease of a range; the next
// worker or holder takes it over. For a range that is not leased it does nothing.
func (p *Pass) GiveBack(r Heights) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if remove(&p.leases.leased, r) {
		p.leases.back = append(p.leases.back, r)
		p.leases.change()
	}
}

// Left returns how many heights nobody has taken.
func (p *Pass) Left() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.Stop.Height + 1 - p.next
	for _, r := range p.leases.back {
		left += r.To - r.From
	}
	return left
}

// Reserve keeps workers of this node from taking anything more, while leasing goes on,
// or lets them take again.
func (p *Pass) Reserve(reserved bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leases.reserved = reserved
	p.leases.change()
}

// await waits until workers of this node find something to take, and reports false when
// they never will: everything is matched or taken by others of them, or ctx has ended.
func (p *Pass) await(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil {
		left := p.next <= p.Stop.Height || len(p.leases.back) > 0
		if left && !p.leases.reserved {
			return true
		}
		if !left && len(p.leases.leased) == 0 {
			return false
		}
		p.waitLeases(ctx)
	}
	return false
}

// waitLeases waits for a change or the end of ctx, without the mutex, which is held.
func (p *Pass) waitLeases(ctx context.Context) {
	if p.leases.changed == nil {
		p.leases.changed = make(chan struct{})
	}
	changed := p.leases.changed
	p.mu.Unlock()
	defer p.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// take takes the next heights out of what nobody has: those that were given back whole.
// It is called with mu held.
func (p *Pass) take(end func(from int32) int32) Heights {
	if len(p.leases.back) > 0 {
		r := p.leases.back[0]
		p.leases.back = slices.Delete(p.leases.back, 0, 1)
		return r
	}
	if p.next > p.Stop.Height {
		return Heights{}
	}
	r := Heights{p.next, min(end(p.next), p.Stop.Height+1)}
	p.next = r.To
	p.prefetch.change()
	return r
}

// remove takes a range out of a list, if it is there.
func remove(list *[]Heights, r Heights) bool {
	at := slices.Index(*list, r)
	if at >= 0 {
		*list = slices.Delete(*list, at, at+1)
	}
	return at >= 0
}
