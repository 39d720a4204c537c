package slhdsa

// reduce returns the root of the tree over the leaves, and overwrites the
// leaves. Their number is a power of two. The address a is of the tree's kind;
// first is the index of the first leaf among all leaves of its kind. If path is
// not nil, it receives the siblings on the way up from the leaf-th leaf.
func (t *tweak) reduce(leaves []node, a address, first, leaf uint32, path []byte) node {
	for height := 1; len(leaves) > 1; height++ {
		if path != nil {
			sibling := leaf>>(height-1) ^ 1
			copy(path[(height-1)*nodeSize:], leaves[sibling][:])
		}
		t.by.parents(t, a, height, first>>height, leaves)
		leaves = leaves[:len(leaves)/2]
	}
	return leaves[0]
}

// climb replaces nodes, leaves of trees of one kind and height, by the roots of
// their trees. For each node, indices has its index among all leaves of its
// kind, and paths has its siblings on the way up. There are at most as many
// nodes as lanes.
func (t *tweak) climb(nodes []node, a address, indices []uint32, paths [][]byte) {
	for height := 1; len(paths[0]) > 0; height++ {
		for lane, index := range indices {
			sibling := node(paths[lane])
			paths[lane] = paths[lane][nodeSize:]
			left, right := &nodes[lane], &sibling
			if index>>(height-1)&1 == 1 {
				left, right = right, left
			}
			t.blocks[lane].setPair(a.at(height, index>>height), left, right)
		}
		t.sumBatch(len(nodes))
		copy(nodes, t.sums[:])
	}
}
