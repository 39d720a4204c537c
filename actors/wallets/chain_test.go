package wallets_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

func newChain() *chaintest.Chain { return chaintest.New(&chaincfg.RegressionNetParams) }

// genesis is the time of the first block, when the wallets of these tests are
// made.
var genesis = chaincfg.RegressionNetParams.GenesisBlock.Header.Timestamp

// maker makes a wallet while the chain has no blocks, and returns a backup of it
// with the scripts that it may pay to: by descriptor, beyond its range too.
func maker(tb testing.TB, keyPool int32) (path string, scripts [][][]byte) {
	tb.Helper()
	r := newRig(tb, newChain(), setup{noFilters: true, keyPool: keyPool, now: genesis})
	do(tb, r.ref, messages.CreateWallet{Name: "made"})
	ref := r.wallet(tb, "made")
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	for _, d := range do(tb, ref, messages.ListDescriptors{}) {
		parsed, err := descriptor.Parse(string(d.Desc), net, descriptor.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		var list [][]byte
		for index := range uint32(60) {
			at, err := parsed[0].Expand(index)
			if err != nil {
				tb.Fatal(err)
			}
			list = append(list, at[0])
		}
		scripts = append(scripts, list)
	}
	path = filepath.Join(tb.TempDir(), "backup.dat")
	do(tb, ref, messages.BackupWallet{Path: path})
	return path, scripts
}

// walk is a random chain that uses a wallet's addresses more or less in order,
// with gaps.
type walk struct {
	*rand.Rand
	scripts [][][]byte
	used    []int // by descriptor
	limit   int   // of indexes
	n       uint32
}

func newWalk(seed uint64, scripts [][][]byte) *walk {
	return &walk{Rand: rand.New(rand.NewPCG(seed, 7)), scripts: scripts, used: make(
		[]int, len(scripts),
	), limit: len(scripts[0]), n: uint32(seed) << 16}
}

// mine puts blocks on any block and returns the last.
func (w *walk) mine(chain *chaintest.Chain, on *chainview.Block, blocks int) *chainview.Block {
	for range blocks {
		w.n++
		foreign := make([]byte, 22) // a hash that nobody has a key for
		foreign[1] = 20
		binary.LittleEndian.PutUint32(foreign[2:], w.n)
		template := chaintest.Template{Script: foreign}
		if w.IntN(3) == 0 {
			template.Script = w.next()
		}
		if on.Height%2 == 1 && w.IntN(3) > 0 {
			tx := wire.NewMsgTx(2) // spends the coinbase of the block before
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coinbaseOf(chain, on)}, Sequence: w.n})
			for range 1 + w.IntN(3) {
				tx.AddTxOut(wire.NewTxOut(int64(1000+w.n%5000), w.next()))
			}
			template.Txs = append(template.Txs, tx)
		}
		on = chain.MineOn(on, template)
	}
	return on
}

// next returns one of the scripts that the wallet uses next, or a little later.
func (w *walk) next() []byte {
	d := w.IntN(len(w.scripts))
	index := min(max(w.used[d]+w.IntN(7)-2, 0), w.limit-1)
	w.used[d] = max(w.used[d], index)
	return w.scripts[d][index]
}

func blockOf(chain chainview.Reader, b *chainview.Block) *wire.MsgBlock {
	raw, err := chain.Raw(&b.Hash)
	if err != nil {
		panic(err)
	}
	return parseBlock(raw)
}

func coinbaseOf(chain chainview.Reader, b *chainview.Block) chainhash.Hash {
	return blockOf(chain, b).Transactions[0].TxHash()
}

// state is the part of a wallet that does not depend on how the wallet came
// about.
type state struct {
	Info        messages.WalletInfo
	Received    []messages.Received
	Balances    messages.Balances
	Descriptors []messages.WalletDescriptor
	Txs         []messages.TxEntry
}

