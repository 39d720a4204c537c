package wallets_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

const (
	outOfOrderXprv = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQ" +
		"JCCRUcMRvmDUjyEmNUWwx8UbK"
	outOfOrderDesc = "wpkh(" + outOfOrderXprv + "/0/*)"
)

// importActive makes a wallet of one active descriptor, of which the first two addresses are its own.
func importActive(t *testing.T, r *rig, name, text string, last int64) *ask.Ref {
	t.Helper()
	do(t, r.ref, messages.CreateWallet{Name: name, Blank: true})
	ref := r.wallet(t, name)
	for _, result := range do(t, ref, messages.ImportDescriptors{Items: []messages.ImportItem{{
		Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, last}, Active: true, Timestamp: genesis.Unix(),
	}}}) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	return ref
}

// scriptsAt returns the scripts of a descriptor.
func scriptsAt(t *testing.T, text string, n uint32) (scripts [][]byte) {
	t.Helper()
	parsed, err := descriptor.Parse(text, descriptor.NetworkOf(&chaincfg.RegressionNetParams), descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		at, err := parsed[0].Expand(i)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, at[0])
	}
	return scripts
}

// paying returns transactions to scripts, in the given order. They spend the coinbases of the first blocks, which
// are made here.
func paying(chain *chaintest.Chain, scripts [][]byte, order ...int) (list []*wire.MsgTx) {
	chain.MineN(len(order))
	for n, i := range order {
		tx := wire.NewMsgTx(2)
		coin := wire.OutPoint{Hash: coinbaseOf(chain, chain.Active().At(int32(n+1)))}
		tx.AddTxIn(wire.NewTxIn(&coin, nil, nil))
		tx.AddTxOut(wire.NewTxOut(1_000_000, scripts[i]))
		list = append(list, tx)
	}
	return list
}

// checkPaid checks that a wallet has all payments, and gives out the address after the highest.
func checkPaid(t *testing.T, ref *ask.Ref, paid []*wire.MsgTx, kind string, next []byte, scriptAt func(string) []byte) {
	t.Helper()
	for i, tx := range paid {
		if _, err := try(t, ref, messages.GetTransaction{TxID: tx.TxHash()}); err != nil {
			t.Errorf("payment %d: %v", i, err)
		}
	}
	if got := scriptAt(do(t, ref, messages.NewAddress{Type: kind, HasType: true})); string(got) != string(next) {
		t.Error("the next address is another than the one after the highest that was paid to")
	}
}

