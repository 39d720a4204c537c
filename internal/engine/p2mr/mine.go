package p2mr

import (
	"bytes"
	"context"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/mining"
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
	if !mining.Solve(ctx, &b.BlockHeader, tries) {
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
	txs, err := mining.ParseTxs(rawTxs)
	if err != nil {
		return nil, err
	}
	txs = slices.Insert(txs, 0, mining.Coinbase(e.net, tip.Height+1, script, fees))
	mining.CommitWitnesses(txs, true)
	for _, tx := range txs {
		b.txs = append(b.txs, btcutil.NewTx(tx))
	}
	b.MerkleRoot = mining.Root(txs)
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
