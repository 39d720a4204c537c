package chainstate

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
)

// signetHeader begins the push, inside the witness commitment of a signet
// block, that holds the block's signature (BIP325).
var signetHeader = []byte{0xec, 0xc7, 0xda, 0xa2}

// signetFlags are the script rules that a signet's challenge is solved under.
const signetFlags = script.P2SH | script.Witness | script.DERSig | script.NullDummy

// maxSolutionItem bounds an item of a solution's witness: nothing in a block can
// be larger.
const maxSolutionItem = wire.MaxBlockPayload

// Signed reports whether a block solves the challenge of its signet (BIP325):
// whether a virtual transaction that commits to the block spends a virtual
// output that pays to the challenge.
func Signed(block *wire.MsgBlock, challenge []byte) bool {
	spend, sign, ok := signetTxs(block, challenge)
	if !ok {
		return false
	}
	return script.NewSpend(sign, spend.TxOut).VerifyInput(0, signetFlags) == nil
}

// signetTxs returns the two virtual transactions of BIP325.
func signetTxs(block *wire.MsgBlock, challenge []byte) (spend, sign *wire.MsgTx, ok bool) {
	if len(block.Transactions) == 0 {
		return nil, nil, false
	}
	coinbase := block.Transactions[0].Copy()
	at := consensus.WitnessCommitment(coinbase)
	if at < 0 {
		return nil, nil, false
	}
	without, solution, err := cutSolution(coinbase.TxOut[at].PkScript)
	if err != nil {
		return nil, nil, false
	}
	coinbase.TxOut[at].PkScript = without
	txs := append([]*wire.MsgTx{coinbase}, block.Transactions[1:]...)
	root := MerkleRoot(txs)

	data := binary.LittleEndian.AppendUint32(nil, uint32(block.Header.Version))
	data = append(data, block.Header.PrevBlock[:]...)
	data = append(data, root[:]...)
	data = binary.LittleEndian.AppendUint32(data, uint32(block.Header.Timestamp.Unix()))
	sig, err := txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(data).Script()
	if err != nil {
		return nil, nil, false
	}
	spend = wire.NewMsgTx(0)
	spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32}, SignatureScript: sig})
	spend.AddTxOut(wire.NewTxOut(0, challenge))

	sign = wire.NewMsgTx(0)
	sign.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: spend.TxHash()}})
	sign.AddTxOut(wire.NewTxOut(0, []byte{txscript.OP_RETURN}))
	return spend, sign, readSolution(solution, sign.TxIn[0])
}

// cutSolution takes the signature out of a commitment script and leaves its
// header. Without a signature the script stays as it is.
func cutSolution(script []byte) (without, solution []byte, err error) {
	without = make([]byte, 0, len(script))
	tokens := txscript.MakeScriptTokenizer(0, script)
	found := false
	for at := int32(0); tokens.Next(); at = tokens.ByteIndex() {
		data := tokens.Data()
		if !found && len(data) > len(signetHeader) && bytes.HasPrefix(data, signetHeader) {
			found = true
			solution = data[len(signetHeader):]
			push, err := txscript.NewScriptBuilder().AddData(signetHeader).Script()
			if err != nil {
				return nil, nil, err
			}
			without = append(without, push...)
			continue
		}
		without = append(without, script[at:tokens.ByteIndex()]...)
	}
	return without, solution, tokens.Err()
}

// readSolution fills in from a serialized solution: a script and a witness
// stack, and nothing after them. An empty one leaves in as it is.
func readSolution(solution []byte, in *wire.TxIn) bool {
	if len(solution) == 0 {
		return true
	}
	r := bytes.NewReader(solution)
	script, err := wire.ReadVarBytes(r, 0, maxSolutionItem, "script")
	if err != nil {
		return false
	}
	items, err := wire.ReadVarInt(r, 0)
	if err != nil || items > uint64(len(solution)) {
		return false
	}
	in.SignatureScript = script
	for range items {
		item, err := wire.ReadVarBytes(r, 0, maxSolutionItem, "witness item")
		if err != nil {
			return false
		}
		in.Witness = append(in.Witness, item)
	}
	return r.Len() == 0
}
