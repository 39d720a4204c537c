package miniscript

// Sizes of elements of a witness with their lengths.
const (
	ecdsaElement   = 1 + 72
	schnorrElement = 1 + 65
	keyElement     = 1 + 33
	xOnlyElement   = 1 + 32
	hashElement    = 1 + 32
)

// A cost is the most bytes that an execution takes; none where there is no execution.
type cost struct {
	bytes    int
	possible bool
}

func costs(bytes int) cost { return cost{bytes, true} }

func (c cost) or(d cost) cost {
	switch {
	case !c.possible:
		return d
	case !d.possible:
		return c
	}
	return costs(max(c.bytes, d.bytes))
}

func (c cost) and(d cost) cost {
	if !c.possible || !d.possible {
		return cost{}
	}
	return costs(c.bytes + d.bytes)
}

// WitnessSize returns the most bytes, and the most elements, of a witness that satisfies
// the expression in a way that strangers cannot replace by another. The script is not
// counted.
func (e *Expression) WitnessSize() (bytes, elements int) {
	sat, _ := e.root.witnessCost(e.ctx)
	return sat.bytes, e.root.maxWitness()
}

// witnessCost returns what it costs to satisfy a node, and not to.
func (n *node) witnessCost(ctx Context) (sat, dsat cost) {
	sats, dsats := make([]cost, len(n.subs)), make([]cost, len(n.subs))
	for i, sub := range n.subs {
		sats[i], dsats[i] = sub.witnessCost(ctx)
	}
	signature, public := ecdsaElement, keyElement
	if ctx == Tapscript {
		signature, public = schnorrElement, xOnlyElement
	}
	k := int(n.number)
	switch n.fragment { //nolint:exhaustive // what combines others comes behind
	case constFalse:
		return cost{}, costs(0)
	case constTrue, older, after:
		return costs(0), cost{}
	case pkK:
		return costs(signature), costs(1)
	case pkH:
		return costs(signature + public), costs(1 + public)
	case sha256, hash256, ripemd160, hash160:
		return costs(hashElement), cost{}
	case multi:
		return costs(k*signature + 1), costs(k + 1)
	case multiA:
		return costs(k*signature + len(n.keys) - k), costs(len(n.keys))
	case wrapD:
		return sats[0].and(costs(2)), costs(1)
	case wrapJ:
		return sats[0], costs(1)
	case wrapV:
		return sats[0], cost{}
	case thresh:
		return threshCost(sats, dsats, k)
	}
	if len(n.subs) == 1 {
		return sats[0], dsats[0]
	}
	return branchCost(n.fragment, sats, dsats)
}

// branchCost is [node.witnessCost] of what combines two nodes or three.
func branchCost(f fragment, sats, dsats []cost) (sat, dsat cost) {
	both, neither := sats[0].and(sats[1]), dsats[0].and(dsats[1])
	second := dsats[0].and(sats[1])
	switch f {
	case andV:
		return both, cost{}
	case andB:
		return both, neither
	case orB:
		return second.or(sats[0].and(dsats[1])), neither
	case orC:
		return sats[0].or(second), cost{}
	case orD:
		return sats[0].or(second), neither
	case orI:
		return sats[0].and(costs(2)).or(sats[1].and(costs(1))), dsats[0].and(costs(2)).or(dsats[1].and(costs(1)))
	default: // andor
		return both.or(dsats[0].and(sats[2])), dsats[0].and(dsats[2])
	}
}

// threshCost finds the dearest way to satisfy k of some nodes.
func threshCost(sats, dsats []cost, k int) (sat, dsat cost) {
	by := []cost{costs(0)} // by how many are satisfied
	for i := range sats {
		next := make([]cost, len(by)+1)
		for j := range next {
			if j < len(by) {
				next[j] = by[j].and(dsats[i])
			}
			if j > 0 {
				next[j] = next[j].or(by[j-1].and(sats[i]))
			}
		}
		by = next
	}
	return by[k], by[0]
}
