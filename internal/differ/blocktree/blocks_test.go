package blocktree

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

const (
	round     = 12 // blocks between two looks at the chains
	recent    = 40 // of which blocks are picked, mostly
	countEach = 10 // rounds between two counts of the unspent outputs
)

// treeSize is how many blocks are sent to one pair of nodes: all branches are looked
// at again and again.
const treeSize = 4000

// TestBlocks sends both nodes the same blocks and the same calls about these blocks,
// and compares the nodes.
func TestBlocks(t *testing.T) {
	random, words := differ.Random(t), map[string]int{}
	for left := differ.Cases(t, 600); left > 0 && !t.Failed(); left -= treeSize {
		t.Run("tree", func(t *testing.T) {
			compareTree(t, differ.Config{}, &maker{Rand: random, chain: bitcoin()}, min(left, treeSize), words)
		})
	}
	logWords(t, words)
}

func logWords(t *testing.T, words map[string]int) {
	t.Helper()
	for _, w := range slices.Sorted(maps.Keys(words)) {
		t.Logf("%6d %s", words[w], w)
	}
}

func compareTree(t *testing.T, c differ.Config, m *maker, blocks int, words map[string]int) {
	t.Helper()
	p := differ.Start(t, c, differ.Exception{
		Reason: "of several scripts that fail Core names the one that a thread came upon first",
		Is: func(_ differ.Call, got differ.Replies) bool {
			const script = `"block-script-verify-flag-failed (`
			return strings.HasPrefix(got.Core.String(), script) && strings.HasPrefix(got.Trawl.String(), script)
		},
	})
	m.spent = map[wire.OutPoint]bool{}
	r := &rig{t: t, p: p, maker: m, words: words}
	r.begin()
	for n, left := 0, blocks; left > 0 && p.Report.Differences() == 0; n, left = n+1, left-round {
		r.round()
		if n%countEach == 0 {
			r.compare("gettxoutsetinfo", "height", "bestblock", "txouts", "bogosize", "hash_serialized_3", "total_amount", "transactions")
		}
	}
	p.Alive()
}

// words leaves out what differs from block to block.
func words(text string) string { return numbers.ReplaceAllString(text, "#") }

var numbers = regexp.MustCompile(`[0-9a-f]{8,}`)

// rig is a pair of nodes and the blocks made for this pair.
type rig struct {
	*maker
	t    *testing.T
	p    *differ.Pair
	all  []*block
	best *block // the tip, as of the last look

	words map[string]int // that Core answered
}

func (r *rig) begin() {
	at := r.chain.root()
	r.all = []*block{at}
	var calls []differ.Call
	base := r.chain.maturity + 1 // blocks of one chain to begin with
	for range base {
		at = r.on(at)
		at.sent = true
		r.all = append(r.all, at)
		calls = append(calls, differ.Call{Method: "submitblock", Params: []string{at.hex()}})
	}
	r.p.Send(calls...)
	r.best, r.all = at, r.all[base-5:]
}

// parent returns a block to build on: the tip or one close before it, or any.
func (r *rig) parent() *block {
	if r.IntN(4) == 0 {
		return r.pick()
	}
	at := r.best
	for range r.IntN(6) {
		if r.IntN(2) == 0 {
			at = at.parent
		}
	}
	if mine := r.lastOn(at); mine != nil && r.IntN(2) == 0 {
		return mine
	}
	return at
}

// lastOn returns the newest block whose chain has one.
func (r *rig) lastOn(at *block) *block {
	for _, b := range slices.Backward(r.all[max(0, len(r.all)-round):]) {
		for a := b; a != nil && a.height >= at.height; a = a.parent {
			if a == at {
				return b
			}
		}
	}
	return nil
}

// pick returns one of the blocks, of the last ones mostly.
func (r *rig) pick() *block {
	from := max(0, len(r.all)-recent)
	if r.IntN(6) == 0 {
		from = max(0, len(r.all)-4*recent)
	}
	if r.IntN(2) == 0 {
		from = max(0, len(r.all)-6)
	}
	return r.all[from+r.IntN(len(r.all)-from)]
}

