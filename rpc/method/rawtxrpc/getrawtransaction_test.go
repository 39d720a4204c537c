package rawtxrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

// TestGetRawTransactionBlocks asks for transactions of blocks that are stale, or
// that cannot be read.
func TestGetRawTransactionBlocks(t *testing.T) {
	var chain *chaintest.Chain
	table := rig(t, "regtest", false, func(d *rawtxrpc.Deps) {
		chain = chaintest.New(d.Network.Params)
		d.Chain.Set(chain)
	})
	root := chain.MineN(2)
	coinbase := coinbaseOf(t, chain, root)
	tx := wire.NewMsgTx(2)
	at := wire.OutPoint{Hash: coinbase.TxHash()}
	tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
	tx.AddTxOut(wire.NewTxOut(coinbase.TxOut[0].Value-10, []byte{0x51}))
	stale := chain.MineOn(root, chaintest.Template{Txs: []*wire.MsgTx{tx}})
	active := chain.MineOn(root, chaintest.Template{Txs: []*wire.MsgTx{tx}, Script: []byte{0x52}})
	chain.MineOn(active, chaintest.Template{})
	header := chain.AddHeader(root)

	ask := func(block *chainview.Block, verbosity int) (string, string) {
		return call(
			t, table, "getrawtransaction", parse(t, fmt.Sprintf(`[%q,%d,%q]`, tx.TxHash(), verbosity, block.Hash)),
		)
	}
	tests := []struct {
		name      string
		block     *chainview.Block
		verbosity int
		err       error // of reading the block
		undoErr   error
		want      string // in the result or the error
	}{
		{"active", active, 1, nil, nil, `"confirmations":2,"time":`},
		{"active, in full", active, 2, nil, nil, `"fee":0.00000010`},
		{"stale", stale, 1, nil, nil, `"confirmations":0}`},
		{"stale, not active", stale, 2, nil, nil, `{"in_active_chain":false,`},
		{"only a header", header, 0, nil, nil, `{"code":-1,"message":"Block not available"}`},
		{"pruned", active, 0, chainview.ErrPruned, nil, `{"code":-1,"message":"Block not available"}`},
		{"still to come", active, 0, chainview.ErrNotYet, nil, `{"code":-1,"message":"Block not available"}`},
		{"damaged", active, 0, chainview.ErrUnreadable, nil, `"No such transaction found in the provided block.`},
		{"away", active, 0, chainview.ErrClosed, nil, `"Internal error"`}, // the node has words for it
		{"undo away", active, 2, nil, chainview.ErrClosed, `"Internal error"`},
		{"undo damaged, not asked for", active, 1, nil, chainview.ErrUnreadable, `"confirmations":2`},
		{"undo damaged", active, 2, nil, chainview.ErrUnreadable, `{"code":-32603,"message":"Undo data expected but can't be read.`},
		{"never connected", active, 2, nil, chainview.ErrNotFound, `{"code":-32603,"message":"Undo data expected but can't be read.`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.block != header {
				chain.Fail(test.block, test.err)
				chain.FailUndo(test.block, test.undoErr)
			}
			result, fault := ask(test.block, test.verbosity)
			if text := result + fault; !strings.Contains(text, test.want) {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
	chain.SetStatus(stale, stale.Status()|chainview.Stripped)
	for verbosity := range 3 {
		const want = `null{"code":-1,"message":"Raw transaction unavailable: witness data for this historical block was ` +
			`pruned; use an archive node with full witness history."}`
		if result, fault := ask(stale, verbosity); result+fault != want {
			t.Errorf("without witnesses, verbosity %d: %s%s", verbosity, result, fault)
		}
	}
}

func coinbaseOf(t *testing.T, chain *chaintest.Chain, block *chainview.Block) *wire.MsgTx {
	t.Helper()
	raw, err := chain.Raw(&block.Hash)
	if err != nil {
		t.Fatal(err)
	}
	var parsed wire.MsgBlock
	if err := parsed.Deserialize(strings.NewReader(string(raw))); err != nil {
		t.Fatal(err)
	}
	return parsed.Transactions[0]
}

// Before the chain is open nothing can be read.
func TestChainNotOpen(t *testing.T) {
	hash := strings.Repeat("11", 32)
	_, fault := call(t, rig(t, "main", false), "getrawtransaction", parse(t, fmt.Sprintf(`[%q,0,%q]`, hash, hash)))
	if want := `{"code":-32603,"message":"Internal error"}`; fault != want { // the node knows words for it
		t.Errorf("got %s", fault)
	}
}
