package p2mr

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

type spendVectors struct {
	Vectors []spendVector
}

type spendVector struct {
	Name, Block string
	Tx          hexBytes
	PrevOuts    []struct {
		Amount       int64
		ScriptPubKey hexBytes
	}
	TestedInput int `json:"tested_input"`
	LeafScript  hexBytes
	SigHashes   []struct {
		Input    int
		PubKey   hexBytes
		HashType uint32 `json:"hash_type"`
		SigHash  hexBytes
		Parts    struct {
			LeafHash   hexBytes `json:"leaf_hash"`
			CodeSepPos hexBytes `json:"codesep_pos"`
			Preimage   hexBytes
			SHAAnnex   hexBytes `json:"sha_annex"`
		}
	}
}

// parse returns the transaction and its hasher.
func (v *spendVector) parse(t *testing.T) (*wire.MsgTx, *SigHasher) {
	t.Helper()
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(v.Tx)); err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	var prevOuts []*wire.TxOut
	for _, out := range v.PrevOuts {
		prevOuts = append(prevOuts, wire.NewTxOut(out.Amount, out.ScriptPubKey))
	}
	hasher, err := NewSigHasher(tx, prevOuts)
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return tx, hasher
}

// TestSigHashVectors compares what recorded signatures sign, and checks those of
// valid transactions.
func TestSigHashVectors(t *testing.T) {
	for _, v := range golden[spendVectors](t, "spends.json.gz").Vectors {
		if v.Name == "signature over another input amount" {
			continue // what is recorded is what its signer hashed
		}
		tx, hasher := v.parse(t)
		for _, s := range v.SigHashes {
			witness := tx.TxIn[s.Input].Witness
			spend := &Spend{Input: s.Input, Leaf: Hash(s.Parts.LeafHash), CodeSeparator: leUint32(s.Parts.CodeSepPos)}
			if len(s.Parts.SHAAnnex) > 0 {
				spend.Annex = witness[len(witness)-1]
			}
			message, err := hasher.message(txscript.SigHashType(s.HashType), spend)
			if err != nil || !bytes.Equal(message, s.Parts.Preimage) {
				t.Errorf("%s: message %x: %v, want %x", v.Name, message, err, s.Parts.Preimage)
			}
			hash, err := hasher.Hash(txscript.SigHashType(s.HashType), spend)
			if err != nil || !bytes.Equal(hash[:], s.SigHash) {
				t.Errorf("%s: hash %v: %v, want %x", v.Name, hash, err, s.SigHash)
			}
			if v.Block == "valid" && !anyVerifies(slhdsa.PublicKey(s.PubKey), hash, witness) {
				t.Errorf("%s: no signature of %x in the witness", v.Name, s.PubKey)
			}
		}
	}
}

func leUint32(raw []byte) uint32 {
	return uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16 | uint32(raw[3])<<24
}

// anyVerifies says whether an item is a signature, whatever its hash type.
func anyVerifies(key slhdsa.PublicKey, hash Hash, witness wire.TxWitness) bool {
	for _, item := range witness {
		if len(item)|1 == slhdsa.SignatureSize+1 && key.Verify(hash[:], item[:slhdsa.SignatureSize]) {
			return true
		}
	}
	return false
}

// TestControlBlockVectors lets the witnesses prove the outputs that they spend.
func TestControlBlockVectors(t *testing.T) {
	for _, v := range golden[spendVectors](t, "spends.json.gz").Vectors {
		tx, _ := v.parse(t)
		witness := tx.TxIn[v.TestedInput].Witness
		if n := len(witness); n > 1 && len(witness[n-1]) > 0 && witness[n-1][0] == 0x50 {
			witness = witness[:n-1]
		}
		program, ok := ParseOutputScript(v.PrevOuts[v.TestedInput].ScriptPubKey)
		if !ok || len(witness) < 2 {
			continue
		}
		control, err := ParseControlBlock(witness[len(witness)-1])
		if got, want := errors.Is(err, ErrControlSize),
			strings.Contains(v.Block, "Invalid P2MR control block size"); got != want {
			t.Errorf("%s: %v, recorded: %s", v.Name, err, v.Block)
		}
		if got, want := errors.Is(err, ErrControlBit),
			strings.Contains(v.Block, "P2MR control byte bit 0"); got != want {
			t.Errorf("%s: %v, recorded: %s", v.Name, err, v.Block)
		}
		if err != nil {
			continue
		}
		root, _ := control.Root(witness[len(witness)-2])
		if got, want := root != program, strings.Contains(v.Block, "Witness program hash mismatch"); got != want {
			t.Errorf("%s: root %v of %v, recorded: %s", v.Name, root, program, v.Block)
		}
	}
}

func TestSigHashTypes(t *testing.T) {
	tx := &wire.MsgTx{
		TxIn:  []*wire.TxIn{{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}}}, {}},
		TxOut: []*wire.TxOut{{Value: 1}},
	}
	if _, err := NewSigHasher(tx, []*wire.TxOut{{}}); !errors.Is(err, ErrPrevOuts) {
		t.Errorf("two inputs that spend one output: %v", err)
	}
	hasher, err := NewSigHasher(tx, []*wire.TxOut{{}, {}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Hash]int{}
	for kind := range 0x200 {
		for input := range 2 {
			defined := kind <= 3 || kind >= 0x81 && kind <= 0x83
			single := kind&3 == 3
			hash, err := hasher.Hash(txscript.SigHashType(kind), &Spend{Input: input, CodeSeparator: NoCodeSeparator})
			if valid := defined && (!single || input == 0); valid != (err == nil) || !valid &&
				!errors.Is(err, ErrSigHashType) {
				t.Errorf("type 0x%02x of input %d: %v", kind, input, err)
			}
			if other, ok := seen[hash]; ok && err == nil {
				t.Errorf("types 0x%02x and 0x%02x sign the same", other, kind)
			}
			seen[hash] = kind
		}
	}
}
