package slhdsa

// signLayer signs m with a leaf of a tree in a layer of the hypertree, writes
// chain values and path to sig, and returns the root of the tree.
func (p params) signLayer(t *tweak, secret *node, at place, m *node, sig []byte) (node, error) {
	d, _, err := t.digitsOf(m)
	if err != nil {
		return node{}, err
	}
	return p.layerTree(t, secret, at, &d, sig), nil
}

// layerTree returns the root of a tree of the hypertree. If signed is not nil,
// it also signs these digits with the leaf of the place.
func (p params) layerTree(t *tweak, secret *node, at place, signed *digits, sig []byte) node {
	leaves := make([]node, 1<<p.layerHeight)
	for leaf := range leaves {
		a := newAddress(at.layer, at.tree, kindChain, uint32(leaf))
		if signed != nil && uint32(leaf) == at.leaf {
			leaves[leaf] = t.oneTimeKey(a, secret, signed, sig[:chains*nodeSize])
		} else {
			leaves[leaf] = t.oneTimeKey(a, secret, nil, nil)
		}
	}
	var path []byte
	if signed != nil {
		path = sig[chains*nodeSize:]
	}
	return t.reduce(leaves, newAddress(at.layer, at.tree, kindTree, 0), 0, at.leaf, path)
}

// layerRootOf returns the root of the tree that a signature of m is of.
func (p params) layerRootOf(t *tweak, at place, m *node, sig []byte) (node, error) {
	d, _, err := t.digitsOf(m)
	if err != nil {
		return node{}, err
	}
	values, path := sig[:chains*nodeSize], sig[chains*nodeSize:p.layerSize()]
	leaf := t.oneTimeKeyOf(newAddress(at.layer, at.tree, kindChain, at.leaf), &d, values)
	root := [1]node{leaf}
	t.climb(root[:], newAddress(at.layer, at.tree, kindTree, 0), []uint32{at.leaf}, [][]byte{path})
	return root[0], nil
}

// rootOf returns the root of the key's topmost tree, the public half that
// belongs to the secret seed.
func (p params) rootOf(t *tweak, secret *node) node {
	return p.layerTree(t, secret, place{layer: p.layers - 1}, nil, nil)
}

// A place is a leaf of the hypertree.
type place struct {
	layer int    // from below
	tree  uint64 // of that layer
	leaf  uint32 // of that tree
}

// above is the place that signs the root of this place's tree.
func (p params) above(at place) place {
	return place{
		layer: at.layer + 1,
		tree:  at.tree >> p.layerHeight,
		leaf:  uint32(at.tree) & (1<<p.layerHeight - 1),
	}
}
