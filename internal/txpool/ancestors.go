package txpool

import (
	"container/heap"

	"github.com/seed61375155/trawl/messages"
)

// ancestors judges by ancestors and descendants (see [ByAncestors]).
type ancestors struct {
	pool     *Pool
	eviction eviction
}

func (r *ancestors) inserted(e *Entry) { heap.Push(&r.eviction, e) }

func (r *ancestors) removed(e *Entry) { heap.Remove(&r.eviction, e.place) }

func (r *ancestors) changed(e *Entry) { r.eviction.fix(e) }

func (*ancestors) repriced(*Entry) {}

func (*ancestors) check(v *verdict, c *candidate) *messages.TxReject {
	if r := v.checkChain(c); r != nil {
		return r
	}
	if !v.Bypass {
		if r := v.checkTRUC(c); r != nil {
			return r
		}
	}
	return checkApart(c, c.ancestors)
}

func (*ancestors) admit(v *verdict, c *candidate) *messages.TxReject {
	if r := v.checkMaxRate(c); r != nil {
		return r
	}
	if r := v.checkDustSpends(c.entry.Tx); r != nil {
		return r
	}
	if len(c.conflicts) == 0 {
		return nil
	}
	return v.checkReplacement(c)
}

func (*ancestors) admitPackage(v *verdict, list []*candidate, vsize, fees int64) *outcome {
	if problem := v.packageLimits(list, vsize); problem != "" {
		o := policyFailure("package-mempool-limits", problem)
		return &o
	}
	return v.checkPackageReplacement(list, vsize, fees)
}

func (*ancestors) improves(_ *verdict, list []*candidate, replaced map[*Entry]struct{}) *outcome {
	problem := improves(list[0].entry, list[1].entry, replaced)
	if problem == "" {
		return nil
	}
	return packageFailure(problem, "")
}

func (r *ancestors) worst() (map[*Entry]struct{}, FeeRate) {
	if len(r.eviction) == 0 {
		return nil, FeeRate{}
	}
	e := r.eviction[0]
	all := e.descendants()
	all[e] = struct{}{}
	return all, RateOf(e.Descendants.Fees, e.Descendants.VSize)
}

// returned takes out what was there and depends on too much, now that some of it has come back.
func (r *ancestors) returned(back map[*Entry]struct{}) {
	p, limits := r.pool, r.pool.policy.Limits
	for _, e := range p.Ordered() {
		if _, is := back[e]; is || p.byID[e.ID] != e || !dependsOnAny(e, back) {
			continue
		}
		if e.Ancestors.Count > limits.Ancestors || e.Ancestors.VSize > limits.AncestorVSize {
			p.removeAll(e, messages.PoolSizeLimit)
		}
	}
}

func (*ancestors) usage() int64 { return 0 } // entries count it

// compare orders by numbers of ancestors.
func (*ancestors) compare(a, b *Entry) int { return byDepth(a, b) }
