package dialect

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// MergedMining is how blocks are mined together with those of another chain (AuxPoW).
type MergedMining struct {
	ChainID      uint16  // among the chains that are mined together
	From         int32   // height of the first block that may be
	DisplayOrder int32   // height from which on blocks are named in display order
	Share        float64 // of all blocks, that such blocks have once the targets have settled

	// Version returns the version of such a block, from that of a block which is mined by itself.
	Version func(version int32) int32

	// Marked reports whether a block of a version is mined together with another.
	Marked func(version int32) bool

	// NextBits returns the compact target of such a block on parent, with a time in seconds
	// since 1970. It is safe for concurrent use.
	NextBits func(parent *chainview.Block, time int64) uint32

	// Payload reads the proof that a miner hands in, in any layout, and returns it in that of blocks.
	Payload func(raw []byte) ([]byte, error)
}

func (n *Network) mergedMining() *MergedMining {
	p := n.P2MR
	return &MergedMining{
		ChainID: p.ChainID, From: p.Cadence, DisplayOrder: p.DisplayOrder, Share: pow.MergedShare(),
		Version:  func(version int32) int32 { return markedVersion(version, p.ChainID) },
		Marked:   pow.IsAuxPoWVersion,
		NextBits: p.NextBits(pow.MergeMined),
		Payload:  pow.ReadPayload,
	}
}

// Parts of the version of a block.
const (
	versionTop     = 0x20000000
	versionTopMask = 0xe0000000
	versionVotes   = 0xff       // what can be voted for
	versionRolling = 0x1fffe000 // what miners may count with
	versionMarked  = 1 << 8     // of merge-mined blocks
	versionChain   = 13         // where the chain's number begins
)

// rollVersion makes the version that of no merge-mined block.
func rollVersion(version int32) (rolled int32, mask uint32) {
	if v := uint32(version); v&versionTopMask == versionTop {
		return ownVersion(version), versionRolling
	}
	return version, 0
}

// ownVersion is the version of a block that is mined by itself, with the votes of another.
func ownVersion(version int32) int32 { return int32(versionTop | uint32(version)&versionVotes) }

// markedVersion is the version of a merge-mined block, with the votes of another.
func markedVersion(version int32, chain uint16) int32 {
	return int32(versionTop | uint32(chain)<<versionChain | versionMarked | uint32(version)&versionVotes)
}

// chosenVersion is the version of blocks made here where their maker has chosen one, which has an effect where
// blocks are made on demand, with a fixed difficulty. They have no payload.
func (p *P2MR) chosenVersion(version *int32) *int32 {
	if p.Difficulty != pow.FixedDifficulty {
		return nil
	}
	if version != nil && pow.IsAuxPoWVersion(*version) {
		return new(ownVersion(*version))
	}
	return version
}
