package chaintest_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
)

// A transaction in two branches spends the coin of its own one.
func TestSpentByBranch(t *testing.T) {
	c := chaintest.New(&chaincfg.RegressionNetParams)
	fork := c.MineN(1)
	if _, err := c.Add([]byte("no block")); err == nil {
		t.Error("took what is no block")
	}
	raw, err := c.Raw(&fork.Hash)
	if err != nil {
		t.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	made := spend(block.Transactions[0], 7)
	spent := spend(made, 6)

	early := c.MineOn(fork, chaintest.Template{Txs: []*wire.MsgTx{made}})
	early = c.MineOn(early, chaintest.Template{Txs: []*wire.MsgTx{spent}})
	late := c.MineOn(fork, chaintest.Template{})
	late = c.MineOn(late, chaintest.Template{Txs: []*wire.MsgTx{made, spent}})
	for _, test := range []struct {
		block  *chainview.Block
		tx     int
		height int32
	}{{early, 0, 2}, {late, 1, 3}} {
		coins, err := c.Spent(&test.block.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if got := coins[test.tx][0]; got.Height != test.height || got.Value != 7 || got.Coinbase {
			t.Errorf("got %+v, want height %d", got, test.height)
		}
	}
}

// spend returns a transaction that moves the first output of another.
func spend(from *wire.MsgTx, value int64) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(new(from.TxHash()), 0), nil, nil))
	tx.AddTxOut(wire.NewTxOut(value, []byte{0x51}))
	return tx
}

func TestMostWorkIsActive(t *testing.T) {
	c := chaintest.New(&chaincfg.RegressionNetParams)
	fork := c.MineN(3)
	first := c.MineN(1)
	second := c.MineOn(fork, chaintest.Template{})
	if c.Active().Tip() != first {
		t.Error("a block of equal work became active")
	}
	if second.Status() != chainview.HasData {
		t.Errorf("status of a stale block: %b", second.Status())
	}
	third := c.MineOn(second, chaintest.Template{})
	if c.Active().Tip() != third || second.Status() != chainview.HasData|chainview.Valid {
		t.Error("the longer branch is not active")
	}
}

func TestFailures(t *testing.T) {
	c := chaintest.New(&chaincfg.RegressionNetParams)
	block, undo, header := c.MineN(1), c.MineN(1), c.AddHeader(c.Active().Tip())
	c.Fail(block, chainview.ErrPruned)
	c.FailUndo(undo, chainview.ErrUnreadable)
	for _, test := range []struct {
		block             *chainview.Block
		wantRaw, wantUndo error
	}{
		{c.Active().At(0), nil, nil},
		{block, chainview.ErrPruned, chainview.ErrPruned},
		{undo, nil, chainview.ErrUnreadable},
		{header, chainview.ErrNotFound, chainview.ErrNotFound},
	} {
		_, rawErr := c.Raw(&test.block.Hash)
		_, _, sizeErr := c.Size(&test.block.Hash)
		_, undoErr := c.SpentScripts(&test.block.Hash)
		if !errors.Is(rawErr, test.wantRaw) || !errors.Is(sizeErr, test.wantRaw) || !errors.Is(undoErr, test.wantUndo) {
			t.Errorf("height %d: got %v, %v, %v", test.block.Height, rawErr, sizeErr, undoErr)
		}
	}
}
