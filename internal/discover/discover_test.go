package discover_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/discover"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
)

// words are those of the first vector of BIP39, whose accounts are published with BIP84 and BIP86.
const words = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

func regtest(tb testing.TB) *dialect.Network {
	tb.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

const (
	someAccounts = 9  // numbers of accounts that are derived for tests
	someIndices  = 48 // indices
)

// A chainKey is a chain of addresses of a standard path.
type chainKey struct{ purpose, account, change int }

// forms are the standard forms, around a master key with its path.
var forms = map[int]string{44: "pkh(%s)", 49: "sh(wpkh(%s))", 84: "wpkh(%s)", 86: "tr(%s)"}

var purposes = []int{44, 49, 84, 86}

// derived has the scripts of the master key, derived index by index from the master key itself.
type derived struct {
	master  string
	account string // public key of account 0 of BIP84, with its origin
	scripts map[chainKey][][]byte
	forms   map[chainKey][][]byte // of that key in all forms: account is 0
}

var once = sync.OnceValues(func() (*derived, error) {
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		return nil, err
	}
	on := net.Descriptors()
	key, scalar, _ := descriptor.Master([]byte("a seed of sixteen or more bytes"))
	d := &derived{
		master: string(descriptor.EncodeXPrv(key, &scalar, on)), scripts: map[chainKey][][]byte{},
		forms: map[chainKey][][]byte{},
	}
	list := func(text string) (scripts [][]byte, err error) {
		branches, err := descriptor.Parse(text, on, descriptor.Options{})
		if err != nil {
			return nil, err
		}
		err = branches[0].ExpandRange(context.Background(), 0, someIndices-1, 2, func(_ uint32, of [][]byte) error {
			scripts = append(scripts, of...)
			return nil
		})
		return scripts, err
	}
	path := []uint32{84 | 1<<31, 1 | 1<<31, 1 << 31}
	child, _, _ := descriptor.DeriveXPrv(&key, &scalar, path)
	d.account = descriptor.KeyOrigin(&key, path) + descriptor.EncodeXPub(child, on)
	for _, purpose := range purposes {
		for change := range 2 {
			for account := range someAccounts {
				path := fmt.Sprintf("%s/%dh/1h/%dh/%d/*", d.master, purpose, account, change)
				text := fmt.Sprintf(forms[purpose], path)
				if d.scripts[chainKey{purpose, account, change}], err = list(text); err != nil {
					return nil, err
				}
			}
			text := fmt.Sprintf(forms[purpose], fmt.Sprintf("%s/84h/1h/0h/%d/*", d.master, change))
			if d.forms[chainKey{purpose, 0, change}], err = list(text); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
})

// A world is blocks with payments to scripts.
type world struct {
	blocks []*chainview.Block
	raw    []*wire.MsgBlock
	spent  [][][]chainview.Coin // by block and transaction, without the first
	has    []map[string]bool    // scripts that a block creates or spends
	seen   map[string]bool      // all scripts
}

func newWorld(blocks int) *world {
	w := &world{seen: map[string]bool{}}
	var parent *chainview.Block
	for n := range blocks {
		header := &wire.BlockHeader{Nonce: uint32(n)}
		if parent != nil {
			header.PrevBlock = parent.Hash
		}
		parent = chainview.NewBlock(parent, header, big.NewInt(1))
		w.blocks = append(w.blocks, parent)
		first := wire.NewMsgTx(1)
		first.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
		w.raw = append(w.raw, &wire.MsgBlock{Transactions: []*wire.MsgTx{first}})
		w.spent = append(w.spent, nil)
		w.has = append(w.has, map[string]bool{})
	}
	return w
}

// pay has a transaction of a block pay to a script, perhaps out of an output that was paid before.
func (w *world) pay(block int, script []byte, amount int64, from *wire.MsgTx) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	out := wire.OutPoint{Index: uint32(len(w.raw[block].Transactions)), Hash: chainhash.Hash{byte(block), 1}}
	coin := chainview.Coin{Value: 5, Script: []byte{0x52}}
	if from != nil {
		out = wire.OutPoint{Hash: from.TxHash()}
		coin = chainview.Coin{Value: btcutil.Amount(from.TxOut[0].Value), Script: from.TxOut[0].PkScript}
		w.has[block][string(coin.Script)] = true
	}
	tx.AddTxIn(wire.NewTxIn(&out, nil, nil))
	tx.AddTxOut(wire.NewTxOut(amount, script))
	w.raw[block].Transactions = append(w.raw[block].Transactions, tx)
	w.spent[block] = append(w.spent[block], []chainview.Coin{coin})
	w.has[block][string(script)], w.seen[string(script)] = true, true
	return tx
}

// look is a scan: it returns the blocks that have scripts of a query, with the places of these.
func (w *world) look(q *filters.Query) (blocks []chainhash.Hash, uses [][]uint32) {
	for n, b := range w.blocks {
		var places []uint32
		for script := range w.has[n] {
			if place, has := q.Place([]byte(script)); has {
				places = append(places, uint32(place))
			}
		}
		if len(places) > 0 {
			slices.Sort(places)
			blocks, uses = append(blocks, b.Hash), append(uses, places)
		}
	}
	return blocks, uses
}

// sum is the slow way to know what scripts received and spent: transaction after transaction.
func (w *world) sum(scripts [][]byte) messages.AccountSum {
	s := messages.AccountSum{FirstHeight: -1, LastHeight: -1}
	own := func(script []byte) bool {
		return slices.ContainsFunc(scripts, func(other []byte) bool { return string(other) == string(script) })
	}
	note := func(height int32) {
		if s.FirstHeight < 0 {
			s.FirstHeight = height
		}
		s.LastHeight = height
	}
	for n, raw := range w.raw {
		for i, tx := range raw.Transactions {
			if i > 0 {
				if coin := w.spent[n][i-1][0]; own(coin.Script) {
					s.Spent += coin.Value
					note(int32(n))
				}
			}
			if out := tx.TxOut[0]; own(out.PkScript) {
				s.Received += btcutil.Amount(out.Value)
				note(int32(n))
			}
		}
	}
	return s
}

// goesOn ends nothing.
func goesOn() error { return nil }

// run looks for accounts, pass after pass.
func run(t rapid.TB, s *discover.Search, w *world) {
	t.Helper()
	given := map[*discover.Chain]uint32{}
	for {
		spans, err := s.Next(goesOn)
		if err != nil {
			t.Fatal(err)
		}
		if len(spans) == 0 {
			return
		}
		for _, span := range spans {
			if span.From != given[span.Chain] || span.To < span.From {
				t.Fatalf("indices %d to %d are given behind %d", span.From, span.To, given[span.Chain])
			}
			given[span.Chain] = span.To + 1
			add := func(index uint32, scripts [][]byte) error {
				s.Add(span.Chain, index, scripts)
				return nil
			}
			if err := span.ExpandRange(context.Background(), span.From, span.To, 1, add); err != nil {
				t.Fatal(err)
			}
		}
		q := s.Query()
		blocks, uses := w.look(q)
		if err := s.Take(q, blocks, uses, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// A slow is what the slow way finds of a chain: index after index.
type slow struct {
	last, highest int
	scripts       [][]byte // of the range
}

// walk looks at index after index until a gap of unused ones has passed.
func (w *world) walk(scripts [][]byte, gap int) slow {
	s := slow{highest: -1}
	for index := 0; index <= s.highest+gap; index++ {
		s.last = index
		if w.seen[string(scripts[index])] {
			s.highest = index
		}
	}
	s.scripts = scripts[:s.last+1]
	return s
}

// want has the accounts that the slow way finds, as texts, and the scripts that it looks for.
type want struct {
	accounts []string
	scope    map[string]bool
}

func (x *want) chains(w *world, keys []chainKey, of map[chainKey][][]byte, gap int) (text string, used bool) {
	var all [][]byte
	var ranges strings.Builder
	for _, key := range keys {
		found := w.walk(of[key], gap)
		used = used || found.highest >= 0
		all = append(all, found.scripts...)
		fmt.Fprintf(&ranges, " %d-%d %+v", found.last, found.highest, w.sum(found.scripts))
		for _, script := range found.scripts {
			x.scope[string(script)] = true
		}
	}
	return fmt.Sprintf("%+v", w.sum(all)) + ranges.String(), used
}

func textOf(a *messages.Account) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d/%d %s %+v", a.Purpose, a.Number, a.Form, a.AccountSum)
	for _, c := range a.Chains {
		fmt.Fprintf(&text, " %d-%d %+v", c.LastIndex, c.HighestUsed, c.AccountSum)
	}
	return text.String()
}

// A discovery finds the same as the slow way: account after account, index after index, transaction after transaction.
func TestDiscovery(t *testing.T) {
	d, err := once()
	if err != nil {
		t.Fatal(err)
	}
	net := regtest(t)
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.IntRange(1, 5).Draw(t, "gap")
		accountGap := rapid.IntRange(1, 3).Draw(t, "account gap")
		w := newWorld(rapid.IntRange(1, 6).Draw(t, "blocks"))
		payAll := func(of map[chainKey][][]byte, key chainKey) {
			at := -1
			for range rapid.IntRange(0, 4).Draw(t, "payments") {
				if at += rapid.IntRange(1, gap+1).Draw(t, "step"); at >= someIndices-2*gap-2 {
					break
				}
				from := rapid.IntRange(0, len(w.blocks)-1).Draw(t, "block")
				tx := w.pay(from, of[key][at], int64(10+at), nil)
				if rapid.Bool().Draw(t, "spent") {
					later := rapid.IntRange(from, len(w.blocks)-1).Draw(t, "spent in")
					w.pay(later, rapid.SampledFrom([][]byte{{0x53}, of[key][at], of[key][at+1]}).Draw(t, "to"), 7, tx)
				}
			}
		}
		for _, purpose := range purposes {
			for at := -1; ; {
				if at += rapid.IntRange(1, accountGap+1).Draw(t, "accounts"); at >= someAccounts-2*accountGap {
					break
				}
				for change := range 2 {
					payAll(d.scripts, chainKey{purpose, at, change})
				}
			}
		}
		public := rapid.Bool().Draw(t, "account's key")
		x := want{scope: map[string]bool{}}
		source := d.master
		if public {
			source = d.account
			for _, purpose := range purposes {
				keys := []chainKey{{purpose, 0, 0}, {purpose, 0, 1}}
				for _, key := range keys {
					payAll(d.forms, key)
				}
			}
			for _, purpose := range purposes {
				keys := []chainKey{{purpose, 0, 0}, {purpose, 0, 1}}
				if text, used := x.chains(w, keys, d.forms, gap); used {
					x.accounts = append(x.accounts, fmt.Sprintf("84/0 %s %s", fmt.Sprintf(forms[purpose], "KEY"), text))
				}
			}
		} else {
			for _, purpose := range purposes {
				for number, unused := 0, 0; unused < accountGap; number++ {
					keys := []chainKey{{purpose, number, 0}, {purpose, number, 1}}
					text, used := x.chains(w, keys, d.scripts, gap)
					if unused++; used {
						unused = 0
						form := fmt.Sprintf(forms[purpose], "KEY")
						x.accounts = append(x.accounts, fmt.Sprintf("%d/%d %s %s", purpose, number, form, text))
					}
				}
			}
		}
		s, err := discover.New(net, &messages.DiscoverAccounts{
			Source: []byte(source), Gap: int32(gap), AccountGap: int32(accountGap),
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		run(t, s, w)
		books := []*discover.Book{s.Book(), s.Book()}
		for n, b := range w.blocks {
			books[0].Add(b, search.InBlock(w.raw[n], w.spent[n], books[0]))
			books[1].AddBlock(b, w.raw[n])
		}
		for i, book := range books {
			found := s.Result(book, false)
			var got []string
			for a := range found.Accounts {
				got = append(got, textOf(&found.Accounts[a]))
			}
			if s.Used() != len(x.accounts) {
				t.Fatalf("%d accounts are used, want %d", s.Used(), len(x.accounts))
			}
			if !slices.Equal(got, x.accounts) {
				t.Fatalf("book %d: got\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(x.accounts, "\n"))
			}
		}
		checkScope(t, s, w, x.scope)
	})
}

// checkScope holds the scripts and blocks that are told against those of the slow way.
func checkScope(t rapid.TB, s *discover.Search, w *world, want map[string]bool) {
	t.Helper()
	scope := s.Scope()
	if scope.Len() != len(want) {
		t.Fatalf("%d scripts were looked for, want %d", scope.Len(), len(want))
	}
	for script := range scope.Scripts() {
		if !want[string(script)] {
			t.Fatalf("script %x was looked for", script)
		}
	}
	told := s.Blocks()
	for n, b := range w.blocks {
		has := false
		for script := range w.has[n] {
			has = has || want[script]
		}
		if slices.Contains(told, b.Hash) != has {
			t.Fatalf("block %d is told to have scripts: %v", n, !has)
		}
	}
	if len(told) > len(w.blocks) {
		t.Fatalf("%d blocks are told", len(told))
	}
}
