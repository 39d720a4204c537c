package txpool

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/txpool/linear"
	"github.com/seed61375155/trawl/messages"
)

// maxConflicting is how many clusters the direct conflicts of a replacement may be in.
const maxConflicting = 100

// clusters judges by clusters (see [ByClusters]).
type clusters struct {
	pool  *Pool
	graph *linear.Clusters
	late  []linear.Dep // of children that were there before their parents
}

func newClusters(p *Pool) *clusters {
	limits := p.policy.Limits
	return &clusters{pool: p, graph: linear.NewClusters(linear.Limits{
		Count: limits.Cluster, Size: limits.ClusterVSize * p.rules.WitnessScale,
	}, p.policy.Seed)}
}

// inserted adds an entry to the cluster of its parents. If it was in a block that left the chain,
// its children follow when all others have returned.
func (r *clusters) inserted(e *Entry) {
	r.graph.Add(e.node, nodes(sorted(e.parents))...)
	for _, child := range sorted(e.children) {
		r.late = append(r.late, linear.Dep{Parent: e.node, Child: child.node})
	}
	if e.Sequence > 0 && len(r.late) > 0 {
		r.returned(nil)
	}
	r.graph.Work()
}

func (r *clusters) removed(e *Entry) { r.graph.Remove(e.node) }

func (*clusters) changed(*Entry) {}

func (r *clusters) repriced(e *Entry) { r.graph.SetFee(e.node, e.Modified) }

func nodes(list []*Entry) []*linear.Tx {
	txs := make([]*linear.Tx, len(list))
	for i, e := range list {
		txs[i] = e.node
	}
	return txs
}

// entriesOf returns entries by their places in clusters.
func (r *clusters) entriesOf(txs []*linear.Tx) []*Entry {
	list := make([]*Entry, len(txs))
	for i, tx := range txs {
		list[i] = r.pool.byID[chainhash.Hash(tx.ID)]
	}
	return list
}

func (r *clusters) returned(map[*Entry]struct{}) {
	left := make(map[*Entry]struct{})
	for _, e := range r.entriesOf(r.graph.Join(r.late)) {
		left[e] = struct{}{}
	}
	r.late = nil
	r.pool.removeSet(left, messages.PoolSizeLimit)
}

// check adds a candidate to the trial. The rules of TRUC ask for its parents alone; the limits
// are applied when its conflicts are known to leave.
func (r *clusters) check(v *verdict, c *candidate) *messages.TxReject {
	e := c.entry
	if v.trial == nil {
		v.trial, v.staged = r.graph.Try(), make(map[chainhash.Hash]*linear.Tx)
	}
	c.ancestors = make(map[*Entry]struct{})
	var parents []*linear.Tx
	for _, in := range e.Tx.TxIn {
		from := in.PreviousOutPoint.Hash
		if parent := v.byID[from]; parent != nil {
			c.ancestors[parent] = struct{}{}
			parents = append(parents, parent.node)
		} else if node := v.staged[from]; node != nil {
			parents = append(parents, node)
		}
	}
	size := max(e.Weight, e.SigOps*v.policy.BytesPerSigOp)
	e.node = linear.NewTx(e.ID, linear.FeeSize{Fee: e.Modified, Size: size})
	v.staged[e.ID] = e.node
	v.trial.Add(e.node, parents...)
	if v.Bypass {
		return nil
	}
	return v.checkTRUC(c)
}

func (r *clusters) admit(v *verdict, c *candidate) *messages.TxReject {
	if len(c.conflicts) > 0 {
		if reject := r.replace(v, c); reject != nil {
			return reject
		}
	}
	if v.trial.Oversized() {
		return tooLarge()
	}
	if len(c.conflicts) > 0 {
		above := reach(c.ancestors, func(e *Entry) map[*Entry]struct{} { return e.parents })
		if reject := checkApart(c, above); reject != nil {
			return reject
		}
	}
	if reject := v.checkMaxRate(c); reject != nil || v.Bypass {
		return reject
	}
	return v.checkDustSpends(c.entry.Tx)
}

func tooLarge() *messages.TxReject { return refuse(messages.TxPolicy, "too-large-cluster", "") }

