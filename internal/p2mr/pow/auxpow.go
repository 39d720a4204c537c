package pow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// Limits of an AuxPoW payload.
const (
	maxChainBranch     = 30
	maxCoinbaseBranch  = 31
	maxCommitmentStart = 20 // where a commitment without marker begins at the latest
	footerLen          = 8
)

// mergedMagic marks the commitment to other chains in a coinbase.
var mergedMagic = []byte{0xfa, 0xbe, 'm', 'm'}

// An auxPoW is the payload of a merge-mined block: the proof that a block of
// another chain, its parent, commits to this one.
type auxPoW struct {
	coinbase       wire.MsgTx
	coinbaseBranch []chainhash.Hash
	coinbaseIndex  int32
	chainBranch    []chainhash.Hash
	chainIndex     int32
	parent         wire.BlockHeader
}

var errAuxPoW = errors.New("malformed AuxPoW payload")

// parseAuxPoW reads a payload and nothing after it.
func parseAuxPoW(raw []byte) (*auxPoW, error) {
	a := new(auxPoW)
	r := bytes.NewReader(raw)
	if err := a.readCoinbase(r); err != nil {
		return nil, err
	}
	return a, a.readRest(r)
}

func (a *auxPoW) readCoinbase(r *bytes.Reader) error {
	// A marker of witnesses is a number of inputs here.
	if err := a.coinbase.DeserializeNoWitness(r); err != nil {
		return errAuxPoW
	}
	return nil
}

// readRest reads what follows the coinbase, up to the end.
func (a *auxPoW) readRest(r *bytes.Reader) (err error) {
	if a.coinbaseBranch, err = readBranch(r); err != nil {
		return err
	}
	if err := binary.Read(r, binary.LittleEndian, &a.coinbaseIndex); err != nil {
		return errAuxPoW
	}
	if a.chainBranch, err = readBranch(r); err != nil {
		return err
	}
	if err := binary.Read(r, binary.LittleEndian, &a.chainIndex); err != nil {
		return errAuxPoW
	}
	if err := a.parent.Deserialize(r); err != nil || r.Len() > 0 {
		return errAuxPoW
	}
	return nil
}

// readBranch reads hashes that the rest of r is long enough for.
func readBranch(r *bytes.Reader) ([]chainhash.Hash, error) {
	n, err := wire.ReadVarInt(r, 0)
	if err != nil || n > uint64(r.Len()/chainhash.HashSize) {
		return nil, errAuxPoW
	}
	branch := make([]chainhash.Hash, n)
	for i := range branch {
		if _, err := io.ReadFull(r, branch[i][:]); err != nil {
			return nil, errAuxPoW
		}
	}
	return branch, nil
}

// fold hashes a leaf with its siblings up to the root.
func fold(leaf chainhash.Hash, branch []chainhash.Hash, index int32) chainhash.Hash {
	for i := range branch {
		if index&1 != 0 {
			leaf = pair(&branch[i], &leaf)
		} else {
			leaf = pair(&leaf, &branch[i])
		}
		index >>= 1
	}
	return leaf
}

// pair hashes two nodes of a Merkle tree.
func pair(left, right *chainhash.Hash) chainhash.Hash {
	var both [2 * chainhash.HashSize]byte
	copy(both[:], left[:])
	copy(both[chainhash.HashSize:], right[:])
	return chainhash.DoubleHashH(both[:])
}

// An Order is how the commitment writes a hash.
type Order int

// The orders.
const (
	DisplayOrder Order = iota // as it is shown
	ByteOrder                 // as it is hashed
	EitherOrder
)

// check returns the reject reason of a payload, empty for a right one. enough tells
// whether the parent's hash is work enough.
func (a *auxPoW) check(
	hash *chainhash.Hash, chainID uint16, as Order, enough func(parent *chainhash.Hash) bool,
) string {
	if !consensus.IsCoinbase(&a.coinbase) {
		return "bad-auxpow-coinbase"
	}
	if a.coinbaseIndex != 0 {
		return "bad-auxpow-coinbase-index"
	}
	if a.chainIndex < 0 {
		return "bad-auxpow-chain-index"
	}
	if len(a.chainBranch) > maxChainBranch {
		return "bad-auxpow-chain-branch-size"
	}
	if len(a.coinbaseBranch) > maxCoinbaseBranch {
		return "bad-auxpow-coinbase-branch-size"
	}
	if a.chainIndex>>len(a.chainBranch) != 0 {
		return "bad-auxpow-chain-index"
	}
	if fold(a.coinbase.TxHash(), a.coinbaseBranch, 0) != a.parent.MerkleRoot {
		return "bad-auxpow-coinbase-branch"
	}
	if parent := a.parent.BlockHash(); !enough(&parent) {
		return "bad-auxpow-parent-hash"
	}
	root := fold(*hash, a.chainBranch, a.chainIndex)
	return a.checkCommitment(root[:], chainID, as)
}

// checkCommitment looks for the root in the coinbase's script.
func (a *auxPoW) checkCommitment(root []byte, chainID uint16, as Order) string {
	const missing = "bad-auxpow-commitment"
	shown := slices.Clone(root)
	slices.Reverse(shown)
	script := a.coinbase.TxIn[0].SignatureScript
	reason := missing
	for _, try := range []struct {
		order Order
		root  []byte
	}{{DisplayOrder, shown}, {ByteOrder, root}} {
		at := bytes.Index(script, try.root)
		if at < 0 || as != EitherOrder && as != try.order {
			continue
		}
		if reason = a.checkFooter(script, at, chainID); reason == "" {
			return ""
		}
	}
	return reason
}

// checkFooter checks what stands around a commitment that begins at a place of
// the script.
func (a *auxPoW) checkFooter(script []byte, at int, chainID uint16) string {
	const missing = "bad-auxpow-commitment"
	if magic := bytes.Index(script, mergedMagic); magic >= 0 {
		if bytes.Contains(script[magic+1:], mergedMagic) || at != magic+len(mergedMagic) {
			return missing
		}
	} else if at > maxCommitmentStart {
		return missing
	}
	footer := script[at+chainhash.HashSize:]
	if len(footer) < footerLen {
		return missing
	}
	size, nonce := binary.LittleEndian.Uint32(footer), binary.LittleEndian.Uint32(footer[4:])
	if size != 1<<len(a.chainBranch) {
		return "bad-auxpow-merkle-size"
	}
	if uint32(a.chainIndex) != slot(nonce, chainID, len(a.chainBranch)) {
		return "bad-auxpow-chain-index"
	}
	return ""
}

// slot is where a chain's block has to stand among those of the others.
func slot(nonce uint32, chainID uint16, height int) uint32 {
	step := func(x uint32) uint32 { return x*1103515245 + 12345 }
	return step(step(nonce)+uint32(chainID)) & (math.MaxUint32 >> (32 - height))
}