// round sends some blocks and orders, and compares the replies and states of the
// nodes.
func (r *rig) round() {
	var calls []differ.Call
	for range round {
		calls = append(calls, r.next()...)
	}
	for i, got := range r.p.Send(calls...) {
		r.words[calls[i].Method+" "+words(got.Core.String())]++
	}
	r.compare("getblockchaininfo", "blocks", "headers", "bestblockhash", "bits", "mediantime", "chainwork")
	r.compareTips()
	r.findBest()
	if r.p.Report.Differences() > 0 {
		r.t.Logf("last calls:\n%s", brief(calls))
	}
}

func brief(calls []differ.Call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%.300v\n", c)
	}
	return b.String()
}

func (r *rig) next() []differ.Call {
	hash := func(method string) []differ.Call {
		return []differ.Call{{Method: method, Params: []string{r.pick().hash.String()}}}
	}
	switch n := r.IntN(40); {
	case n == 0:
		return hash("invalidateblock")
	case n <= 2:
		return hash("reconsiderblock")
	case n <= 4:
		return hash("preciousblock")
	case n == 5: // again
		return []differ.Call{{Method: "submitblock", Params: []string{r.pick().hex()}}}
	case n == 6: // under another block's header
		a, b := r.pick(), r.pick()
		if len(a.raw) == 0 || len(b.raw) == 0 {
			return nil
		}
		mixed := slices.Concat(a.raw[:a.head], b.raw[b.head:])
		return []differ.Call{{Method: "submitblock", Params: []string{hex.EncodeToString(mixed)}}}
	case n <= 9: // headers first, of which some get their blocks later
		b := r.on(r.parent())
		r.all = append(r.all, b)
		return []differ.Call{{Method: "submitheader", Params: []string{hex.EncodeToString(b.raw[:b.head])}}}
	case n <= 12:
		b := r.pick()
		if b.sent {
			return nil
		}
		b.sent = true
		return []differ.Call{{Method: "submitblock", Params: []string{b.hex()}}}
	default:
		b := r.on(r.parent())
		b.sent = true
		r.all = append(r.all, b)
		return []differ.Call{{Method: "submitblock", Params: []string{b.hex()}}}
	}
}

// compare looks at some members of a reply.
func (r *rig) compare(method string, members ...string) {
	r.t.Helper()
	var trawl, core map[string]json.RawMessage
	r.p.Trawl.Get(&trawl, method)
	r.p.Get(&core, method)
	for _, m := range members {
		if string(trawl[m]) != string(core[m]) {
			r.p.Report.Add(method+": "+m, fmt.Sprintf("trawld %s, bitcoind %s", trawl[m], core[m]))
		}
	}
}

func (r *rig) findBest() {
	var hash string
	r.p.Get(&hash, "getbestblockhash")
	for _, b := range slices.Backward(r.all) {
		if b.hash.String() == hash {
			r.best = b
			return
		}
	}
}

type tip struct {
	Height, BranchLen int
	Hash, Status      string
}

// compareTips looks at the branches. Core's order among those of one height is that
// of its memory.
func (r *rig) compareTips() {
	r.t.Helper()
	var trawl, core []tip
	r.p.Trawl.Get(&trawl, "getchaintips")
	r.p.Get(&core, "getchaintips")
	have := map[string]tip{}
	for _, t := range trawl {
		have[t.Hash] = t
	}
	for _, want := range core {
		got, ok := have[want.Hash]
		delete(have, want.Hash)
		switch {
		case !ok:
			r.p.Report.Add("getchaintips: missing", fmt.Sprint(want))
		case got != want:
			r.p.Report.Add("getchaintips: "+got.Status+" for "+want.Status, fmt.Sprint(got, want))
		}
	}
	for _, extra := range have {
		r.p.Report.Add("getchaintips: too many", fmt.Sprint(extra))
	}
}
