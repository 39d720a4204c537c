package descriptor

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// p2mrKeyLen is the size of the keys of P2MR, and of its outputs' roots.
const p2mrKeyLen = slhdsa.PublicKeySize

// merkle is mr(TREE).
type merkle struct {
	tree  *tapTree
	count int // of branches
}

func (m *merkle) branches() int    { return m.count }
func (*merkle) output() OutputType { return MerkleRoot }

func (m *merkle) appendText(dst []byte, f form) []byte {
	return append(m.tree.appendText(append(dst, "mr("...), f), ')')
}

func (m *merkle) scripts(keys [][]byte) ([][]byte, error) {
	tree, err := m.tree.p2mr(keys)
	if err != nil {
		return nil, err
	}
	return [][]byte{p2mr.OutputScript(tree.Root())}, nil
}

// p2mr returns the script tree with the scripts of one index.
func (t *tapTree) p2mr(keys [][]byte) (*p2mr.Tree, error) {
	if t.leaf != nil {
		scripts, err := t.leaf.scripts(keys)
		if err != nil {
			return nil, err
		}
		return p2mr.NewLeaf(scripts[0]), nil
	}
	left, err := t.left.p2mr(keys)
	if err != nil {
		return nil, err
	}
	right, err := t.right.p2mr(keys)
	if err != nil {
		return nil, err
	}
	return p2mr.NewBranch(left, right)
}

// p2mrPk is pk(HEX) or pk(pqc(KEY)) in a leaf of mr().
type p2mrPk struct {
	key    *key              // nil: the public key is given
	public *slhdsa.PublicKey // nil: derived
}

func (*p2mrPk) output() OutputType { return Unknown }

func (s *p2mrPk) branches() int {
	if s.key == nil {
		return 1
	}
	return s.key.branches()
}

func (s *p2mrPk) appendText(dst []byte, f form) []byte {
	if s.key == nil {
		return append(hex.AppendEncode(append(dst, "pk("...), s.public[:]), ')')
	}
	return append(s.key.appendText(append(dst, "pk(pqc("...), f), "))"...)
}

func (s *p2mrPk) scripts(keys [][]byte) ([][]byte, error) {
	public := s.public
	if s.key != nil {
		derived := slhdsa.PublicKey(keys[s.key.number][1:])
		public = &derived
	}
	return [][]byte{p2mr.KeyScript(*public)}, nil
}

// p2mrMulti is multi_a() or sortedmulti_a() in a leaf of mr(), whose keys are
// given.
type p2mrMulti struct {
	name      string
	threshold int
	keys      []slhdsa.PublicKey
	sorted    bool
}

func (*p2mrMulti) branches() int      { return 1 }
func (*p2mrMulti) output() OutputType { return Unknown }

func (m *p2mrMulti) appendText(dst []byte, _ form) []byte {
	dst = append(append(dst, m.name...), '(')
	dst = strconv.AppendInt(dst, int64(m.threshold), 10)
	for i := range m.keys {
		dst = hex.AppendEncode(append(dst, ','), m.keys[i][:])
	}
	return append(dst, ')')
}

func (m *p2mrMulti) scripts([][]byte) ([][]byte, error) {
	return [][]byte{p2mr.MultiScript(m.threshold, m.inOrder())}, nil
}

// inOrder returns the keys in the order of the script.
func (m *p2mrMulti) inOrder() []slhdsa.PublicKey {
	if !m.sorted {
		return m.keys
	}
	return slices.SortedFunc(
		slices.Values(m.keys), func(a, b slhdsa.PublicKey) int { return bytes.Compare(a[:], b[:]) },
	)
}

// P2MRSatisfiable reports whether a wallet could spend the outputs within the
// limits of the chain's policy: whether some leaf of mr() takes at most 35
// signatures. It is false where the scripts are not known; p2mr is false for
// descriptors that do not stand for P2MR.
func (d *Descriptor) P2MRSatisfiable() (satisfiable, isP2MR bool) {
	m, ok := d.root.(*merkle)
	if !ok {
		return false, d.OutputType() == MerkleRoot
	}
	m.tree.each(func(leaf script) {
		multi, ok := leaf.(*p2mrMulti)
		satisfiable = satisfiable || !ok || multi.threshold <= p2mr.MaxSignatures
	})
	return satisfiable, true
}

// HasP2MRSource reports whether keys of mr() are derived from extended keys,
// which without their private keys tell no public key.
func (d *Descriptor) HasP2MRSource() bool {
	return slices.ContainsFunc(d.keys, func(k *key) bool { return k.pqc() })
}

// solveP2MR describes a script of mr() by the public keys in its leaves.
func (d *Descriptor) solveP2MR(m *merkle, index uint32) (*Solution, error) {
	keys, tree, err := d.treeP2MR(m, index)
	if err != nil {
		return nil, err
	}
	solution := &Solution{Solvable: true, Leaves: leavesP2MR(tree)}
	shown := m.tree.withKeys(keys)
	s := &solver{Descriptor: d, public: keys}
	if _, err := s.arrange(shown); err != nil {
		return nil, err
	}
	body := (&merkle{tree: shown}).appendText(nil, form{net: d.net})
	solution.Text = AddChecksum(string(body))
	return solution, nil
}

// treeP2MR returns the keys of an index, and the tree of their scripts.
func (d *Descriptor) treeP2MR(m *merkle, index uint32) ([][]byte, *p2mr.Tree, error) {
	keys, err := d.scriptKeys(index)
	if err != nil {
		return nil, nil, err
	}
	tree, err := m.tree.p2mr(keys)
	return keys, tree, err
}

func leavesP2MR(tree *p2mr.Tree) []Leaf {
	var leaves []Leaf
	for _, leaf := range tree.Leaves() {
		leaves = append(leaves, Leaf{Script: leaf.Script, Control: leaf.Control.Bytes()})
	}
	return leaves
}

// spendingP2MR tells how the script of an index of mr() is spent.
func (d *Descriptor) spendingP2MR(m *merkle, index uint32) (*Spending, error) {
	_, tree, err := d.treeP2MR(m, index)
	if err != nil {
		return nil, err
	}
	return &Spending{Scripts: [][]byte{p2mr.OutputScript(tree.Root())}, Leaves: leavesP2MR(tree)}, nil
}

// withKeys returns the tree with all keys given as they are at one index, and in
// the order of their scripts.
func (t *tapTree) withKeys(keys [][]byte) *tapTree {
	if t.leaf == nil {
		return &tapTree{left: t.left.withKeys(keys), right: t.right.withKeys(keys)}
	}
	switch leaf := t.leaf.(type) {
	case *p2mrPk:
		if leaf.key != nil {
			public := slhdsa.PublicKey(keys[leaf.key.number][1:])
			return &tapTree{leaf: &p2mrPk{public: &public}}
		}
	case *p2mrMulti:
		plain := &p2mrMulti{
			name: strings.TrimPrefix(leaf.name, "sorted"), threshold: leaf.threshold, keys: leaf.inOrder(),
		}
		return &tapTree{leaf: plain}
	}
	return &tapTree{leaf: t.leaf}
}

// scriptKeys returns the keys of one index by their numbers, as scripts take
// them.
func (d *Descriptor) scriptKeys(index uint32) ([][]byte, error) {
	if index > MaxIndex {
		return nil, ErrNotDerivable
	}
	e, err := d.expander()
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(e.keys))
	for i := range e.keys {
		if keys[i], err = e.keys[i].at(index); err != nil {
			return nil, derivationError(err)
		}
	}
	return keys, nil
}
