package keys

import (
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// script is an output script that is the wallet's.
type script struct {
	bytes  []byte
	owners []owner // the first came first
}

// owner is a descriptor that has a script.
type owner struct {
	manager *descriptorManager
	index   int32
}

// addScript makes a script the wallet's.
func (s *Set) addScript(pkScript []byte, by owner) *script {
	found := s.scripts[string(pkScript)]
	if found == nil {
		found = &script{bytes: slices.Clone(pkScript)}
		s.scripts[string(found.bytes)] = found
		s.ownScripts = append(s.ownScripts, found.bytes)
		found.owners = append(found.owners, by)
		s.listener.Owned(found.bytes)
		return found
	}
	at := slices.IndexFunc(found.owners, func(o owner) bool { return o.manager == by.manager })
	if at < 0 {
		found.owners = append(found.owners, by)
	} else {
		found.owners[at].index = by.index
	}
	return found
}

// Scripts returns the scripts of the wallet in the order in which they came,
// each once. The list only grows, so its length is its version: blocks that were
// tested with the first n scripts need only be tested with those from n on. A
// list does not change when the wallet gets further scripts, and can be read by
// any goroutine.
func (s *Set) Scripts() [][]byte { return s.ownScripts[:len(s.ownScripts):len(s.ownScripts)] }

// IsMine reports whether an output script is the wallet's.
func (s *Set) IsMine(pkScript []byte) bool { return s.scripts[string(pkScript)] != nil }

// Solve tells how to spend an own script; nil for others.
func (s *Set) Solve(pkScript []byte) *descriptor.Solution {
	ours := s.scripts[string(pkScript)]
	if ours == nil {
		return nil
	}
	by := ours.owners[0]
	solution, err := by.manager.desc.Solve(uint32(by.index), ours.bytes)
	if err != nil {
		return nil
	}
	return solution
}

// Parents returns the texts of the descriptors that have a script, as far as they
// are shown.
func (s *Set) Parents(pkScript []byte) []string {
	ours := s.scripts[string(pkScript)]
	if ours == nil {
		return []string{}
	}
	texts := make([]string, 0, len(ours.owners))
	for _, by := range ours.owners {
		if text, ok := s.shown(by.manager); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// noType comes after all types of addresses.
const noType = walletfile.MerkleRoot + 1

// OutputType returns the type of address of an own script: that by which coins are
// listed.
func (s *Set) OutputType(pkScript []byte) walletfile.OutputType {
	switch book.DestinationOf(s.params.Network, pkScript).Kind() {
	case book.PubKeyHash:
		return walletfile.Legacy
	case book.ScriptHash:
		if ours := s.scripts[string(pkScript)]; ours != nil {
			if slot, ok := ours.owners[0].manager.slot(false); ok {
				return slot.Type
			}
		}
		return walletfile.P2SHSegwit // of combo()
	case book.WitnessKeyHash, book.WitnessScriptHash:
		return walletfile.Bech32
	case book.Taproot:
		return walletfile.Bech32m
	case book.MerkleRoot:
		return walletfile.MerkleRoot
	}
	return noType
}

// SigningDescriptor returns the descriptor of an own script, with the private
// keys of a wallet that is unlocked, and the index of the script. It is false
// for other scripts.
func (s *Set) SigningDescriptor(pkScript []byte) (d *descriptor.Descriptor, index uint32, ok bool) {
	ours := s.scripts[string(pkScript)]
	if ours == nil {
		return nil, 0, false
	}
	d, err := s.withPrivateKeys(ours.owners[0].manager)
	if err != nil {
		return nil, 0, false
	}
	return d, uint32(ours.owners[0].index), true
}
