package p2mr

import "crypto/sha256"

// A tag keeps hashes of one purpose apart from all others, as BIP340 has it.
type tag [sha256.Size]byte

// The tags of P2MR.
var (
	tagLeaf    = newTag("P2MRLeaf")
	tagBranch  = newTag("P2MRBranch")
	tagSigHash = newTag("P2MRSighash")
	tagData    = newTag("QbitDataSigPQC")
)

func newTag(name string) tag { return sha256.Sum256([]byte(name)) }

func (t tag) hash(parts ...[]byte) (sum Hash) {
	h := sha256.New()
	h.Write(t[:])
	h.Write(t[:])
	for _, part := range parts {
		h.Write(part)
	}
	h.Sum(sum[:0])
	return sum
}
