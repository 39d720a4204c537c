package e2e_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
)

// anyone is a script that anybody can spend from: the hash of OP_TRUE. It is none
// with a witness, because segwit is not active on btcd's regtest.
const anyone = "a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87"

// spendAnyone pays what an output is worth, less a fee, to anyone.
func spendAnyone(t *testing.T, txid string, value, fee int64) (raw, id string) {
	t.Helper()
	hash, err := chainhash.NewHashFromStr(txid)
	if err != nil {
		t.Fatal(err)
	}
	script, err := hex.DecodeString(anyone)
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Hash: *hash}, SignatureScript: []byte{1, 0x51},
		Sequence: wire.MaxTxInSequenceNum - 2,
	})
	tx.AddTxOut(wire.NewTxOut(value-fee, script))
	var buf bytes.Buffer
	if err := tx.Serialize(&buf); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(buf.Bytes()), tx.TxHash().String()
}

// wantTxs waits until the peers of nodes want transactions. In its initial download a node tells peers that it wants
// none, and says otherwise a moment after the last block.
func wantTxs(t *testing.T, nodes ...*trawlNode) {
	t.Helper()
	const none = 0.01 // BTC for 1000 virtual bytes, and more
	e2e.Eventually(t, syncLimit, "peers that want transactions", func() bool {
		for _, n := range nodes {
			var peers []struct{ MinFeeFilter float64 }
			n.Get(&peers, "getpeerinfo")
			for _, p := range peers {
				if p.MinFeeFilter >= none {
					return false
				}
			}
		}
		return true
	})
}

// Transactions pass from node to node and to btcd and back; blocks take them up
// everywhere, and a replacement drives out what it replaces.
func TestRelay(t *testing.T) {
	t.Parallel()
	first, second := startPeer(t, "-whitelist=noban@127.0.0.1"), startPeer(t, "-whitelist=noban@127.0.0.1")
	last := btcdNode{e2e.StartBtcd(t)}
	first.Get(nil, "generatetodescriptor", 102, "raw("+anyone+")")
	second.connect(t, first.peer)
	second.connect(t, last.Peer)
	agree(t, "before", first, second, last)
	wantTxs(t, first, second)

	pools := []func() []string{
		func() (ids []string) { first.Get(&ids, "getrawmempool"); return ids },
		func() (ids []string) { second.Get(&ids, "getrawmempool"); return ids },
		func() (ids []string) { last.Get(t, &ids, "getrawmempool"); return ids },
	}
	hold := func(what string, pools []func() []string, txids ...string) {
		t.Helper()
		slices.Sort(txids)
		e2e.Eventually(t, syncLimit, what, func() bool {
			return !slices.ContainsFunc(pools, func(pool func() []string) bool {
				got := pool()
				slices.Sort(got)
				return !slices.Equal(got, txids)
			})
		})
	}
	coinbase := func(height int) string {
		var hash string
		first.Get(&hash, "getblockhash", height)
		var block struct{ Tx []string }
		first.Get(&block, "getblock", hash)
		return block.Tx[0]
	}

	const coin = 50_00000000
	raw, parent := spendAnyone(t, coinbase(1), coin, 10_000)
	first.Get(nil, "sendrawtransaction", raw)
	hold("a transaction of the first node", pools, parent)
	raw, child := spendAnyone(t, parent, coin-10_000, 10_000)
	last.Get(t, nil, "sendrawtransaction", raw)
	hold("a transaction of btcd", pools, parent, child)

	raw, other := spendAnyone(t, parent, coin-10_000, 30_000)
	second.Get(nil, "sendrawtransaction", raw)
	hold("a replacement", pools[:2], parent, other)
	first.mine(t, 1)
	agree(t, "mined", first, second, last)
	hold("after the block", pools)
}