// Payments are found whatever the order of their addresses is, and wherever the wallet sees them: each address is
// within the look-ahead of a lower one.
func TestPaidOutOfOrder(t *testing.T) {
	scripts := scriptsAt(t, outOfOrderDesc, 9)
	at := func(address string) []byte { return scriptOf(t, address) }
	oneBlock, manyBlocks := []int{5}, []int{2, 1, 0, 1, 1} // numbers of payments
	for name, test := range map[string]struct {
		noFilters bool
		before    bool // the wallet is there before the blocks
		blocks    []int
		window    int32
		then      func(t *testing.T, r *rig, ref *ask.Ref)
	}{
		"live":                            {true, true, oneBlock, 0, nil},
		"import by filters":               {false, false, oneBlock, 0, nil},
		"import without filters":          {true, false, oneBlock, 0, nil},
		"import, many blocks":             {false, false, manyBlocks, 0, nil},
		"import, many small windows":      {false, false, manyBlocks, 2, nil},
		"import, many blocks, no filters": {true, false, manyBlocks, 3, nil},
		"rescan": {false, true, manyBlocks, 2, func(t *testing.T, r *rig, ref *ask.Ref) {
			t.Helper()
			if got := do(t, ref, messages.Rescan{}); got.Start != 0 || got.Stop == nil || *got.Stop != 10 {
				t.Errorf("rescanned %+v", got)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			chain := newChain()
			all := paying(chain, scripts, 7, 5, 4, 2, 1)
			mine := func() {
				left := all
				for _, n := range test.blocks {
					chain.Mine(chaintest.Template{Txs: left[:n]})
					left = left[n:]
				}
				for chain.Active().Height() < 10 {
					chain.MineN(1)
				}
			}
			if !test.before {
				mine()
			}
			r := newRig(t, chain, setup{noFilters: test.noFilters, keyPool: 3, window: test.window, now: genesis})
			ref := importActive(t, r, "w", outOfOrderDesc, 1)
			if test.before {
				mine()
				r.announce()
			}
			if test.then != nil {
				test.then(t, r, ref)
			}
			checkPaid(t, ref, all, "bech32", scripts[8], at)
		})
	}
}

// The same with an old backup that is restored, and with a wallet that is loaded after the payments.
func TestPaidOutOfOrderWhileNotLoaded(t *testing.T) {
	scripts := scriptsAt(t, outOfOrderDesc, 9)
	at := func(address string) []byte { return scriptOf(t, address) }
	for _, noFilters := range []bool{false, true} {
		t.Run(fmt.Sprintf("no filters %v", noFilters), func(t *testing.T) {
			chain := newChain()
			paid := paying(chain, scripts, 7, 5, 4, 2, 1)
			r := newRig(t, chain, setup{noFilters: noFilters, keyPool: 3, now: genesis})
			ref := importActive(t, r, "w", outOfOrderDesc, 1)
			path := t.TempDir() + "/backup.dat"
			do(t, ref, messages.BackupWallet{Path: path})
			do(t, r.ref, messages.UnloadWallet{Name: "w"})
			chain.Mine(chaintest.Template{Txs: paid[:2]})
			chain.Mine(chaintest.Template{Txs: paid[2:]})
			r.announce()
			do(t, r.ref, messages.LoadWallet{Name: "w"})
			do(t, r.ref, messages.RestoreWallet{Name: "restored", Backup: path})
			for _, name := range []string{"w", "restored"} {
				checkPaid(t, r.wallet(t, name), paid, "bech32", scripts[8], at)
			}
		})
	}
}

// A payment in the memory pool may make further scripts the wallet's. The wallet then finds earlier payments
// to these scripts, and the transactions that spend these payments.
func TestPaidOutOfOrderInThePool(t *testing.T) {
	scripts := scriptsAt(t, outOfOrderDesc, 9)
	chain := newChain()
	paid := paying(chain, scripts, 7, 5, 4, 2, 1)
	spend := wire.NewMsgTx(2)
	spend.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: paid[0].TxHash()}, nil, nil))
	spend.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	all := append(slices.Clone(paid[:4]), spend, paid[4])
	at := func(a string) []byte { return scriptOf(t, a) }
	for name, batches := range map[string][][]*wire.MsgTx{
		"there before the wallet": nil,
		"one after the other":     {all[:1], all[1:2], all[2:3], all[3:4], all[4:5], all[5:]},
		"a package":               {all},
		"a child first":           {{spend}, all[:4], all[5:]},
	} {
		t.Run(name, func(t *testing.T) {
			var pool atomic.Pointer[[]messages.PoolTx]
			pool.Store(new([]messages.PoolTx))
			r := newRig(t, chain, setup{
				noFilters: true, now: genesis, keyPool: 3, pool: func() []messages.PoolTx { return *pool.Load() },
			})
			add := func(txs []*wire.MsgTx) {
				news, there := messages.PoolChanged{}, slices.Clone(*pool.Load())
				for _, tx := range txs {
					there = append(there, messages.PoolTx{Tx: tx, ID: tx.TxHash()})
					news.Changes = append(news.Changes, messages.PoolChange{Tx: tx, ID: tx.TxHash(), Added: true})
				}
				pool.Store(&there)
				r.changes.Publish(news)
			}
			if batches == nil {
				add(all)
			}
			ref := importActive(t, r, "w", outOfOrderDesc, 1)
			for _, txs := range batches {
				add(txs)
			}
			do(t, r.ref, messages.SyncWallets{})
			checkPaid(t, ref, all, "bech32", scripts[8], at)
		})
	}
	t.Run("a block makes them the wallet's", func(t *testing.T) {
		there := []messages.PoolTx{{Tx: paid[0], ID: paid[0].TxHash()}, {Tx: spend, ID: spend.TxHash()}}
		r := newRig(t, chain, setup{
			noFilters: true, now: genesis, keyPool: 3, pool: func() []messages.PoolTx { return there },
		})
		ref := importActive(t, r, "w", outOfOrderDesc, 1)
		chain.Mine(chaintest.Template{Txs: paid[1:]})
		r.announce()
		do(t, ref, messages.GetBalances{})
		do(t, r.ref, messages.SyncWallets{})
		checkPaid(t, ref, all, "bech32", scripts[8], at)
	})
}

// Keys of P2MR come after the payment that has the wallet want them: what stands before it in its block, or in the
// pool, is found then.
func TestPaidOutOfOrderP2MR(t *testing.T) {
	const text = "mr(pk(pqc(" + outOfOrderXprv + "/0/*)))"
	at := func(address string) []byte { return scriptAt(t, address) }
	network := p2mrNetwork(t)
	var scripts [][]byte
	t.Run("addresses", func(t *testing.T) {
		r := p2mrRig(t, setup{keyPool: 9})
		ref := importActive(t, r, "all", text, 8)
		for range 9 {
			scripts = append(scripts, at(do(t, ref, messages.NewAddress{Type: "p2mr", HasType: true})))
		}
	})
	for _, test := range []string{"live", "import", "import without filters", "pool"} {
		t.Run(test, func(t *testing.T) {
			chain := chaintest.New(network.Params)
			paid := paying(chain, scripts, 7, 5, 4, 2, 1)
			s := setup{network: network, keyPool: 3, now: genesis, noFilters: test != "import"}
			if test == "pool" {
				s.pool = func() (list []messages.PoolTx) {
					for _, tx := range paid {
						list = append(list, messages.PoolTx{Tx: tx, ID: tx.TxHash()})
					}
					return list
				}
			}
			before := test == "live" || test == "pool"
			if !before {
				chain.Mine(chaintest.Template{Txs: paid[:3]})
				chain.Mine(chaintest.Template{Txs: paid[3:]})
			}
			r := newRig(t, chain, s)
			ref := importActive(t, r, "w", text, 1)
			if test == "live" {
				chain.Mine(chaintest.Template{Txs: paid})
				r.announce()
			}
			do(t, r.ref, messages.SyncWallets{})
			if test == "pool" {
				for do(t, ref, messages.GetWalletInfo{}).TxCount < len(paid) {
					do(t, r.ref, messages.SyncWallets{})
				}
			}
			checkPaid(t, ref, paid, "p2mr", scripts[8], at)
		})
	}
}
