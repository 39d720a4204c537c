// Package walletgen generates wallets for tests of whatever looks for their payments: with gaps between used indices,
// change without receipts, accounts that start late or are left out, in all script forms. It puts the payments into
// chains, and tells by looking at whole blocks which of them a gap lets find.
//
// Scripts are derived once, for the wallets of many chains.
package walletgen

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// A Config says what wallets are like.
type Config struct {
	Random  *rand.Rand
	Network *descriptor.Network
	Params  *chaincfg.Params

	Sources  int   // descriptors that are of no account; each chain has a wallet of each
	Masters  int   // master keys, whose accounts are a wallet for each purpose
	Accounts int   // of each purpose
	Gap      int32 // the largest
	Used     int   // used indices of a branch, but for rows without gaps
}

// A Generator makes wallets. It is not safe for concurrent use.
type Generator struct {
	Config

	alone    []*Source
	together [][]*Source // the accounts of a purpose
}

// edge is how many indices are left above the first one of wallets at the highest index.
const edge = 60

// New returns a generator whose keys depend on Random alone.
func New(cfg Config) *Generator {
	g := &Generator{Config: cfg}
	k := &keys{cfg.Random, cfg.Network, cfg.Params}
	xpub := public(k.master()).String()
	for number := range cfg.Sources {
		base := int32(0)
		if number%8 == 7 {
			base = math.MaxInt32 - edge
		}
		g.alone = append(g.alone, k.source(xpub, number, base))
	}
	for range cfg.Masters {
		master := k.master()
		for _, purpose := range []uint32{44, 49, 84, 86} {
			g.together = append(g.together, k.accounts(master, purpose, cfg.Accounts))
		}
	}
	return g
}

// A Wallet is some descriptors that are looked for together.
type Wallet struct{ Objects []*Object }

// An Object is a descriptor, how it is looked for, and which of its indices are paid.
type Object struct {
	*Source

	First, Last, Gap int32
	Late             bool      // it is paid in the last blocks alone
	used             [][]int32 // by branch; any order
}

// Wallets returns the wallets of a chain, in any order: one of each descriptor.
func (g *Generator) Wallets() (all []*Wallet) {
	for _, source := range g.alone {
		all = append(all, &Wallet{[]*Object{g.object(source, g.gap(), true)}})
	}
	for _, sources := range g.together {
		w, gap := new(Wallet), g.gap()
		for _, source := range sources {
			o := g.object(source, gap, g.Random.IntN(3) > 0)
			o.First, o.Late = 0, g.Random.IntN(3) == 0
			w.Objects = append(w.Objects, o)
		}
		all = append(all, w)
	}
	g.Random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// gap returns a gap, mostly a small one: as many from 2 to 4 as from 32 to 64.
func (g *Generator) gap() int32 {
	return int32(math.Pow(float64(g.Gap)+1, g.Random.Float64()))
}

// object returns a descriptor to look for, without used indices unless it is paid.
func (g *Generator) object(s *Source, gap int32, paid bool) *Object {
	o := &Object{Source: s, Gap: gap, First: s.Branches[0].base, used: make([][]int32, len(s.Branches))}
	if g.Random.IntN(4) == 0 && s.Account == nil {
		o.First += g.Random.Int32N(edge)
	}
	o.Last = int32(min(int64(o.First)+int64(g.Random.IntN(10)), math.MaxInt32))
	if !paid {
		return o
	}
	only := -1 // the only branch that is used: change without receipts among them
	if n := 3 * len(s.Branches); g.Random.IntN(2) == 0 && len(s.Branches) > 1 {
		only = g.Random.IntN(n) % len(s.Branches)
	}
	for i := range o.used {
		if only < 0 || only == i {
			o.used[i] = g.indices(o)
		}
	}
	return o
}

// indices returns used indices. Mostly each is found with the gap, and some only if the gap is larger.
func (g *Generator) indices(o *Object) (used []int32) {
	at := int64(o.First) - 1
	for range g.Random.IntN(g.Used + 1) {
		switch g.Random.IntN(24) {
		case 0, 1:
			at += int64(o.Gap) + int64(g.Random.IntN(3)) // the first of these is found, at the edge
		case 2:
			for range g.Random.IntN(int(min(3*o.Gap, 200))) { // a row
				at++
				used = append(used, int32(min(at, math.MaxInt32)))
			}
			continue
		default:
			at += 1 + int64(g.Random.Int32N(o.Gap))
		}
		if at > math.MaxInt32 {
			break
		}
		used = append(used, int32(at))
	}
	used = slices.DeleteFunc(used, func(index int32) bool { return index < o.First })
	if o.First > o.Branches[0].base && g.Random.IntN(4) == 0 {
		used = append(used, o.First-1) // is not looked for
	}
	return used
}

// Plan returns payments to all used indices of wallets: for each of so many blocks, the scripts that it pays to. The
// indices come in order, against it, or in any order; all in one block, or in many.
func (g *Generator) Plan(wallets []*Wallet, blocks int) [][][]byte {
	plan := make([][][]byte, blocks)
	for _, w := range wallets {
		for _, o := range w.Objects {
			from := 0
			if o.Late {
				from = blocks * 2 / 3
			}
			for i, used := range o.used {
				g.place(plan[from:], o.Branches[i], used)
			}
		}
	}
	for _, scripts := range plan {
		g.Random.Shuffle(len(scripts), func(i, j int) { scripts[i], scripts[j] = scripts[j], scripts[i] })
	}
	return plan
}

func (g *Generator) place(plan [][][]byte, b *Branch, used []int32) {
	order, same := g.Random.IntN(4), g.Random.IntN(len(plan))
	for i, index := range used {
		at := same
		switch order {
		case 0:
			at = g.Random.IntN(len(plan))
		case 1:
			at = i * len(plan) / len(used)
		case 2:
			at = len(plan) - 1 - i*len(plan)/len(used)
		}
		scripts := b.Scripts(index)
		plan[at] = append(plan[at], scripts[g.Random.IntN(len(scripts))])
		if g.Random.IntN(8) == 0 {
			plan[g.Random.IntN(len(plan))] = append(plan[g.Random.IntN(len(plan))], scripts[0]) // once more
		}
	}
}

// Cases returns how many cases a test tries: DIFFER_CASES, else few.
func Cases(tb testing.TB, few int) int {
	tb.Helper()
	return int(number(tb, "DIFFER_CASES", uint64(few)))
}

// Random returns the source of a test's cases, and logs its seed: DIFFER_SEED; else one by the clock if there are many
// cases, and always the same if there are few.
func Random(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := uint64(1)
	if os.Getenv("DIFFER_CASES") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	seed = number(tb, "DIFFER_SEED", seed)
	tb.Logf("DIFFER_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // cases to try, no secrets
}

func number(tb testing.TB, variable string, otherwise uint64) uint64 {
	tb.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v", variable, err)
	}
	return n
}
