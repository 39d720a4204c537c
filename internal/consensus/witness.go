package consensus

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// WitnessMagic begins the output by which a coinbase commits to the witnesses of its
// block (BIP141).
var WitnessMagic = [...]byte{opReturn, 0x24, 0xaa, 0x21, 0xa9, 0xed}

// commitmentSize is the length of such an output at least.
const commitmentSize = len(WitnessMagic) + chainhash.HashSize

// WitnessCommitment returns the index of the last output that commits to witnesses,
// -1 when there is none.
func WitnessCommitment(coinbase *wire.MsgTx) int {
	for i := len(coinbase.TxOut) - 1; i >= 0; i-- {
		script := coinbase.TxOut[i].PkScript
		if len(script) >= commitmentSize && bytes.HasPrefix(script, WitnessMagic[:]) {
			return i
		}
	}
	return -1
}

// Commitment is what a coinbase commits to: the root over the witness ids, in which
// its own counts as zero, and a nonce.
func Commitment(ids []chainhash.Hash, nonce []byte) [sha256.Size]byte {
	leaves := append([]chainhash.Hash(nil), ids...)
	leaves[0] = chainhash.Hash{}
	root, _ := MerkleRoot(leaves)
	first := sha256.Sum256(append(root[:], nonce...))
	return sha256.Sum256(first[:])
}

// The reasons for which a block is refused although another of the same header may
// be right: what they are about is not covered by the header's hash.
const (
	reasonNonceSize         = "bad-witness-nonce-size"
	reasonWitnessRoot       = "bad-witness-merkle-match"
	reasonUnexpectedWitness = "unexpected-witness"
)

// MayBeMalleated reports whether a block that is refused for a reason may have been
// changed on its way, so that another block with its header may be right.
func MayBeMalleated(reason string) bool {
	return reason == reasonNonceSize || reason == reasonWitnessRoot || reason == reasonUnexpectedWitness
}

// JudgeWitnesses does the work of CheckWitnesses, which takes long in large blocks, before
// it is asked for. The transactions begin with a coinbase, and do not change afterwards.
func (t *Txs) JudgeWitnesses() {
	if at := WitnessCommitment(t.List[0]); at >= 0 {
		t.commitment = t.checkCommitment(at)
	}
	t.judged = true
}

// CheckWitnesses checks the coinbase's commitment to the witnesses of a block with
// these transactions (BIP141), where that is active; else there may be none.
func (t *Txs) CheckWitnesses(active bool) *Violation {
	if active {
		if at := WitnessCommitment(t.List[0]); at >= 0 {
			if t.judged {
				return t.commitment
			}
			return t.checkCommitment(at)
		}
	}
	if t.HasWitness {
		return &Violation{reasonUnexpectedWitness, "CheckWitnessMalleation : unexpected witness data found"}
	}
	return nil
}

// checkCommitment checks the commitment in an output of the coinbase.
func (t *Txs) checkCommitment(at int) *Violation {
	coinbase := t.List[0]
	witness := coinbase.TxIn[0].Witness
	if len(witness) != 1 || len(witness[0]) != chainhash.HashSize {
		return &Violation{reasonNonceSize, "CheckWitnessMalleation : invalid witness reserved value size"}
	}
	want := Commitment(t.WitnessIDs, witness[0])
	if !bytes.Equal(coinbase.TxOut[at].PkScript[len(WitnessMagic):commitmentSize], want[:]) {
		return &Violation{reasonWitnessRoot, "CheckWitnessMalleation : witness merkle commitment mismatch"}
	}
	return nil
}
