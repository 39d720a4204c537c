package txpool_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// anyone pays to a witness script; its content does not matter, as the rig
// executes none.
var anyone = append([]byte{0x00, 0x20}, make([]byte, 32)...)

// rig is a pool over coins that exist as long as nobody takes them away.
type rig struct {
	t     *testing.T
	rules txpool.Rules
	pool  *txpool.Pool
	coins txpool.Coins
	now   txpool.Now
	fails map[chainhash.Hash]error // of scripts
	ran   int                      // how often scripts were executed
	made  uint32
}

const (
	coinValue = 1_000_000
	startTime = 1_700_000_000
)

func newRig(t *testing.T, change ...func(*txpool.Policy)) *rig {
	t.Helper()
	policy := txpool.DefaultPolicy()
	for _, c := range change {
		c(&policy)
	}
	r := &rig{t: t, coins: make(txpool.Coins), fails: make(map[chainhash.Hash]error)}
	r.rules = txpool.Rules{
		Unit: "BTC",
		Rules: consensus.Rules{
			MaxMoney: 21e14, Maturity: 100, MaxWeight: 4e6, MaxSigOps: 80_000, WitnessScale: 4,
		},
		Forms: txpool.Forms{TRUCSize: 10_000, TRUCChildSize: 1_000},
		Verify: func(tx *wire.MsgTx, spent []*wire.TxOut, _ int32) error {
			if len(spent) != len(tx.TxIn) {
				t.Errorf("%d outputs for %d inputs", len(spent), len(tx.TxIn))
			}
			r.ran++
			return r.fails[tx.TxHash()]
		},
	}
	r.pool = txpool.New(r.rules, policy)
	header := wire.BlockHeader{Timestamp: time.Unix(startTime, 0)}
	tree := chainview.NewTree(&header, big.NewInt(1))
	tip := tree.Active().Tip()
	for range 200 {
		header = wire.BlockHeader{PrevBlock: tip.Hash, Timestamp: header.Timestamp.Add(10 * time.Minute)}
		tip, _ = tree.Add(&header, big.NewInt(1), 0)
	}
	r.now = txpool.Now{Tip: tip, Time: header.Timestamp.Unix()}
	return r
}

// coin makes a coin of the chain.
func (r *rig) coin(change ...func(*messages.Coin)) wire.OutPoint {
	r.made++
	at := wire.OutPoint{Hash: chainhash.HashH(fmt.Append(nil, r.made)), Index: r.made % 3}
	c := messages.Coin{Output: wire.NewTxOut(coinValue, anyone), Height: 50}
	for _, f := range change {
		f(&c)
	}
	r.coins[at] = c
	return at
}

// tx spends outputs and pays a fee; what is left is paid out in equal parts.
func (r *rig) tx(fee int64, parts int, from ...wire.OutPoint) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	value := -fee
	for _, at := range from {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum, Witness: wire.TxWitness{{0x51}}})
		if e := r.pool.Lookup(&at.Hash); e != nil {
			value += e.Tx.TxOut[at.Index].Value
		} else {
			value += r.coins[at].Output.Value
		}
	}
	for range parts {
		tx.AddTxOut(wire.NewTxOut(value/int64(parts), anyone))
	}
	return tx
}

func out(tx *wire.MsgTx, index uint32) wire.OutPoint {
	return wire.OutPoint{Hash: tx.TxHash(), Index: index}
}

func (r *rig) accept(tx *wire.MsgTx) *messages.TxReject {
	return r.pool.Accept(tx, r.coins, r.now, txpool.Options{}).Rejected
}

// must takes a transaction in.
func (r *rig) must(tx *wire.MsgTx) *wire.MsgTx {
	r.t.Helper()
	if reject := r.accept(tx); reject != nil {
		r.t.Fatalf("refused: %v", reject)
	}
	return tx
}

func (r *rig) holds(step string, txs ...*wire.MsgTx) {
	r.t.Helper()
	for _, tx := range txs {
		id := tx.TxHash()
		if r.pool.Lookup(&id) == nil {
			r.t.Errorf("%s: %v is not in the pool", step, id)
		}
	}
	if r.pool.Len() != len(txs) {
		r.t.Errorf("%s: %d transactions, want %d", step, r.pool.Len(), len(txs))
	}
}
