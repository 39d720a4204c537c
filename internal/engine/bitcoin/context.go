package bitcoin

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine/signet"
)

// checkPlace checks what of a block depends on the headers before it (Core's
// ContextualCheckBlock).
func (e *Engine) checkPlace(b *block, parent *chainview.Block) error {
	height := parent.Height + 1
	cutoff := b.header.Timestamp.Unix()
	if e.net.Active("csv", height) {
		cutoff = parent.MedianTimePast()
	}
	for _, tx := range b.List {
		if !consensus.Final(tx, height, cutoff) {
			return reject("bad-txns-nonfinal", "non-final transaction")
		}
	}
	if e.net.Active("bip34", height) {
		push, err := txscript.NewScriptBuilder().AddInt64(int64(height)).Script()
		if err != nil || !bytes.HasPrefix(b.List[0].TxIn[0].SignatureScript, push) {
			return reject("bad-cb-height", "block height mismatch in coinbase")
		}
	}
	if err := e.checkWitnesses(b, height); err != nil {
		return err
	}
	if b.weight(e.rules.WitnessScale) > e.rules.MaxWeight {
		return reject("bad-blk-weight", "ContextualCheckBlock : weight limit failed")
	}
	return nil
}

// The reasons for which a block is refused although another of the same header may
// be right: what they are about is not covered by the header's hash.
const (
	reasonNonceSize         = "bad-witness-nonce-size"
	reasonWitnessRoot       = "bad-witness-merkle-match"
	reasonUnexpectedWitness = "unexpected-witness"
)

// mutable reports whether another block of the same header may be right although
// checkPlace refuses this one.
func mutable(reason string) bool {
	return reason == reasonNonceSize || reason == reasonWitnessRoot || reason == reasonUnexpectedWitness
}

// checkWitnesses checks the coinbase's commitment to the witnesses (BIP141).
func (e *Engine) checkWitnesses(b *block, height int32) error {
	coinbase := b.List[0]
	if e.net.Active("segwit", height) {
		if at := signet.WitnessCommitment(coinbase); at >= 0 {
			witness := coinbase.TxIn[0].Witness
			if len(witness) != 1 || len(witness[0]) != chainhash.HashSize {
				return reject(reasonNonceSize, "CheckWitnessMalleation : invalid witness reserved value size")
			}
			want := commitment(b.WitnessIDs, witness[0])
			if !bytes.Equal(coinbase.TxOut[at].PkScript[len(signet.WitnessMagic):][:chainhash.HashSize], want[:]) {
				return reject(reasonWitnessRoot, "CheckWitnessMalleation : witness merkle commitment mismatch")
			}
			return nil
		}
	}
	if b.HasWitness {
		return reject(reasonUnexpectedWitness, "CheckWitnessMalleation : unexpected witness data found")
	}
	return nil
}

// commitment is what the coinbase commits to: the root over the witness ids, in which
// its own counts as zero, and a nonce.
func commitment(ids []chainhash.Hash, nonce []byte) [sha256.Size]byte {
	leaves := append([]chainhash.Hash(nil), ids...)
	leaves[0] = chainhash.Hash{}
	root, _ := consensus.MerkleRoot(leaves)
	first := sha256.Sum256(append(root[:], nonce...))
	return sha256.Sum256(first[:])
}
