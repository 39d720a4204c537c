package chainstate

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/versionbits"
)

// Mine finds a block on the active chain that pays the subsidy and the given fees
// to script and holds the given transactions after its coinbase. Every hash computed
// is taken off tries. It returns nil when they are used up, or ctx has ended. The
// block has not been accepted yet. A [*messages.RejectError] says that a block of
// these transactions would break a rule.
func (e *Engine) Mine(
	ctx context.Context, script []byte, txs [][]byte, fees btcutil.Amount, tries *uint64,
) ([]byte, error) {
	block, err := e.template(script, txs, fees) //nolint:contextcheck // a block is checked to its end
	if err != nil {
		return nil, err
	}
	if !Solve(ctx, &block.Header, tries) {
		return nil, nil
	}
	return serialize(block), nil
}

// Template returns the block that [Engine.Mine] would solve.
func (e *Engine) Template(script []byte, txs [][]byte, fees btcutil.Amount) ([]byte, error) {
	block, err := e.template(script, txs, fees)
	if err != nil {
		return nil, err
	}
	return serialize(block), nil
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
	txs, err := ParseBlockTxs(rawTxs)
	if err != nil {
		return nil, err
	}
	block.Transactions = slices.Insert(txs, 0, NewCoinbase(e.net, tip.Height+1, script, fees))
	CommitWitnesses(block.Transactions, e.net.Active("segwit", tip.Height+1))
	block.Header.MerkleRoot = MerkleRoot(block.Transactions)
	return block, e.Propose(serialize(block))
}

func serialize(block *wire.MsgBlock) []byte {
	var raw bytes.Buffer // takes everything
	_ = block.Serialize(&raw)
	return raw.Bytes()
}

// Propose checks a serialized block on the tip but for its proof of work, and
// changes nothing. The error is a [*messages.RejectError] for a block that breaks a
// rule or is not on the tip.
func (e *Engine) Propose(raw []byte) error {
	if e.broken != nil {
		return e.broken
	}
	b, err := e.readBlock(raw)
	if err != nil {
		return badBlock(err)
	}
	if b.PrevBlock != e.tip.Hash {
		return reject("inconclusive-not-best-prevblk", "")
	}
	if err := e.kind.Headers.CheckWork(b.Header, false); err != nil {
		return err
	}
	if err := e.check(b); err != nil {
		return err
	}
	if err := e.kind.Headers.Check(b.Header, e.tip); err != nil {
		return err
	}
	if err := e.checkPlace(b, e.tip); err != nil {
		return err
	}
	before := e.coins.Mark()
	err = e.whole(func() error {
		_, err := e.connect(chainview.NewChild(e.tip, &b.BlockHeader), b)
		return err
	})
	e.coins.Rollback(before)
	e.odd.fresh = nil
	return err
}
