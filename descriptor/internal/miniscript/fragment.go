package miniscript

// fragment is the kind of a node.
type fragment uint8

const (
	constFalse fragment = iota // 0
	constTrue                  // 1
	pkK                        // pk_k(KEY): push of a key
	pkH                        // pk_h(KEY): check of a key against its hash
	older                      // older(n): relative lock time
	after                      // after(n): absolute lock time
	sha256                     // sha256(h), and so on: check of a preimage
	hash256
	ripemd160
	hash160
	multi  // multi(k,KEY,…), in P2WSH only
	multiA // multi_a(k,KEY,…), in tapscript only
	wrapA  // a:X
	wrapS  // s:X
	wrapC  // c:X
	wrapD  // d:X
	wrapV  // v:X
	wrapJ  // j:X
	wrapN  // n:X
	andV   // and_v(X,Y), t:X = and_v(X,1)
	andB   // and_b(X,Y)
	orB    // or_b(X,Y)
	orC    // or_c(X,Y)
	orD    // or_d(X,Y)
	orI    // or_i(X,Y), l:X = or_i(0,X), u:X = or_i(X,0)
	andOr  // andor(X,Y,Z), and_n(X,Y) = andor(X,Y,0)
	thresh // thresh(k,X,…)
	fragmentCount
)

// names are the names under which fragments are printed, but for wrappers.
var names = [fragmentCount]string{
	constFalse: "0", constTrue: "1", pkK: "pk_k", pkH: "pk_h", older: "older", after: "after",
	sha256: "sha256", hash256: "hash256", ripemd160: "ripemd160", hash160: "hash160",
	multi: "multi", multiA: "multi_a", andV: "and_v", andB: "and_b", orB: "or_b", orC: "or_c",
	orD: "or_d", orI: "or_i", andOr: "andor", thresh: "thresh",
}

// String returns the name of a fragment that is no wrapper.
func (f fragment) String() string { return names[f] }

// wrappers are the fragments with a letter of their own.
var wrappers = map[byte]fragment{
	'a': wrapA, 's': wrapS, 'c': wrapC, 'd': wrapD, 'v': wrapV, 'j': wrapJ, 'n': wrapN,
}

// node is one fragment with its parts and all its known properties. It does not
// change once its tree is complete.
type node struct {
	fragment fragment
	number   uint32  // lock time or threshold
	keys     []int   // numbers of the keys
	digest   []byte  // of a hash fragment
	subs     []*node // sub-expressions

	typ    properties
	size   int    // bytes of the script
	ops    int    // opcodes in the script other than pushes
	bounds bounds // of the execution

	// firstKey is the lowest number of a key within. twin is the highest
	// number of a key that has a later key of the same identity within, or -1.
	firstKey, twin int
}

// builder makes the nodes of one tree, children before parents.
type builder struct {
	ctx   Context
	nodes []*node
	keys  int // read so far
}

// add completes a node, whose parts are complete, and keeps it.
func (b *builder) add(n node) *node {
	n.typ = typeOf(&n, b.ctx)
	n.bounds = boundsOf(&n)
	for _, piece := range n.layout() {
		n.size += piece.size(&n, b.ctx)
		if piece.kind == opcodePiece {
			n.ops++
		}
	}
	for _, sub := range n.subs {
		n.ops += sub.ops
	}
	b.nodes = append(b.nodes, &n)
	return &n
}

// wrap adds a node with the given sub-expressions and nothing else.
func (b *builder) wrap(f fragment, subs ...*node) *node {
	return b.add(node{fragment: f, subs: subs})
}

// expression completes the tree.
func (b *builder) expression(root *node, identity func(key int) string) *Expression {
	b.markTwins(identity)
	return &Expression{ctx: b.ctx, root: root, nodes: b.nodes, keys: b.keys}
}

// markTwins computes firstKey and twin of all nodes. The keys of an expression
// have consecutive numbers: where twin is not below firstKey, both keys are
// within.
func (b *builder) markTwins(identity func(int) string) {
	previous := make([]int, b.keys)
	latest := make(map[string]int, b.keys)
	for i := range previous {
		id := identity(i)
		previous[i] = -1
		if at, ok := latest[id]; ok {
			previous[i] = at
		}
		latest[id] = i
	}
	for _, n := range b.nodes {
		n.firstKey, n.twin = b.keys, -1
		for _, key := range n.keys {
			n.firstKey, n.twin = min(n.firstKey, key), max(n.twin, previous[key])
		}
		for _, sub := range n.subs {
			n.firstKey, n.twin = min(n.firstKey, sub.firstKey), max(n.twin, sub.twin)
		}
	}
}

// repeatsKey reports whether a key occurs twice within the expression.
func (n *node) repeatsKey() bool { return n.twin >= n.firstKey }
