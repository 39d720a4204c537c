package p2mr

import (
	"bytes"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine/signet"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// A block is a block with what is computed of it once.
type block struct {
	*pow.Header
	raw      []byte
	txs      []*btcutil.Tx
	size     int // of raw
	stripped int // without witnesses
}

var errTrailing = errors.New("bytes after the end of the block")

// readBlock reads a serialized block and nothing after it.
func (e *Engine) readBlock(raw []byte) (*block, error) {
	h, size, err := pow.ReadHeader(raw)
	if err != nil {
		return nil, err
	}
	b := &block{Header: h, raw: raw, size: len(raw), stripped: size}
	r := bytes.NewReader(raw[size:])
	n, err := wire.ReadVarInt(r, 0)
	if err != nil {
		return nil, err
	}
	b.stripped += wire.VarIntSerializeSize(n)
	for ; n > 0; n-- {
		tx := new(wire.MsgTx)
		if err := tx.Deserialize(r); err != nil {
			return nil, err
		}
		b.stripped += tx.SerializeSizeStripped()
		b.txs = append(b.txs, btcutil.NewTx(tx))
	}
	if r.Len() > 0 {
		return nil, errTrailing
	}
	return b, nil
}

// message is the block in btcd's form, without its payload.
func (b *block) message() *wire.MsgBlock {
	msg := &wire.MsgBlock{Header: b.BlockHeader}
	for _, tx := range b.txs {
		msg.Transactions = append(msg.Transactions, tx.MsgTx())
	}
	return msg
}

// check checks what of a block depends on nothing else; the work is not part of
// it.
func (e *Engine) check(b *block) error {
	if e.net.SignetChallenge != nil && !signet.Signed(b.message(), e.net.SignetChallenge) {
		return reject("bad-signet-blksig", "signet block signature validation failure")
	}
	root, repeated := merkleRoot(b.txs)
	if root != b.MerkleRoot {
		return reject("bad-txnmrklroot", "hashMerkleRoot mismatch")
	}
	if repeated {
		return reject("bad-txns-duplicate", "duplicate transaction")
	}
	if len(b.txs) == 0 || b.stripped > e.net.MaxBlockSize {
		return reject("bad-blk-length", "size limits failed")
	}
	if !blockchain.IsCoinBase(b.txs[0]) {
		return reject("bad-cb-missing", "first tx is not coinbase")
	}
	if slices.ContainsFunc(b.txs[1:], blockchain.IsCoinBase) {
		return reject("bad-cb-multiple", "more than one coinbase")
	}
	sigOps := int64(0)
	for _, tx := range b.txs {
		if err := e.checkTx(tx.MsgTx()); err != nil {
			return err
		}
		sigOps += int64(blockchain.CountSigOps(tx)) * e.net.Rules.WitnessScale
	}
	if sigOps > e.net.Rules.MaxSigOps {
		return reject("bad-blk-sigops", "out-of-bounds SigOpCount")
	}
	return nil
}

// merkleRoot returns the root of the transactions, and whether two nodes beside
// each other are the same: then a block with a transaction less has that root too.
func merkleRoot(txs []*btcutil.Tx) (root chainhash.Hash, repeated bool) {
	ids := make([]chainhash.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = *tx.Hash()
	}
	return consensus.MerkleRoot(ids)
}

// checkTx checks what of a transaction depends on nothing else.
func (e *Engine) checkTx(tx *wire.MsgTx) error {
	if v := e.net.Rules.CheckTx(tx); v != nil {
		return reject(v.Reason, v.Debug)
	}
	return nil
}

// checkAt checks what of a block depends on where it stands: on top of a chain with
// that median time.
func (e *Engine) checkAt(b *block, height int32, median int64) error {
	cutoff := b.Timestamp.Unix()
	if e.net.Active("csv", height) {
		cutoff = median
	}
	for _, tx := range b.txs {
		if !consensus.Final(tx.MsgTx(), height, cutoff) {
			return reject("bad-txns-nonfinal", "non-final transaction")
		}
	}
	if e.net.Active("bip34", height) {
		push, err := txscript.NewScriptBuilder().AddInt64(int64(height)).Script()
		if err != nil || !bytes.HasPrefix(b.txs[0].MsgTx().TxIn[0].SignatureScript, push) {
			return reject("bad-cb-height", "block height mismatch in coinbase")
		}
	}
	if err := e.checkCommitment(b, height); err != nil {
		return err
	}
	if e.weight(b) > e.net.Rules.MaxWeight {
		return reject("bad-blk-weight", "ContextualCheckBlock : weight limit failed")
	}
	return nil
}

func (e *Engine) weight(b *block) int64 {
	return int64(b.stripped)*(e.net.Rules.WitnessScale-1) + int64(b.size)
}

// checkCommitment checks the coinbase's commitment to the witnesses (BIP141).
func (e *Engine) checkCommitment(b *block, height int32) error {
	coinbase := b.txs[0].MsgTx()
	if at := consensus.WitnessCommitment(coinbase); at >= 0 && e.net.Active("segwit", height) {
		witness := coinbase.TxIn[0].Witness
		if len(witness) != 1 || len(witness[0]) != chainhash.HashSize {
			return reject("bad-witness-nonce-size", "ContextualCheckBlock : invalid witness reserved value size")
		}
		root := witnessRoot(b.txs)
		want := chainhash.DoubleHashB(append(root[:], witness[0]...))
		if !bytes.Equal(coinbase.TxOut[at].PkScript[len(consensus.WitnessMagic):][:chainhash.HashSize], want) {
			return reject("bad-witness-merkle-match", "ContextualCheckBlock : witness merkle commitment mismatch")
		}
		return nil
	}
	for _, tx := range b.txs {
		if tx.MsgTx().HasWitness() {
			return reject("unexpected-witness", "ContextualCheckBlock : unexpected witness data found")
		}
	}
	return nil
}

func witnessRoot(txs []*btcutil.Tx) chainhash.Hash { return blockchain.CalcMerkleRoot(txs, true) }
