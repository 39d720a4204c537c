package txpool

import (
	"fmt"

	"github.com/btcsuite/btcd/wire"
)

// Check compares all that the pool keeps up to date with what follows from its
// transactions alone.
func (p *Pool) Check() error {
	var vsize, fees, usage int64
	for id, e := range p.byID {
		if id != e.Tx.TxHash() || p.byWID[e.Tx.WitnessHash()] != e {
			return fmt.Errorf("%v is filed wrongly", id)
		}
		vsize, fees, usage = vsize+e.VSize, fees+e.Fee, usage+usageOf(e, p.policy.Order)
		if e.Modified != saturatingAdd(e.Fee, p.deltas[id]) {
			return fmt.Errorf("%v: modified fee is %d", id, e.Modified)
		}
		if err := p.checkEntry(e); err != nil {
			return fmt.Errorf("%v: %w", id, err)
		}
	}
	if p.vsize != vsize || p.fees != fees || p.usage != usage {
		return fmt.Errorf("totals are %d, %d and %d, want %d, %d and %d", p.vsize, p.fees, p.usage, vsize, fees, usage)
	}
	if len(p.byWID) != len(p.byID) {
		return fmt.Errorf("%d and %d transactions", len(p.byID), len(p.byWID))
	}
	if r, ok := p.relatives.(*clusters); ok {
		return r.verify()
	}
	return p.relatives.(*ancestors).verify()
}

// verify compares the order of eviction with the transactions.
func (r *ancestors) verify() error {
	for i, e := range r.eviction {
		if e.place != i || r.pool.byID[e.ID] != e || i > 0 && r.eviction.Less(i, (i-1)/2) {
			return fmt.Errorf("order of eviction is wrong at %d", i)
		}
	}
	if len(r.eviction) != len(r.pool.byID) {
		return fmt.Errorf("%d transactions, %d to evict", len(r.pool.byID), len(r.eviction))
	}
	return nil
}

// verify compares the clusters with the transactions.
func (r *clusters) verify() error {
	if r.graph.Len() != len(r.pool.byID) || len(r.late) > 0 {
		return fmt.Errorf("%d transactions, %d in clusters, %d to link", len(r.pool.byID), r.graph.Len(), len(r.late))
	}
	for id, e := range r.pool.byID {
		above, below := r.graph.Ancestors(e.node), r.graph.Descendants(e.node)
		if len(above) != e.Ancestors.Count || len(below) != e.Descendants.Count {
			return fmt.Errorf("%v has %d ancestors and %d descendants in clusters", id, len(above), len(below))
		}
		for _, a := range r.entriesOf(above) {
			if !r.pool.depends(e, a) {
				return fmt.Errorf("%v depends on %v in clusters", id, a.ID)
			}
		}
	}
	return nil
}

func (p *Pool) checkEntry(e *Entry) error {
	for _, in := range e.Tx.TxIn {
		if p.spends[in.PreviousOutPoint] != e {
			return fmt.Errorf("input %v is not noted", in.PreviousOutPoint)
		}
	}
	var above, below Total
	for _, other := range p.byID {
		if p.depends(e, other) {
			above.add(other, 1)
		}
		if p.depends(other, e) {
			below.add(other, 1)
		}
	}
	if e.Ancestors != above || e.Descendants != below {
		return fmt.Errorf("totals are %+v and %+v, want %+v and %+v", e.Ancestors, e.Descendants, above, below)
	}
	return nil
}

// depends walks back along the inputs.
func (p *Pool) depends(e, on *Entry) bool {
	if e == on {
		return true
	}
	for _, in := range e.Tx.TxIn {
		if parent := p.byID[in.PreviousOutPoint.Hash]; parent != nil && p.depends(parent, on) {
			return true
		}
	}
	return false
}

// Unspent lists the outputs in the pool that nothing there spends.
func (p *Pool) Unspent() []wire.OutPoint {
	var outs []wire.OutPoint
	for _, e := range p.Ordered() {
		for i := range e.Tx.TxOut {
			at := wire.OutPoint{Hash: e.ID, Index: uint32(i)}
			if p.spends[at] == nil {
				outs = append(outs, at)
			}
		}
	}
	return outs
}

// Above exports above.
func Above(a, b []FeeRate) bool { return above(a, b) }

// SaturatingAdd exports saturatingAdd.
func SaturatingAdd(a, b int64) int64 { return saturatingAdd(a, b) }
