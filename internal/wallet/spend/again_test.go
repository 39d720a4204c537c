package spend

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// againOf is a replacement of 110 virtual bytes that pays 330 in place of 110, and of which nothing is wrong.
func againOf() *Again {
	old := replacedOf()
	tx := old.Tx.Copy()
	tx.TxOut = []*wire.TxOut{wire.NewTxOut(9670, scriptOf(9))}
	return &Again{
		Old: old, Tx: tx, Scale: 4, Final: true, Options: DefaultOptions(),
		Coins:  map[wire.OutPoint]*wire.TxOut{tx.TxIn[0].PreviousOutPoint: wire.NewTxOut(10_000, scriptOf(1))},
		Rivals: make(map[wire.OutPoint]chainhash.Hash),
		Pool: messages.PoolClusters{
			MinRelayFee: 1000, IncrementalFee: 1000, MaxAncestors: 25, MaxDescendants: 25,
			MaxAncestorVSize: 101_000, MaxDescVSize: 101_000,
		},
	}
}

// Faults of a signed replacement are reported in the order of the table: each
// case also has the faults of all later cases.
func TestAgain(t *testing.T) {
	if err := againOf().Check(); err != nil {
		t.Fatal(err)
	}
	at := wire.OutPoint{Hash: chainhash.Hash{1}}
	more := wire.OutPoint{Hash: chainhash.Hash{2}, Index: 3}
	set := func(value int64) func(*Again) { return func(a *Again) { a.Tx.TxOut[0].Value = value } }
	cases := []struct {
		name   string
		change func(*Again)
		text   string
	}{
		{"not final", func(a *Again) { a.Final = false }, "Replacement transaction is not final"},
		{
			"ancestors", func(a *Again) {
				a.Pool.MaxAncestors, a.Pool.Txs = 1, []messages.ClusterTx{{ID: at.Hash, VSize: 100}}
			},
			"Replacement transaction no longer satisfies mempool chain limits: too many unconfirmed ancestors [limit: 1]",
		},
		{
			"the wallet's rate", func(a *Again) { a.Options.Min = 3001 },
			"Replacement transaction fee no longer satisfies wallet fee policy",
		},
		{
			"the pool is full", func(a *Again) { a.Pool.MinFee = 3001 },
			"Replacement transaction fee rate is below the current mempool minimum",
		},
		{
			"nodes ask for more", func(a *Again) { a.Pool.IncrementalFee = 2001 },
			"Replacement transaction no longer pays the current incremental relay fee",
		},
		{
			"too large", func(a *Again) { a.Tx.TxIn[0].SignatureScript = make([]byte, 100_000) },
			"Replacement transaction is too large",
		},
		{"no higher fee", set(9890), "Replacement transaction fee is no longer higher than the original fee"},
		{
			"another input in the original", func(a *Again) {
				a.Old.Tx = a.Old.Tx.Copy()
				a.Old.Tx.AddTxIn(&wire.TxIn{PreviousOutPoint: more})
			}, "Replacement transaction no longer spends every original input",
		},
		{
			"spent", func(a *Again) { a.Rivals[at] = chainhash.Hash{9} },
			"Replacement input " + at.Hash.String() + ":0 is already spent by wallet transaction " +
				chainhash.Hash{9}.String(),
		},
		{
			"gone", func(a *Again) {
				a.Tx.AddTxIn(&wire.TxIn{PreviousOutPoint: more})
				a.Rivals = nil
			}, "Replacement input " + more.Hash.String() + ":3 is no longer available",
		},
		{
			"twice", func(a *Again) { a.Tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at}) },
			"Replacement transaction contains duplicate inputs",
		},
	}
	check := func(name, text string, a *Again) {
		t.Helper()
		if e, ok := errors.AsType[*messages.WalletError](a.Check()); !ok || e.Code != -4 || e.Text != text {
			t.Errorf("%s: %v, want %q", name, e, text)
		}
	}
	all := againOf()
	for _, c := range cases {
		alone := againOf()
		c.change(alone)
		check(c.name, c.text, alone)
		c.change(all)
		check(c.name+" above all", c.text, all)
	}
	dear := againOf()
	dear.Options.MaxFee = 329
	check("more than wallets pay", "Replacement transaction fee no longer satisfies wallet fee policy", dear)
	own := againOf()
	own.Pool.MaxAncestors, own.Pool.Txs = 1, []messages.ClusterTx{{ID: own.Old.ID, VSize: 110}}
	if err := own.Check(); err != nil {
		t.Errorf("what is replaced counts: %v", err)
	}
}
