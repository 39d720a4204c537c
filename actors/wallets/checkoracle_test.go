package wallets_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// farWalk makes a wallet, and returns a backup of it with what pays to its addresses up to an index.
func farWalk(tb testing.TB, seed uint64, limit int) (path string, descs []string, w *walk) {
	tb.Helper()
	r := newRig(tb, newChain(), setup{noFilters: true, keyPool: 4, now: genesis})
	do(tb, r.ref, messages.CreateWallet{Name: "made"})
	ref := r.wallet(tb, "made")
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	var scripts [][][]byte
	for _, d := range do(tb, ref, messages.ListDescriptors{}) {
		parsed, err := descriptor.Parse(string(d.Desc), net, descriptor.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		var list [][]byte
		err = parsed[0].ExpandRange(tb.Context(), 0, uint32(limit-1), 1, func(_ uint32, at [][]byte) error {
			list = append(list, slices.Clone(at[0]))
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
		scripts, descs = append(scripts, list), append(descs, string(d.Desc))
	}
	path = filepath.Join(tb.TempDir(), "backup.dat")
	do(tb, ref, messages.BackupWallet{Path: path})
	return path, descs, newWalk(seed, scripts)
}

// jump mines blocks that pay to indices in any order, with gaps up to a number.
func jump(w *walk, chain *chaintest.Chain, blocks, gap int) {
	var order [][]byte
	for _, list := range w.scripts[:1+w.IntN(len(w.scripts))] {
		for index := w.IntN(gap); index < len(list) && w.IntN(12) > 0; index += 1 + w.IntN(gap) {
			order = append(order, list[index])
		}
	}
	w.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	next := func() []byte {
		if len(order) == 0 {
			return []byte{0x00, 0x14, 19: byte(w.IntN(256)), 21: 1}
		}
		script := order[0]
		order = order[1:]
		return script
	}
	for range blocks {
		tip := chain.Active().Tip()
		template := chaintest.Template{Script: next()}
		if tip.Height > 0 && w.IntN(2) == 0 {
			w.n++
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coinbaseOf(chain, tip)}, Sequence: w.n})
			for range 1 + w.IntN(3) {
				tx.AddTxOut(wire.NewTxOut(int64(1000+w.IntN(5000)), next()))
			}
			template.Txs = append(template.Txs, tx)
		}
		chain.MineOn(tip, template)
	}
}

// sought is what the slow oracle says of a wallet.
type sought struct {
	balance  btcutil.Amount
	last     []int32 // of the ranges, by descriptor
	highest  []int32
	payments []int
	blocks   []chainhash.Hash
}

// lookAtAll is the oracle: it knows all payments to all indices, and widens each range from index to index.
func lookAtAll(w *walk, chain *chaintest.Chain, first, gap int32) (s sought) {
	place := map[string][2]int{}
	for d, list := range w.scripts {
		for index, script := range list {
			place[string(script)] = [2]int{d, index}
		}
	}
	used := make([]map[int]bool, len(w.scripts))
	for d := range used {
		used[d] = map[int]bool{}
	}
	each(chain, func(_ *chainview.Block, tx *wire.MsgTx) {
		for _, out := range tx.TxOut {
			if at, is := place[string(out.PkScript)]; is {
				used[at[0]][at[1]] = true
			}
		}
	})
	for d := range w.scripts {
		last, highest := first, int32(-1)
		for index := int32(0); index <= last; index++ {
			if used[d][int(index)] {
				highest, last = index, max(last, index+gap)
			}
		}
		s.last, s.highest = append(s.last, last), append(s.highest, highest)
	}
	s.payments = make([]int, len(w.scripts))
	coins := map[wire.OutPoint]int64{}
	each(chain, func(b *chainview.Block, tx *wire.MsgTx) {
		own := false
		for _, in := range tx.TxIn {
			_, spends := coins[in.PreviousOutPoint]
			own = own || spends
			delete(coins, in.PreviousOutPoint)
		}
		for i, out := range tx.TxOut {
			if at, is := place[string(out.PkScript)]; is && int32(at[1]) <= s.last[at[0]] {
				coins[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = out.Value
				s.payments[at[0]]++
				own = true
			}
		}
		if own && (len(s.blocks) == 0 || s.blocks[len(s.blocks)-1] != b.Hash) {
			s.blocks = append(s.blocks, b.Hash)
		}
	})
	for _, amount := range coins {
		s.balance += btcutil.Amount(amount)
	}
	return s
}

// each visits the transactions of a chain in their order.
func each(chain *chaintest.Chain, visit func(*chainview.Block, *wire.MsgTx)) {
	for height := range chain.Active().Height() + 1 {
		b := chain.Active().At(height)
		for _, tx := range blockOf(chain, b).Transactions {
			visit(b, tx)
		}
	}
}

// all is the sum of the coins of a wallet.
func all(tb testing.TB, ref *ask.Ref) btcutil.Amount {
	tb.Helper()
	b := do(tb, ref, messages.GetBalances{})
	return b.Trusted + b.Pending + b.Immature
}
