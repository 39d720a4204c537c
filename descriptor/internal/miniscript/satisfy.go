package miniscript

import "slices"

// Signer knows what witnesses are made of.
type Signer interface {
	// Sign returns the signature by a key, by its number, nil if there is none.
	Sign(key int) []byte

	// Push returns the key as scripts hold it.
	Push(key int) []byte

	// Older and After report whether the input passes a relative or an
	// absolute lock time.
	Older(n uint32) bool
	After(n uint32) bool

	// Preimage returns what has a digest by a hash function, called as its
	// fragment is, nil if it is not known.
	Preimage(function string, digest []byte) []byte
}

// Satisfy returns the smallest witness that strangers cannot change into a
// different witness, the bottom of the stack first. It is false if there is
// none: without enough signatures or preimages, and before a lock time. The
// expression is of type B.
func (e *Expression) Satisfy(s Signer) ([][]byte, bool) {
	made := make(map[*node]choice, len(e.nodes))
	for _, n := range e.inOrder() {
		made[n] = n.choices(s, made)
	}
	best := made[e.root].sat
	if !best.possible || best.malleable || !best.signed {
		return nil, false
	}
	return best.items.appendTo(nil), true
}

// inOrder returns the nodes from left to right, parts before what they are parts of, whatever the order is in
// which they were read: so are signatures asked for. It does not recurse.
func (e *Expression) inOrder() []*node {
	order := make([]*node, 0, len(e.nodes))
	for todo := []*node{e.root}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], last.subs...)
		order = append(order, last)
	}
	slices.Reverse(order)
	return order
}

// choice is the best witness that satisfies an expression, and the best valid
// witness that dissatisfies the expression.
type choice struct{ sat, dsat input }

// input is a part of a witness.
type input struct {
	possible  bool
	signed    bool // has a signature
	malleable bool // strangers can change it
	size      int  // bytes in the transaction
	items     *rope
}

// rope is a list of items, from the bottom of the stack, that shares its parts.
type rope struct {
	item        []byte
	left, right *rope // instead of an item
}

// appendTo does not recurse: what it has to visit is on a stack of its own.
func (r *rope) appendTo(dst [][]byte) [][]byte {
	for todo := []*rope{r}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case last == nil:
		case last.left != nil || last.right != nil:
			todo = append(todo, last.right, last.left)
		default:
			dst = append(dst, last.item)
		}
	}
	return dst
}

var (
	noItems  = input{possible: true} // an empty part
	zeroItem = item(nil)
	oneItem  = item([]byte{1})
)

// item is a part of one item.
func item(data []byte) input {
	prefix := 1 // compact size
	if len(data) >= 0xfd {
		prefix = 3
	}
	return input{possible: true, size: prefix + len(data), items: &rope{item: data}}
}

// signaturePart is a part of one signature, impossible for nil.
func signaturePart(sig []byte) input {
	if sig == nil {
		return input{}
	}
	made := item(sig)
	made.signed = true
	return made
}

// zeroes is what is no preimage of anything.
var zeroes = item(make([]byte, preimageSize)).changeable()

// preimagePart is a part of one preimage, impossible for nil.
func preimagePart(preimage []byte) input {
	if preimage == nil {
		return input{}
	}
	return item(preimage)
}

func when(possible bool) input { return input{possible: possible} }

// repeated is n times the same item.
func repeated(what input, n int) input {
	all := noItems
	for range n {
		all = all.then(what)
	}
	return all
}

// then puts part b on top of part a.
func (a input) then(b input) input {
	if !a.possible || !b.possible {
		return input{}
	}
	items := a.items
	switch {
	case items == nil:
		items = b.items
	case b.items != nil:
		items = &rope{left: a.items, right: b.items}
	}
	return input{true, a.signed || b.signed, a.malleable || b.malleable, a.size + b.size, items}
}

// changeable marks a part that strangers can make or replace.
func (a input) changeable() input {
	a.malleable = true
	return a
}

// or chooses between two parts. A stranger can replace a signed part by an
// unsigned part, so that the unsigned part has to be taken.
func (a input) or(b input) input {
	switch {
	case !a.possible:
		return b
	case !b.possible:
		return a
	case a.signed != b.signed:
		if a.signed {
			return b
		}
		return a
	case !a.signed:
		a.malleable, b.malleable = true, true
	case a.malleable != b.malleable:
		if a.malleable {
			return b
		}
		return a
	}
	if b.size < a.size {
		return b
	}
	return a
}