// replace applies the rules on replacing what a candidate conflicts with.
func (r *clusters) replace(v *verdict, c *candidate) *messages.TxReject {
	e, suffix := c.entry, c.siblingSuffix()
	all, problem := r.conflicts(e, c.conflicts)
	if problem != "" {
		return refuse(messages.TxPolicy, "too many potential replacements"+suffix, problem)
	}
	if problem := v.paysFor(all, e.Modified, e.VSize, &e.ID); problem != "" {
		return refuse(messages.TxReconsiderable, "insufficient fee"+suffix, problem)
	}
	switch fits, better := r.try(v, all); {
	case !fits:
		return tooLarge()
	case !better:
		return refuse(messages.TxReconsiderable, "replacement-failed", noImprovement)
	}
	v.replaced = all
	return nil
}

func (r *clusters) conflicts(e *Entry, direct map[*Entry]struct{}) (map[*Entry]struct{}, string) {
	if n := r.graph.Distinct(nodes(sorted(direct))); n > maxConflicting {
		return nil, fmt.Sprintf(
			"rejecting replacement %v; too many conflicting clusters (%d > %d)", e.ID, n, maxConflicting,
		)
	}
	return withDescendants(direct), ""
}

// try adds the removal of entries to the trial. It reports whether the outcome is within the
// limits, and whether it improves the diagram.
func (*clusters) try(v *verdict, without map[*Entry]struct{}) (fits, better bool) {
	for _, e := range sorted(without) {
		v.trial.Remove(e.node)
	}
	if v.trial.Oversized() {
		return false, false
	}
	before, after := v.trial.Diagrams()
	order, ok := linear.Compare(after, before)
	return true, ok && order > 0
}

func (*clusters) admitPackage(v *verdict, list []*candidate, vsize, fees int64) *outcome {
	if failed := v.checkPackageReplacement(list, vsize, fees); failed != nil {
		return failed
	}
	if v.trial.Oversized() {
		return &outcome{failed: tooLarge(), policy: true}
	}
	return nil
}

func (r *clusters) improves(v *verdict, _ []*candidate, replaced map[*Entry]struct{}) *outcome {
	switch fits, better := r.try(v, replaced); {
	case !fits:
		return &outcome{failed: tooLarge(), policy: true}
	case !better:
		return packageFailure(noImprovement, "")
	}
	return nil
}

func (r *clusters) worst() (map[*Entry]struct{}, FeeRate) {
	chunk := r.graph.Worst()
	all := make(map[*Entry]struct{}, len(chunk.Txs))
	for _, e := range r.entriesOf(chunk.Txs) {
		all[e] = struct{}{}
	}
	return all, r.rate(chunk.FeeSize)
}

// rate is the rate of a chunk for its virtual size.
func (r *clusters) rate(f linear.FeeSize) FeeRate {
	return RateOf(f.Fee, virtual(f.Size, r.pool.rules.WitnessScale))
}

func (r *clusters) choose(maxWeight, reserved int64, minRate FeeRate) (chosen []*Entry) {
	for _, chunk := range r.chooseChunks(maxWeight, reserved, minRate) {
		chosen = append(chosen, r.entriesOf(chunk.Txs)...)
	}
	return chosen
}

// chooseChunks takes chunks in their order. If a chunk does not fit, the rest of its cluster is passed
// over.
func (r *clusters) chooseChunks(maxWeight, reserved int64, minRate FeeRate) (chosen []linear.TxChunk) {
	weight, sigOps, misses := reserved, int64(sigOpsKept), 0
	walk := r.graph.Walk()
	for chunk := walk.Chunk(); len(chunk.Txs) > 0; chunk = walk.Chunk() {
		if r.rate(chunk.FeeSize).Compare(minRate) < 0 {
			break // nothing that follows pays more
		}
		list, more := r.entriesOf(chunk.Txs), int64(0)
		for _, e := range list {
			more += e.SigOps
		}
		if weight+chunk.Size >= maxWeight || sigOps+more >= r.pool.rules.MaxSigOps {
			walk.Skip()
			if misses++; misses > maxMisses && weight > maxWeight-nearlyFull {
				break
			}
			continue
		}
		walk.Take()
		misses, sigOps = 0, sigOps+more
		for _, e := range list {
			weight += e.Weight
		}
		chosen = append(chosen, chunk)
	}
	return chosen
}

func (r *clusters) usage() int64 { return r.graph.Usage() }

// compare orders as transactions are mined.
func (r *clusters) compare(a, b *Entry) int { return r.graph.Compare(a.node, b.node) }
