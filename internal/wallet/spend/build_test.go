package spend

import (
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// The number of 253 inputs and more takes three bytes: a choice of so many that comes to the
// payment to the satoshi is made again, so that the fee suffices.
func TestManyInputsPayForTheirNumber(t *testing.T) {
	const count, each, size = 300, 1000, 68
	var coins []Coin
	for i := range count + 20 {
		c := coinOf(1, each)
		binary.LittleEndian.PutUint32(c.At.Hash[4:], uint32(i))
		c.Size.Stack = size*4 - 41*4 - 1 // nothing is rounded
		coins = append(coins, c)
	}
	payment := int64(count*(each-size) - 42)
	plan := planOf(&messages.Spend{Payments: []messages.Payment{fixed(9, payment)}}, coins...)
	plan.Change.Script = scriptOf(7)
	built, err := Build(plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(built.Tx.TxIn)) * each; built.Fee < int64((built.Weight+3)/4) || got-payment-built.Fee < 0 {
		t.Errorf("fee %d for weight %d with %d inputs", built.Fee, built.Weight, len(built.Tx.TxIn))
	}
}

// A transaction of version 3 does not spend a coin whose transaction, of version 3 too,
// has a parent or a child in the memory pool. The pool takes one child of one parent
// only.
func TestTRUCCoinsWithRelativesStay(t *testing.T) {
	id := func(n byte) chainhash.Hash { return chainhash.Hash{n} }
	unconfirmed := func(n byte) Coin {
		c := coinOf(n, 50_000)
		c.Depth, c.Version, c.Own = 0, 3, true
		return c
	}
	for _, c := range []struct {
		name   string
		pool   []messages.ClusterTx
		spends bool
	}{
		{"alone", []messages.ClusterTx{{ID: id(1)}}, true},
		{"child", []messages.ClusterTx{{ID: id(1)}, {ID: id(2), Depends: []chainhash.Hash{id(1)}}}, false},
		{"parent", []messages.ClusterTx{{ID: id(2)}, {ID: id(1), Depends: []chainhash.Hash{id(2)}}}, false},
	} {
		plan := planOf(&messages.Spend{Version: 3, Payments: []messages.Payment{fixed(9, 10_000)}}, unconfirmed(1))
		plan.Change.Script = scriptOf(7)
		plan.Pool.Txs, plan.Pool.MaxAncestors, plan.Pool.MaxDescendants = c.pool, 25, 25
		plan.Pool.MaxAncestorVSize, plan.Pool.MaxDescVSize = 101_000, 101_000
		if _, err := Build(plan); (err == nil) != c.spends {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
