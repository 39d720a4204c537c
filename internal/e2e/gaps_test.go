package e2e_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chaintest/walletgen"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/e2e"
)

// A daemon finds by scans and by searches what whole blocks have of wallets with gaps, before and after a
// reorganisation and a kill.
func TestGaps(t *testing.T) {
	t.Parallel()
	const few, share = 4, 10_000
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	cases := walletgen.Cases(t, few*share) / share
	random := walletgen.Random(t)
	g := walletgen.New(walletgen.Config{
		Random: random, Network: net.Descriptors(), Params: net.Params,
		Sources: cases - cases/8, Masters: (cases + 31) / 32, Accounts: 3, Gap: 50, Used: 6,
	})
	l := &gapsLive{
		t: t, d: e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1"}}),
		chain: chaintest.New(net.Params), submitted: map[chainhash.Hash]bool{},
	}
	miner := walletgen.Miner{Chain: l.chain, Random: random, Valid: true}
	wallets := g.Wallets()
	plan := g.Plan(wallets, 30)
	at := miner.Mine(l.chain.Active().Tip(), plan[:20])
	l.submit(at)
	for _, w := range wallets {
		l.scan(w)
		l.follow(w)
	}
	fork := at.Ancestor(at.Height - 4)
	at = miner.Mine(at, plan[20:])
	l.submit(at)
	l.held()
	at = miner.Mine(fork, slices.Concat(plan[25:], plan[21:], make([][][]byte, 1)))
	l.submit(at)
	l.d.Kill()
	l.d.Restart()
	l.held()
	for _, w := range wallets {
		l.scan(w)
	}
}

// gapsLive is a daemon with a copy of its chain.
type gapsLive struct {
	t         *testing.T
	d         *e2e.Daemon
	chain     *chaintest.Chain
	submitted map[chainhash.Hash]bool
	searches  []*gapsSearch
	seen      *walletgen.Seen
}

// A gapsSearch is a search that follows, and its ranges when it was looked at last.
type gapsSearch struct {
	wallet *walletgen.Wallet
	id     string
	ranges []walletgen.Range
}

// submit gives the daemon a chain's blocks.
func (l *gapsLive) submit(tip *chainview.Block) {
	l.t.Helper()
	for height := int32(1); height <= tip.Height; height++ {
		hash := tip.Ancestor(height).Hash
		if l.submitted[hash] {
			continue
		}
		l.submitted[hash] = true
		raw, err := l.chain.Raw(&hash)
		if err != nil {
			l.t.Fatal(err)
		}
		var answer *string
		l.d.Get(&answer, "submitblock", hex.EncodeToString(raw))
		if answer != nil && *answer != "inconclusive" {
			l.t.Fatalf("block at height %d: %s", height, *answer)
		}
	}
	var best string
	if l.d.Get(&best, "getbestblockhash"); best != tip.Hash.String() {
		l.t.Fatalf("the tip is %s, want %v", best, tip.Hash)
	}
	var err error
	if l.seen, err = walletgen.Look(l.chain, tip); err != nil {
		l.t.Fatal(err)
	}
}

func (l *gapsLive) whole() walletgen.Heights { return walletgen.Heights{To: l.chain.Active().Height()} }

// objects returns the scan objects of a wallet.
func objectsOf(w *walletgen.Wallet) (objects []any) {
	for _, o := range w.Objects {
		objects = append(objects, map[string]any{"desc": o.Text, "range": []int32{o.First, o.Last}, "gap": o.Gap})
	}
	return objects
}

// A gapsRange is what is told of a descriptor.
type gapsRange struct {
	Range       [2]int32
	HighestUsed *int32 `json:"highest_used"`
	Gap         int32
	Exhausted   bool
}

func (g *gapsRange) String() string {
	highest := int32(-1)
	if g.HighestUsed != nil {
		highest = *g.HighestUsed
	}
	return fmt.Sprint(g.Range, highest, g.Gap, g.Exhausted)
}

