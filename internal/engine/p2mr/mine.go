package p2mr

import (
	"bytes"
	"context"
	"math"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/signet"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/internal/versionbits"
)

// Mine finds a block on the active chain that pays the subsidy and the given fees
// to script and holds the given transactions after its coinbase. Every hash computed
// is taken off
// tries. It returns nil when they are used up, or ctx has ended. The block has
// not been accepted yet. A [*messages.RejectError] says that a block of these
// transactions would break a rule.
func (e *Engine) Mine(ctx context.Context, script []byte, txs [][]byte, fees btcutil.Amount, tries *uint64) ([]byte, error) {
	b, err := e.template(script, txs, fees) //nolint:contextcheck // a block is checked to its end
	if err != nil {
		return nil, err
	}
	if !solve(ctx, &b.BlockHeader, tries) {
		return nil, nil
	}
	return b.serialize(), nil
}

// Template returns the block that [Engine.Mine] would solve.
func (e *Engine) Template(script []byte, txs [][]byte, fees btcutil.Amount) ([]byte, error) {
	b, err := e.template(script, txs, fees)
	if err != nil {
		return nil, err
	}
	return b.serialize(), nil
}

// template builds a valid block but for its proof of work.
func (e *Engine) template(script []byte, rawTxs [][]byte, fees btcutil.Amount) (*block, error) {
	tip := e.tree.Active().Tip()
	time := max(e.net.MinTime(tip), e.clock.Now().Unix())
	b := &block{Header: &pow.Header{BlockHeader: wire.BlockHeader{
		Version:   versionbits.NextVersion(e.net, tip),
		PrevBlock: tip.Hash, Timestamp: timeOf(time), Bits: e.requiredBits(tip, pow.Permissionless, time),
	}}}
	b.txs = []*btcutil.Tx{nil}
	for _, raw := range rawTxs {
		tx, err := btcutil.NewTxFromBytes(raw)
		if err != nil {
			return nil, reject("bad-tx", err.Error())
		}
		b.txs = append(b.txs, tx)
	}
	b.txs[0] = btcutil.NewTx(e.coinbase(tip.Height+1, script, fees))
	commitWitnesses(b)
	b.MerkleRoot, _ = merkleRoot(b.txs)
	return b, e.checkTemplate(b, tip)
}

// Propose checks a serialized block on the tip but for its proof of work, and
// changes nothing. The error is a [*messages.RejectError] for a block that breaks a
// rule or is not on the tip.
func (e *Engine) Propose(raw []byte) error {
	b, err := e.readBlock(raw)
	if err != nil {
		return reject("bad-block", err.Error())
	}
	tip := e.tree.Active().Tip()
	if b.PrevBlock != tip.Hash {
		return reject("inconclusive-not-best-prevblk", "")
	}
	return e.checkWhole(b, tip)
}

// checkTemplate checks all of a block that is to be solved yet.
func (e *Engine) checkTemplate(b *block, tip *chainview.Block) error {
	whole, err := e.readBlock(b.serialize())
	if err != nil {
		return reject("bad-block", err.Error())
	}
	return e.checkWhole(whole, tip)
}

// checkWhole checks a block on the tip but for its proof of work.
func (e *Engine) checkWhole(whole *block, tip *chainview.Block) error {
	if e.net.SignetChallenge == nil { // else it has to be signed yet
		if err := e.check(whole); err != nil {
			return err
		}
	}
	if err := e.checkPlace(whole.Header, tip); err != nil {
		return err
	}
	if err := e.checkAt(whole, tip.Height+1, tip.MedianTimePast()); err != nil {
		return err
	}
	at := chainview.NewChild(tip, &whole.BlockHeader)
	_, err := e.connect(newView(e.storedCoin), at, whole)
	return err
}

// coinbase pays the subsidy and fees. Transactions given by hand leave theirs
// unclaimed.
func (e *Engine) coinbase(height int32, script []byte, fees btcutil.Amount) *wire.MsgTx {
	// The height (BIP34), and a push that keeps the script above its minimum
	// length of two bytes.
	sig, err := txscript.NewScriptBuilder().AddInt64(int64(height)).AddOp(txscript.OP_0).Script()
	if err != nil {
		panic(err) // five bytes cannot be too long
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32},
		SignatureScript:  sig,
		Sequence:         wire.MaxTxInSequenceNum - 1, // so that the lock time counts
	})
	tx.AddTxOut(wire.NewTxOut(int64(e.net.Subsidy(height)+fees), script))
	tx.LockTime = uint32(height - 1)
	return tx
}

// commitWitnesses adds the output by which the coinbase commits to the
// witnesses, with a nonce of zeros.
func commitWitnesses(b *block) {
	var nonce [chainhash.HashSize]byte
	root := witnessRoot(b.txs)
	commitment := chainhash.DoubleHashB(append(root[:], nonce[:]...))
	coinbase := b.txs[0].MsgTx()
	coinbase.TxIn[0].Witness = wire.TxWitness{nonce[:]}
	coinbase.AddTxOut(wire.NewTxOut(0, append(slices.Clone(signet.WitnessMagic), commitment...)))
	b.txs[0] = btcutil.NewTx(coinbase)
}

// solve looks for a nonce from 0 on. As in the reference, the last of the tries
// does not count even where it succeeds.
func solve(ctx context.Context, header *wire.BlockHeader, tries *uint64) bool {
	target := blockchain.CompactToBig(header.Bits)
	for header.Nonce = 0; *tries > 0 && header.Nonce < math.MaxUint32; header.Nonce++ {
		hash := header.BlockHash()
		if blockchain.HashToBig(&hash).Cmp(target) <= 0 {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		*tries--
	}
	return false
}

// serialize returns the block as it is stored and sent.
func (b *block) serialize() []byte {
	var out bytes.Buffer // takes everything
	out.Write(headerBytes(&b.BlockHeader))
	out.Write(b.Payload)
	_ = wire.WriteVarInt(&out, 0, uint64(len(b.txs)))
	for _, tx := range b.txs {
		_ = tx.MsgTx().Serialize(&out)
	}
	return out.Bytes()
}

func headerBytes(h *wire.BlockHeader) []byte {
	var out bytes.Buffer
	_ = h.Serialize(&out)
	return out.Bytes()
}