// text is the state without clock times, for comparison.
func (s *state) text(tb testing.TB) string {
	tb.Helper()
	s.Info.Name = ""
	for i := range s.Txs {
		s.Txs[i].Tx.TimeReceived, s.Txs[i].Tx.Time = 0, 0
		delete(s.Txs[i].Tx.Values, "timesmart")
	}
	slices.SortFunc(s.Txs, func(a, b messages.TxEntry) int {
		return cmp.Or(slices.Compare(
			a.Tx.TxID[:], b.Tx.TxID[:],
		), cmp.Compare(a.Vout, b.Vout), cmp.Compare(a.Category, b.Category))
	})
	for i := range s.Received {
		slices.SortFunc(s.Received[i].TxIDs, func(a, b chainhash.Hash) int { return slices.Compare(a[:], b[:]) })
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

var everything = messages.ListTransactions{Count: 1 << 20}

// stateOf asks a wallet for its state.
func stateOf(tb testing.TB, ref *ask.Ref) string {
	tb.Helper()
	s := state{
		Info:        do(tb, ref, messages.GetWalletInfo{}),
		Received:    do(tb, ref, messages.ListReceived{IncludeEmpty: true, IncludeImmature: true}),
		Balances:    do(tb, ref, messages.GetBalances{}),
		Descriptors: do(tb, ref, messages.ListDescriptors{}),
		Txs:         do(tb, ref, everything),
	}
	return s.text(tb)
}

// confirmedOf asks a wallet for its state by the active chain.
func confirmedOf(tb testing.TB, ref *ask.Ref) string {
	tb.Helper()
	s := state{
		Received: do(tb, ref, messages.ListReceived{MinConf: 1, IncludeImmature: true}),
		Balances: do(tb, ref, messages.GetBalances{}),
	}
	for _, tx := range do(tb, ref, everything) {
		if tx.Tx.Confirmations > 0 {
			tx.Tx.Conflicts = nil // with transactions of branches that were left
			s.Txs = append(s.Txs, tx)
		}
	}
	return s.text(tb)
}

// fullScan is the oracle: a ledger that was given every block of the active
// chain, one after the other, again and again until it had all scripts before the
// first block.
func fullScan(tb testing.TB, path string, chain *chaintest.Chain, keyPool int32) string {
	tb.Helper()
	net := enginetest.Regtest(tb)
	params := wallet.ParamsOf(net, "", keyPool)
	content, severity, err := walletdb.Verify(
		context.Background(), path, walletdb.Options{Magic: net.Magic}, params.LoadOptions(), walletdb.Limits{},
	)
	if err != nil {
		tb.Fatal(err)
	}
	ledger, err := wallet.Open(content, severity == walletfile.OK, params, noBlocks{})
	if err != nil {
		tb.Fatal(err)
	}
	defer ledger.Close()
	active := chain.Active()
	ledger.Txs().SetTip(messages.Tip{Hash: active.Tip().Hash, Height: active.Height()})
	for had := -1; had < len(ledger.Keys().Scripts()); {
		had = len(ledger.Keys().Scripts())
		for h := range active.Height() + 1 {
			b := active.At(h)
			at := b.Time().Unix()
			ledger.Txs().ScanBlock(&txs.Block{
				BlockRef: txs.BlockRef{Hash: b.Hash, Height: h, Time: at, MaxTime: at},
				Txs:      blockOf(chain, b).Transactions,
			}, genesis.Unix())
		}
	}
	descriptors, err := ledger.Keys().ListDescriptors(false)
	if err != nil {
		tb.Fatal(err)
	}
	s := state{
		Info: ledger.Info(), Descriptors: descriptors, Balances: ledger.Reports().Balances(messages.GetBalances{}),
		Received: ledger.Reports().ListReceived(messages.ListReceived{IncludeEmpty: true, IncludeImmature: true}),
		Txs:      ledger.Reports().ListTransactions(everything),
	}
	return s.text(tb)
}

// noBlocks is the chain of a ledger that has seen no block.
type noBlocks struct{}

func (noBlocks) Find(*chainhash.Hash) (txs.BlockRef, bool) { return txs.BlockRef{}, false }

// fresh restores the wallet once more over a chain, without filters.
func fresh(tb testing.TB, chain *chaintest.Chain, path string, keyPool int32) *ask.Ref {
	tb.Helper()
	r := newRig(tb, chain, setup{noFilters: true, keyPool: keyPool, now: genesis})
	do(tb, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	return r.wallet(tb, "w")
}

// same compares two states.
func same(tb testing.TB, got, want string) {
	tb.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			tb.Fatalf("states differ at line %d (of %d and %d)\n got %s\nwant %s", i, len(a), len(b),
				strings.Join(a[max(i-25, 0):i+1], "\n"), b[i])
		}
	}
	if len(a) != len(b) {
		tb.Fatalf("states have %d and %d lines", len(a), len(b))
	}
}
