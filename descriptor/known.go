package descriptor

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// know adds what an expression tells of its scripts. If two key expressions stand
// for the same key, the origin of the first is shown. If both are in the same
// function, the origin of the last is shown, its path followed by the paths of the
// earlier expressions. That is how Core's ExpandHelper comes to gather them.
func (s *solver) know(k *known, root script) error {
	own := new(known)
	switch e := root.(type) {
	case *keyScript:
		s.knowKeys(own, e.key)
	case *multi:
		s.knowKeys(own, e.keys...)
	case *policy:
		s.knowKeys(own, e.keys...)
	case *wrapped:
		if err := s.know(own, e.inner); err != nil {
			return err
		}
		scripts, err := e.inner.scripts(s.public)
		if err != nil {
			return err
		}
		own.addScript(scripts[0])
	case *taproot:
		s.knowKeys(own, e.internal)
		if err := s.knowTree(own, e); err != nil {
			return err
		}
	}
	k.merge(own)
	if e, ok := root.(*policy); ok && e.tapscript {
		for _, key := range e.keys {
			public := s.public[key.number]
			k.addPublic(public[1:], public)
		}
	}
	return nil
}

// knowKeys adds keys, those that a musig() is made of first.
func (s *solver) knowKeys(k *known, keys ...*key) {
	for _, from := range keys {
		if m, ok := from.keySource.(*musigKey); ok {
			s.knowKeys(k, m.participants...)
		}
		derived := s.at(from.expression)
		k.addPublic(derived.PublicKey, derived.PublicKey)
		origin := keyOrigin{derived.Fingerprint, derived.Path}
		earlier, repeated := k.origins[string(derived.PublicKey)]
		switch {
		case repeated && from.origin == nil:
			continue
		case repeated:
			origin = keyOrigin{from.origin.fingerprint, slices.Concat(from.origin.steps, earlier.steps)}
		case k.origins == nil:
			k.origins = make(map[string]keyOrigin)
		}
		k.origins[string(derived.PublicKey)] = origin
	}
}

// knowTree adds what an output key commits to.
func (s *solver) knowTree(k *known, t *taproot) error {
	internal := s.public[t.internal.number]
	parsed, err := secp256k1.ParsePubKey(internal)
	if err != nil {
		return err
	}
	found := &knownTree{internal: internal}
	var root []byte
	if t.tree != nil {
		t.tree.each(func(leaf script) {
			if err == nil {
				err = s.know(k, leaf)
			}
		})
		if err != nil {
			return err
		}
		whole, err := s.sortTree(t.tree)
		if err != nil {
			return err
		}
		found.tree, root = whole.tree, whole.hash[:]
	}
	output := txscript.ComputeTaprootOutputKey(parsed, root).SerializeCompressed()[1:]
	if k.trees == nil {
		k.trees = make(map[string]*knownTree)
	}
	k.trees[string(output)] = found
	return nil
}

// sortedTree is a tree of scripts in the order in which it is described. The output
// does not tell the order of subtrees: the subtree with the lowest script comes
// first. If both have that script, the subtree where its path to the root is lower
// comes first.
type sortedTree struct {
	tree   *scriptTree
	hash   *chainhash.Hash
	lowest []byte
	path   []byte // of the lowest script, to the root of this tree
}

func (s *solver) sortTree(t *tapTree) (sortedTree, error) {
	if t.leaf != nil {
		scripts, err := t.leaf.scripts(s.public)
		if err != nil {
			return sortedTree{}, err
		}
		return sortedTree{&scriptTree{leaf: scripts[0]}, leafHash(scripts[0]), scripts[0], nil}, nil
	}
	left, err := s.sortTree(t.left)
	if err != nil {
		return sortedTree{}, err
	}
	right, err := s.sortTree(t.right)
	if err != nil {
		return sortedTree{}, err
	}
	leftPath, rightPath := slices.Concat(left.path, right.hash[:]), slices.Concat(right.path, left.hash[:])
	order := bytes.Compare(right.lowest, left.lowest)
	if order == 0 {
		order = len(rightPath) - len(leftPath)
	}
	if order == 0 {
		order = bytes.Compare(rightPath, leftPath)
	}
	if order < 0 {
		left, right, leftPath = right, left, rightPath
	}
	return sortedTree{
		&scriptTree{left: left.tree, right: right.tree}, branchHash(left.hash, right.hash), left.lowest, leftPath,
	}, nil
}

func (k *known) addScript(script []byte) {
	if k.scripts == nil {
		k.scripts = make(map[string][]byte)
	}
	k.scripts[string(btcutil.Hash160(script))] = script
}

// addPublic adds a key by the hash of what stands for it, unless one has that.
func (k *known) addPublic(hashed, public []byte) {
	if k.public == nil {
		k.public = make(map[string][]byte)
	}
	hash := string(btcutil.Hash160(hashed))
	if k.public[hash] == nil {
		k.public[hash] = public
	}
}

// merge adds what is not known yet.
func (k *known) merge(other *known) {
	k.origins = merged(k.origins, other.origins)
	k.public = merged(k.public, other.public)
	k.scripts = merged(k.scripts, other.scripts)
	k.trees = merged(k.trees, other.trees)
}

func merged[V any](into, from map[string]V) map[string]V {
	if into == nil {
		return from
	}
	for key, value := range from {
		if _, has := into[key]; !has {
			into[key] = value
		}
	}
	return into
}
