package bitcoin

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine/signet"
	"github.com/seed61375155/trawl/internal/versionbits"
	"github.com/seed61375155/trawl/messages"
)

// Mine finds a block on the active chain that pays the subsidy and the given fees
// to script and holds the given transactions after its coinbase. Every hash computed is taken off
// tries. It returns nil when they are used up, or ctx has ended. The block has
// not been accepted yet. A [*messages.RejectError] says that a block of these
// transactions would break a rule.
func (e *Engine) Mine(ctx context.Context, script []byte, txs [][]byte, fees btcutil.Amount, tries *uint64) ([]byte, error) {
	block, err := e.template(script, txs, fees) //nolint:contextcheck // a block is checked to its end
	if err != nil {
		return nil, err
	}
	if !solve(ctx, &block.Header, tries) {
		return nil, nil
	}
	return serialize(block)
}

// Template returns the block that [Engine.Mine] would solve.
func (e *Engine) Template(script []byte, txs [][]byte, fees btcutil.Amount) ([]byte, error) {
	block, err := e.template(script, txs, fees)
	if err != nil {
		return nil, err
	}
	return serialize(block)
}

// template builds a valid block but for its proof of work.
func (e *Engine) template(script []byte, rawTxs [][]byte, fees btcutil.Amount) (*wire.MsgBlock, error) {
	tip := e.tip
	made := max(e.net.MinTime(tip), e.clock.Now().Unix())
	block := &wire.MsgBlock{Header: wire.BlockHeader{
		Version:   versionbits.NextVersion(e.net, tip),
		PrevBlock: tip.Hash,
		Timestamp: time.Unix(made, 0),
		Bits:      e.net.NextBits(tip, made),
	}}
	txs, err := parseTxs(rawTxs)
	if err != nil {
		return nil, err
	}
	block.Transactions = slices.Insert(txs, 0, e.coinbase(tip.Height+1, script, fees))
	commitWitnesses(block, e.net.Active("segwit", tip.Height+1))
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	block.Header.MerkleRoot, _ = consensus.MerkleRoot(ids)
	raw, err := serialize(block)
	if err != nil {
		return nil, err
	}
	return block, e.Propose(raw)
}

func serialize(block *wire.MsgBlock) ([]byte, error) {
	var raw bytes.Buffer
	if err := block.Serialize(&raw); err != nil {
		return nil, fmt.Errorf("serialize mined block: %w", err)
	}
	return raw.Bytes(), nil
}

// Propose checks a serialized block on the tip but for its proof of work, and
// changes nothing. The error is a [*messages.RejectError] for a block that breaks a
// rule or is not on the tip.
func (e *Engine) Propose(raw []byte) error {
	if e.broken != nil {
		return e.broken
	}
	b, err := readBlock(raw)
	if err != nil {
		return badBlock(err)
	}
	if b.header.PrevBlock != e.tip.Hash {
		return reject("inconclusive-not-best-prevblk", "")
	}
	if err := e.check(b); err != nil {
		return err
	}
	if err := e.checkHeader(&b.header, e.tip); err != nil {
		return err
	}
	if err := e.checkPlace(b, e.tip); err != nil {
		return err
	}
	before := e.coins.Mark()
	_, err = e.connect(chainview.NewChild(e.tip, &b.header), b)
	e.coins.Rollback(before)
	e.odd.fresh = nil
	return err
}

func parseTxs(raw [][]byte) ([]*wire.MsgTx, error) {
	txs := make([]*wire.MsgTx, len(raw))
	for i, b := range raw {
		txs[i] = new(wire.MsgTx)
		if err := txs[i].Deserialize(bytes.NewReader(b)); err != nil {
			return nil, &messages.RejectError{Reason: "bad-tx", Debug: err.Error()}
		}
	}
	return txs, nil
}

// coinbase pays the subsidy and fees. Transactions given by hand leave theirs
// unclaimed, as with Core.
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
// witnesses, with a nonce of zeros, which is in the block where the rules are
// active.
func commitWitnesses(block *wire.MsgBlock, active bool) {
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.WitnessHash()
	}
	var nonce [chainhash.HashSize]byte
	root := commitment(ids, nonce[:])
	coinbase := block.Transactions[0]
	if active {
		coinbase.TxIn[0].Witness = wire.TxWitness{nonce[:]}
	}
	coinbase.AddTxOut(wire.NewTxOut(0, append(slices.Clone(signet.WitnessMagic), root[:]...)))
}

// solve looks for a nonce from 0 on. As with Core, the last of the tries does
// not count even where it succeeds.
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