// choices computes the witnesses of a node from those of its parts.
func (n *node) choices(s Signer, made map[*node]choice) choice {
	switch n.fragment {
	case constFalse:
		return choice{dsat: noItems}
	case constTrue:
		return choice{sat: noItems}
	case pkK:
		return choice{signaturePart(s.Sign(n.keys[0])), zeroItem}
	case pkH:
		key := item(s.Push(n.keys[0]))
		return choice{signaturePart(s.Sign(n.keys[0])).then(key), zeroItem.then(key)}
	case older:
		return choice{sat: when(s.Older(n.number))}
	case after:
		return choice{sat: when(s.After(n.number))}
	case sha256, hash256, ripemd160, hash160:
		return choice{preimagePart(s.Preimage(n.fragment.String(), n.digest)), zeroes}
	case multi:
		return n.multiChoices(s)
	case multiA:
		return n.multiAChoices(s)
	case thresh:
		return n.thresholdChoices(made)
	default:
		return n.joinedChoices(made)
	}
}

// preimageSize is the length in bytes of the preimages that scripts ask for.
const preimageSize = 32

// multiChoices chooses the signatures of CHECKMULTISIG, which takes an item too
// many from below.
func (n *node) multiChoices(s Signer) choice {
	best := []input{zeroItem} // by the number of signatures
	for _, key := range n.keys {
		best = step(best, int(n.number), noItems, signaturePart(s.Sign(key)))
	}
	return choice{best[n.number], repeated(zeroItem, int(n.number)+1)}
}

// multiAChoices chooses the signatures of CHECKSIGADD, an item for each key, the
// first key's on top.
func (n *node) multiAChoices(s Signer) choice {
	best := []input{noItems}
	for i := range n.keys {
		best = step(best, int(n.number), zeroItem, signaturePart(s.Sign(n.keys[len(n.keys)-1-i])))
	}
	return choice{best[n.number], best[0]}
}

// step adds one part, without and with success, to the best inputs by their
// number of successes, of which no more than limit are of use.
func step(best []input, limit int, without, with input) []input {
	next := make([]input, min(len(best), limit)+1)
	for count := range next {
		if count < len(best) {
			next[count] = best[count].then(without)
		}
		if count > 0 {
			next[count] = next[count].or(best[count-1].then(with))
		}
	}
	return next
}

func (n *node) thresholdChoices(made map[*node]choice) choice {
	best := []input{noItems}
	for i := range n.subs {
		part := made[n.subs[len(n.subs)-1-i]]
		best = step(best, len(n.subs), part.dsat, part.sat)
	}
	dsat := best[0]
	for count := 1; count < len(best); count++ {
		if count != int(n.number) {
			dsat = dsat.or(best[count].changeable()) // fewer successes would do
		}
	}
	return choice{best[n.number], dsat}
}

// joinedChoices computes the witnesses of wrappers and combinators.
func (n *node) joinedChoices(made map[*node]choice) choice {
	x := made[n.subs[0]]
	var y, z choice
	if len(n.subs) > 1 {
		y = made[n.subs[1]]
	}
	if len(n.subs) > 2 {
		z = made[n.subs[2]]
	}
	switch n.fragment {
	case wrapV:
		return choice{sat: x.sat}
	case wrapD:
		return choice{x.sat.then(oneItem), zeroItem}
	case wrapJ:
		dsat := zeroItem
		dsat.malleable = x.dsat.possible && !x.dsat.signed
		return choice{x.sat, dsat}
	case andV:
		return choice{y.sat.then(x.sat), y.dsat.then(x.sat)}
	case andB:
		half := y.sat.then(x.dsat).changeable().or(y.dsat.then(x.sat).changeable())
		return choice{y.sat.then(x.sat), y.dsat.then(x.dsat).or(half)}
	case orB:
		both := y.sat.then(x.sat).changeable()
		return choice{y.dsat.then(x.sat).or(y.sat.then(x.dsat)).or(both), y.dsat.then(x.dsat)}
	case orC:
		return choice{sat: x.sat.or(y.sat.then(x.dsat))}
	case orD:
		return choice{x.sat.or(y.sat.then(x.dsat)), y.dsat.then(x.dsat)}
	case orI:
		return choice{x.sat.then(oneItem).or(y.sat.then(zeroItem)), x.dsat.then(oneItem).or(y.dsat.then(zeroItem))}
	case andOr:
		return choice{y.sat.then(x.sat).or(z.sat.then(x.dsat)), z.dsat.then(x.dsat).or(y.dsat.then(x.sat))}
	default: // wrapA, wrapS, wrapC, wrapN
		return x
	}
}
