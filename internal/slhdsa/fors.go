package slhdsa

// signFORS writes the secrets that the digest picks, with their paths, to sig
// and returns the public key of the trees, which the hypertree signs.
func (p params) signFORS(t *tweak, secret *node, d *digest, sig []byte) node {
	a := newAddress(0, d.tree, kindFORSTree, d.leaf)
	leaves := make([]node, 1<<p.treeHeight)
	roots := make([]byte, 0, (p.trees-1)*nodeSize)
	for tree := range p.trees - 1 {
		part := sig[tree*p.forsSize():][:p.forsSize()]
		first, leaf := uint32(tree)<<p.treeHeight, d.indices[tree]
		t.forsLeaves(leaves, a, first, secret, leaf, part)
		root := t.reduce(leaves, a, first, leaf, part[nodeSize:])
		roots = append(roots, root[:]...)
	}
	return t.forsKey(a, roots)
}

// forsRun is how many leaves of a FORS tree are made at a time: a small part of
// what a core has in its nearest memory.
const forsRun = 1 << 9

// forsLeaves fills in the leaves of the FORS tree whose first leaf has the index
// first, and writes the secret of the leaf-th one to shown.
func (t *tweak) forsLeaves(leaves []node, a address, first uint32, secret *node, leaf uint32, shown []byte) {
	for done := 0; done < len(leaves); done += forsRun {
		run := leaves[done:min(done+forsRun, len(leaves))]
		for i := range run {
			run[i] = *secret
		}
		t.by.leaves(t, a.of(kindFORSSecret), first+uint32(done), run)
		if at := int(leaf) - done; at >= 0 && at < len(run) {
			copy(shown, run[at][:])
		}
		t.by.leaves(t, a, first+uint32(done), run)
	}
}

// forsKeyOf returns the public key of the trees that a signature is of.
func (p params) forsKeyOf(t *tweak, d *digest, sig []byte) node {
	a := newAddress(0, d.tree, kindFORSTree, d.leaf)
	var (
		indices [maxTrees]uint32
		nodes   [maxTrees]node
		paths   [maxTrees][]byte
		trees   = p.trees - 1
	)
	for tree := range trees {
		part := sig[tree*p.forsSize():][:p.forsSize()]
		indices[tree] = uint32(tree)<<p.treeHeight + d.indices[tree]
		shown := node(part)
		t.blocks[tree].set(a.at(0, indices[tree]), &shown)
		paths[tree] = part[nodeSize:]
	}
	t.sumBatch(trees)
	copy(nodes[:], t.sums[:trees])
	t.climb(nodes[:trees], a, indices[:trees], paths[:trees])
	roots := make([]byte, 0, maxTrees*nodeSize)
	for _, root := range nodes[:trees] {
		roots = append(roots, root[:]...)
	}
	return t.forsKey(a, roots)
}

// forsKey hashes the roots of the FORS trees to their public key.
func (t *tweak) forsKey(a address, roots []byte) node {
	a = a.of(kindFORSRoots)
	return t.sum(a[:], roots)
}