// hold holds ranges against the blocks, and returns the blocks and the number of entries that they let find.
func (l *gapsLive) hold(w *walletgen.Wallet, before []walletgen.Range, got []gapsRange) (blocks []string, entries int) {
	l.t.Helper()
	var all []walletgen.Entry
	n := 0
	for _, o := range w.Objects {
		for i := range o.Branches {
			if len(before) == n {
				before = append(before, walletgen.Range{Last: o.Last, Highest: -1})
			}
			at := l.seen.Widened(o, i, o.Gap, l.whole(), before[n])
			before[n] = at
			want := gapsRange{[2]int32{o.First, at.Last}, &at.Highest, o.Gap, at.Exhausted}
			if n >= len(got) || got[n].String() != want.String() {
				l.t.Fatalf("%s, branch %d: got %v, want %v", o.Text, i, got, &want)
			}
			n++
			all = append(all, l.seen.Entries(o, i, at.Last, l.whole())...)
		}
	}
	all = walletgen.Sorted(all)
	for _, hash := range walletgen.Blocks(all) {
		blocks = append(blocks, hash.String())
	}
	return blocks, len(all)
}

// scan scans for a wallet.
func (l *gapsLive) scan(w *walletgen.Wallet) {
	l.t.Helper()
	var answer struct {
		Blocks      []string `json:"relevant_blocks"`
		Activity    []any
		Descriptors []gapsRange
	}
	l.d.Get(&answer, "scanblocks", "start", objectsOf(w), 0, nil, "basic", map[string]bool{"activity": true})
	blocks, entries := l.hold(w, nil, answer.Descriptors)
	if !slices.Equal(answer.Blocks, blocks) || len(answer.Activity) != entries {
		l.t.Fatalf("%v: %d entries in %v, want %d in %v", objectsOf(w), len(answer.Activity), answer.Blocks, entries, blocks)
	}
}

// follow makes a search for a wallet.
func (l *gapsLive) follow(w *walletgen.Wallet) {
	l.t.Helper()
	s := &gapsSearch{wallet: w}
	for _, o := range w.Objects {
		for range o.Branches {
			s.ranges = append(s.ranges, walletgen.Range{Last: o.Last, Highest: -1})
		}
	}
	var made struct{ ID string }
	l.d.Get(&made, "createsearch", objectsOf(w), map[string]any{"follow": true})
	s.id = made.ID
	l.searches = append(l.searches, s)
	l.heldOf(s)
}

// held holds all searches against the blocks.
func (l *gapsLive) held() {
	l.t.Helper()
	for _, s := range l.searches {
		l.heldOf(s)
	}
}

func (l *gapsLive) heldOf(s *gapsSearch) {
	l.t.Helper()
	tip := l.chain.Active().Tip().Hash.String()
	blocks := map[string]int{}
	var page struct {
		State, Cursor, BlockHash string
		More                     bool
		Entries                  []struct{ Type, BlockHash string }
	}
	for page.State != "following" || page.BlockHash != tip || page.More {
		page.Entries = nil
		l.d.Get(&page, "waitforsearch", s.id, page.Cursor, 100)
		for _, e := range page.Entries {
			if e.Type == "disconnect" {
				delete(blocks, e.BlockHash)
				continue
			}
			blocks[e.BlockHash]++
		}
		if l.t.Context().Err() != nil {
			l.t.Fatal(l.t.Context().Err())
		}
	}
	var search struct{ Descriptors []gapsRange }
	l.d.Get(&search, "getsearch", s.id)
	want, entries := l.hold(s.wallet, s.ranges, search.Descriptors)
	var receipt struct{ Receipt json.RawMessage }
	var verdict struct{ Valid bool }
	l.d.Get(&receipt, "getsearch", s.id, true)
	if l.d.Get(&verdict, "verifyreceipt", receipt.Receipt); !verdict.Valid {
		l.t.Fatalf("%s is not valid", receipt.Receipt)
	}
	sum := 0
	for _, n := range blocks {
		sum += n
	}
	if len(blocks) != len(want) || sum != entries {
		l.t.Fatalf("%v: %d entries in %d blocks, want %d in %v", objectsOf(s.wallet), sum, len(blocks), entries, want)
	}
}
