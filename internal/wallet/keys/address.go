package keys

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/messages"
)

// noSeed is what descriptor wallets tell as the id of a seed.
var noSeed = strings.Repeat("00", 20)

// hardenedBit marks hardened steps in a path.
const hardenedBit = 1 << 31

// AddressInfo tells what the wallet knows of an address, which is given by its
// output script.
func (s *Set) AddressInfo(pkScript []byte) messages.AddressInfo {
	ours := s.scripts[string(pkScript)]
	to := book.DestinationOf(s.params.Network, pkScript)
	info := messages.AddressInfo{IsMine: ours != nil, Labels: []string{}}
	label := s.labels.Label(to)
	info.IsChange = info.IsMine && label == nil
	if label != nil {
		info.Labels = append(info.Labels, *label)
	}
	solution := s.Solve(pkScript)
	if solution == nil {
		return info
	}
	by := ours.owners[0].manager
	info.ParentDesc, _ = s.shown(by)
	info.PQCKeys = s.pqcStates(ours, solution)
	if info.Solvable = solution.Solvable; info.Solvable {
		info.Desc = solution.Text
	}
	info.Redeem, info.Witness = solution.Redeem, solution.Witness
	info.SigsNeeded, info.Keys = multisig(innermost(solution))
	if solution.Key != nil && to.Kind() != book.Taproot {
		info.PubKey = solution.Key.PublicKey
	}
	if from := originKey(to, solution); from != nil {
		info.Timestamp, info.HasPath = int64(by.record.CreationTime), true
		info.KeyPath, info.SeedID = keyPath(from.Path), noSeed
		info.MasterFP = hex.EncodeToString(from.Fingerprint[:])
	}
	return info
}

// pqcStates tells of the keys behind an own P2MR script that the wallet has.
func (s *Set) pqcStates(ours *script, solution *descriptor.Solution) []messages.PQCUse {
	signatures := make(map[slhdsa.PublicKey]uint32)
	for _, leaf := range solution.Leaves {
		_, publics, ok := p2mr.MatchKeys(leaf.Script)
		for i := 0; ok && i < len(publics); i++ {
			for _, by := range ours.owners {
				if n, has := s.vault.Signatures(by.manager.id(), publics[i]); has {
					signatures[publics[i]] = max(signatures[publics[i]], n)
				}
			}
		}
	}
	uses := make([]messages.PQCUse, 0, len(signatures))
	for public, n := range signatures {
		uses = append(uses, messages.PQCUse{PublicKey: public, Made: n})
	}
	slices.SortFunc(uses, func(a, b messages.PQCUse) int { return comparePQC(a.PublicKey, b.PublicKey) })
	return uses
}

// originKey returns the key whose origin is reported: that of an address of a single
// key.
func originKey(to book.Destination, solution *descriptor.Solution) *descriptor.DerivedKey {
	switch to.Kind() {
	case book.PubKeyHash, book.WitnessKeyHash, book.Taproot:
		return solution.Key
	case book.ScriptHash:
		if descriptor.ScriptType(solution.Redeem) == "witness_v0_keyhash" {
			return solution.Key
		}
	}
	return nil
}

// keyPath prints a path from the root.
func keyPath(path []uint32) string {
	text := []byte("m")
	for _, step := range path {
		text = strconv.AppendUint(append(text, '/'), uint64(step&^hardenedBit), 10)
		if step&hardenedBit != 0 {
			text = append(text, 'h')
		}
	}
	return string(text)
}

// innermost returns the script that is run in the end.
func innermost(s *descriptor.Solution) []byte {
	if s.Witness != nil {
		return s.Witness
	}
	return s.Redeem
}

// multisig returns the number of signatures and the keys of a multisig script.
func multisig(pkScript []byte) (needed int, keys [][]byte) {
	if descriptor.ScriptType(pkScript) != "multisig" {
		return 0, nil
	}
	_, needed, err := txscript.CalcMultiSigStats(pkScript)
	if err != nil {
		return 0, nil
	}
	pushes, err := txscript.PushedData(pkScript)
	if err != nil {
		return 0, nil
	}
	for _, push := range pushes {
		if len(push) == 33 || len(push) == 65 { // the number of keys can be a push too
			keys = append(keys, push)
		}
	}
	return needed, keys
}
