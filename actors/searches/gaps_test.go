package searches_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chaintest/walletgen"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// TestGaps holds searches for wallets of all kinds, with gaps and without, against whole blocks. They look at the past,
// or follow the chain, which moves to other branches, over restarts.
func TestGaps(t *testing.T) {
	const few, share = 16, 50
	cases := walletgen.Cases(t, few*share) / share
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	g := walletgen.New(walletgen.Config{
		Random: walletgen.Random(t), Network: net.Descriptors(), Params: &chaincfg.RegressionNetParams,
		Sources: 14, Masters: 1, Accounts: 2, Gap: 30, Used: 6,
	})
	for n := 0; cases > 0 && !t.Failed(); n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			r := newRig(t, g.Random.Uint64())
			r.net = net.Descriptors()
			wallets := g.Wallets()
			wallets = wallets[:min(len(wallets), cases)]
			cases -= len(wallets)
			(&gapSearches{rig: r, random: g.Random}).check(g, wallets)
		})
	}
}

// gapSearches are searches for wallets.
type gapSearches struct {
	*rig
	random *rand.Rand
	all    []*gapSearch
}

// A gapSearch is a search for a wallet, and the ranges that it had when they were looked at last.
type gapSearch struct {
	*reader
	wallet *walletgen.Wallet
	gaps   bool
	follow bool
	at     *chainview.Block // up to which it looks; nil: it follows
	ranges []walletgen.Range
}

func (r *gapSearches) check(g *walletgen.Generator, wallets []*walletgen.Wallet) {
	miner := walletgen.Miner{Chain: r.chain, Random: g.Random}
	plan := g.Plan(wallets, 18)
	late := plan[12:]
	at := miner.Mine(r.chain.MineN(1), plan[:12])
	r.start()
	for _, w := range wallets {
		r.make(w, r.random.IntN(2) == 0)
	}
	r.look()
	for range 2 {
		fork := at.Ancestor(at.Height - r.random.Int32N(3))
		at = miner.Mine(at, late[:3])
		r.again()
		r.look()
		r.make(wallets[r.random.IntN(len(wallets))], false) // the chain moves while it looks
		var branch [][][]byte
		for range at.Height - fork.Height + 1 {
			branch = append(branch, late[r.random.IntN(len(late))])
		}
		at = miner.Mine(fork, branch)
		r.again()
		r.look()
	}
}

// again has the searches look at new blocks, perhaps after a restart.
func (r *gapSearches) again() {
	if r.random.IntN(3) == 0 {
		r.restart()
		return
	}
	r.announce()
}

// make makes a search for a wallet.
func (r *gapSearches) make(w *walletgen.Wallet, follow bool) {
	s := &gapSearch{wallet: w, gaps: r.random.IntN(5) > 0, follow: follow}
	var o messages.SearchObjects
	for _, object := range w.Objects {
		for _, branch := range object.Branches {
			for index := int64(object.First); index <= int64(object.Last); index++ {
				for _, script := range branch.Scripts(int32(index)) {
					o.Scripts = append(o.Scripts, messages.SearchScript{
						Script: script, Object: len(o.Texts), Index: int32(index),
					})
				}
			}
			o.Texts = append(o.Texts, branch.String())
			s.ranges = append(s.ranges, walletgen.Range{Last: object.Last, Highest: -1})
			if s.gaps {
				o.Gaps = append(o.Gaps, object.Gap)
			}
		}
	}
	if !follow {
		s.at = r.chain.Active().Tip()
	}
	made := do(r.t, r.ref, messages.CreateSearch{Objects: o, Stop: -1, Follow: follow})
	s.reader = r.reader(made.ID)
	r.all = append(r.all, s)
}

// look holds all searches against the blocks that they have looked at.
func (r *gapSearches) look() {
	r.t.Helper()
	seen := map[*chainview.Block]*walletgen.Seen{}
	for _, s := range r.all {
		at := s.at
		if at == nil {
			at = r.chain.Active().Tip()
		}
		if seen[at] == nil {
			var err error
			if seen[at], err = walletgen.Look(r.chain, at); err != nil {
				r.t.Fatal(err)
			}
		}
		s.look(seen[at], walletgen.Heights{To: at.Height})
	}
}

func (s *gapSearch) look(seen *walletgen.Seen, in walletgen.Heights) {
	t := s.r.t
	t.Helper()
	if s.follow {
		s.wait(messages.SearchFollowing)
	} else {
		s.wait(messages.SearchDone)
	}
	var want []messages.SearchDescriptor
	var entries []walletgen.Entry
	n := 0
	for _, o := range s.wallet.Objects {
		for i, branch := range o.Branches {
			gap := int32(0)
			if s.gaps {
				gap = o.Gap
			}
			at := seen.Widened(o, i, gap, in, s.ranges[n])
			s.ranges[n] = at
			n++
			if gap == 0 {
				at.Exhausted = at.Highest >= 0 && at.Last-at.Highest < 20 && at.Last < math.MaxInt32
			}
			want = append(want, messages.SearchDescriptor{
				Desc: branch.String(), First: o.First, Last: at.Last, HighestUsed: at.Highest, Known: true, Gap: gap,
				Exhausted: at.Exhausted,
			})
			entries = append(entries, seen.Entries(o, i, at.Last, in)...)
		}
	}
	got := do(t, s.r.ref, messages.GetSearch{ID: s.id}).Descriptors
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	found := map[string]int{}
	for _, list := range s.blocks {
		for _, e := range list {
			found[fmt.Sprint(e.Height, e.Block, e.Type, e.TxID, e.N)]++
		}
	}
	for _, e := range walletgen.Sorted(entries) {
		kind := messages.SearchReceive
		if e.Spend {
			kind = messages.SearchSpend
		}
		key := fmt.Sprint(e.Height, e.Block, kind, e.TxID, e.N)
		if found[key] != 1 {
			t.Fatalf("%s was found %d times; descriptors %+v", key, found[key], want)
		}
		delete(found, key)
	}
	if len(found) > 0 {
		t.Fatalf("found as well: %v", found)
	}
}
