package miniscript

// trace bounds what the executions of a piece of script do, over a set of
// possible executions. The zero value is the empty set.
type trace struct {
	possible bool

	// net is how many elements more the stack can hold before than after.
	net int32

	// peak is how many elements more the stack can hold at any moment than
	// after.
	peak int32

	// multisigKeys is the number of keys of the CHECKMULTISIG opcodes that
	// can be executed; each counts as an opcode.
	multisigKeys int32
}

// Traces of opcodes by their effect on the stack.
var (
	nothing = trace{possible: true}
	pushOne = trace{possible: true, net: -1}
	popOne  = trace{possible: true, net: 1, peak: 1} // also two for one
	popTwo  = trace{possible: true, net: 2, peak: 2}
)

// or joins two sets.
func (t trace) or(u trace) trace {
	switch {
	case !t.possible:
		return u
	case !u.possible:
		return t
	}
	return trace{true, max(t.net, u.net), max(t.peak, u.peak), max(t.multisigKeys, u.multisigKeys)}
}

// then appends executions of what follows in the script.
func (t trace) then(next ...trace) trace {
	for _, u := range next {
		t = t.and(u)
	}
	return t
}

func (t trace) and(u trace) trace {
	if !t.possible || !u.possible {
		return trace{}
	}
	return trace{true, t.net + u.net, max(u.peak, u.net+t.peak), t.multisigKeys + u.multisigKeys}
}

// bounds holds the executions that satisfy an expression and those that
// dissatisfy it, without those that strangers could replace.
type bounds struct{ sat, dsat trace }

func both(t trace) bounds { return bounds{t, t} }

// boundsOf computes the bounds of a node from those of its parts.
func boundsOf(n *node) bounds {
	switch len(n.subs) {
	case 0:
		return leafBounds(n)
	case 1:
		if n.fragment != thresh {
			return wrapperBounds(n.fragment, n.subs[0].bounds)
		}
	case 2:
		if n.fragment != thresh {
			return pairBounds(n.fragment, n.subs[0].bounds, n.subs[1].bounds)
		}
	}
	if n.fragment == andOr {
		x, y, z := n.subs[0].bounds, n.subs[1].bounds, n.subs[2].bounds
		return bounds{
			x.sat.then(popOne, y.sat).or(x.dsat.then(popOne, z.sat)),
			x.dsat.then(popOne, z.dsat),
		}
	}
	return threshBounds(n.subs, int(n.number))
}

func leafBounds(n *node) bounds {
	keys := int32(len(n.keys))
	switch n.fragment {
	case constFalse:
		return bounds{dsat: pushOne}
	case constTrue, older, after:
		return bounds{sat: pushOne}
	case pkK:
		return both(pushOne)
	case pkH:
		return both(pushOne.then(pushOne, popTwo))
	case multi:
		// A zero and the signatures are taken, one element is left.
		signatures := int32(n.number)
		return both(trace{true, signatures, signatures + keys + 2, keys})
	case multiA:
		return both(trace{possible: true, net: keys - 1, peak: keys})
	default: // hashes: size, 32, compared; digest, compared
		return bounds{sat: pushOne.then(pushOne, popTwo, pushOne, popOne)}
	}
}

func wrapperBounds(f fragment, x bounds) bounds {
	switch f {
	case wrapC:
		return bounds{x.sat.then(popOne), x.dsat.then(popOne)}
	case wrapV:
		return bounds{sat: x.sat.then(popOne)}
	case wrapD, wrapJ:
		skipped := pushOne.then(popOne)
		return bounds{skipped.then(x.sat), skipped}
	default:
		return x
	}
}

func pairBounds(f fragment, x, y bounds) bounds {
	switch f {
	case andV:
		return bounds{sat: x.sat.then(y.sat)}
	case andB:
		return bounds{x.sat.then(y.sat, popOne), x.dsat.then(y.dsat, popOne)}
	case orB:
		either := x.sat.then(y.dsat).or(x.dsat.then(y.sat))
		return bounds{either.then(popOne), x.dsat.then(y.dsat, popOne)}
	case orC:
		return bounds{sat: x.sat.then(popOne).or(x.dsat.then(popOne, y.sat))}
	case orD:
		return bounds{
			x.sat.then(pushOne, popOne).or(x.dsat.then(popOne, y.sat)),
			x.dsat.then(popOne, y.dsat),
		}
	default: // orI
		return bounds{popOne.then(x.sat.or(y.sat)), popOne.then(x.dsat.or(y.dsat))}
	}
}

// threshBounds goes through the parts and keeps, for each number of satisfied
// ones, the executions so far; numbers from which the threshold can no longer
// be met exactly are left out.
//
// The time grows with the product of threshold and parts. As a part that can be
// satisfied takes seven bytes at least, the largest tapscript takes some seconds.
func threshBounds(subs []*node, threshold int) bounds {
	none := nothing                      // all dissatisfied
	counts := make([]trace, threshold+1) // executions by number of satisfied parts
	counts[0] = nothing
	most := 0
	for i, sub := range subs {
		sat, dsat := sub.bounds.sat, sub.bounds.dsat
		if i > 0 {
			sat, dsat = sat.and(popOne), dsat.and(popOne)
		}
		if sat.possible {
			most = min(most+1, threshold)
		}
		least := max(0, threshold-(len(subs)-i-1))
		for j := most; j >= least; j-- {
			t := counts[j].and(dsat)
			if j > 0 {
				t = t.or(counts[j-1].and(sat))
			}
			counts[j] = t
		}
		none = none.and(dsat)
	}
	return bounds{counts[threshold].then(pushOne, popOne), none.then(pushOne, popOne)}
}
