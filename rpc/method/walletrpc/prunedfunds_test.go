package walletrpc_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview/merkleproof"
	"github.com/seed61375155/trawl/messages"
)

// proven returns the arguments of a call about spendTx, which is the second of three
// transactions of a block, after some change of the proof, and the hash of the block.
func proven(change func(ids []chainhash.Hash, header *wire.BlockHeader)) (params string, block chainhash.Hash) {
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(bytes.NewReader(fromHex(spendTx))); err != nil {
		panic(err)
	}
	id := tx.TxHash()
	ids := []chainhash.Hash{{1}, id, {2}}
	header := wire.BlockHeader{Version: 4}
	if change != nil {
		change(ids, &header)
	}
	proof := merkleproof.New(ids, func(other chainhash.Hash) bool { return other == ids[1] })
	if root, _, ok := proof.Verify(3); ok && header.MerkleRoot == (chainhash.Hash{}) {
		header.MerkleRoot = root
	}
	var raw bytes.Buffer
	if err := header.Serialize(&raw); err != nil {
		panic(err)
	}
	all := hex.EncodeToString(proof.Append(raw.Bytes()))
	return `["` + spendTx + `", "` + all + `"]`, header.BlockHash()
}

func TestImportPrunedFunds(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.ImportTx) (messages.Done, error) { return messages.Done{}, nil })
	good, block := proven(nil)
	replies(t, r, "importprunedfunds", map[string]string{good: `null`})
	if q := asked[messages.ImportTx](w); q.Block != block || q.Index == nil || *q.Index != 1 {
		t.Errorf("asked %+v", q)
	}
	other, _ := proven(func(ids []chainhash.Hash, _ *wire.BlockHeader) { ids[1] = chainhash.Hash{3} })
	replies(t, r, "importprunedfunds", map[string]string{other: `null`})
	if q := asked[messages.ImportTx](w); q.Index != nil {
		t.Errorf("asked %+v for a transaction that is not proven", q)
	}
	wrong, _ := proven(func(_ []chainhash.Hash, header *wire.BlockHeader) { header.MerkleRoot = chainhash.Hash{1} })
	const end = `{"code":-1,"message":"DataStream::read(): end of data: iostream error"}`
	replies(t, r, "importprunedfunds", map[string]string{
		wrong:                       `{"code":-5,"message":"Something wrong with merkleblock"}`,
		`["00", ""]`:                `{"code":-22,"message":"TX decode failed. Make sure the tx has at least one input."}`,
		`["` + spendTx + `", ""]`:   `{"code":-8,"message":"proof must be hexadecimal string (not '')"}`,
		`["` + spendTx + `", "00"]`: end,
		good[:len(good)-4] + `"]`:   end,
	})
}

func TestRemovePrunedFunds(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.RemoveTx) (messages.Done, error) { return messages.Done{}, nil })
	replies(t, r, "removeprunedfunds", map[string]string{
		`["` + replacedTx + `"]`: `null`,
		`["x"]`:                  `{"code":-8,"message":"txid must be of length 64 (not 1, for 'x')"}`,
	})
	if q := asked[messages.RemoveTx](w); q.TxID != (chainhash.Hash{31: 1}) {
		t.Errorf("asked %v", q.TxID)
	}
}
