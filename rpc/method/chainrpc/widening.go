package chainrpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// scriptLimit bounds the scripts of scan objects with a gap.
func scriptLimit(d *Deps) int { return cmp.Or(d.ScriptLimit, 10_000_000) }

// errNoGap answers where scan objects cannot have a gap.
var errNoGap = command.Error{
	Code: command.InvalidParameter, Message: "gap cannot be given to this method: take scanblocks or createsearch",
}

// A widening looks for scan objects whose ranges widen until their gaps are satisfied. It goes in rounds: each looks at
// all blocks, for the scripts that no round has looked for before. Scan objects without a gap are of the first round.
type widening struct {
	x     *expansion
	limit int // of the scripts

	rounds widen.Rounds
	ranged []rangedBranch // by their numbers in the plan

	passes int  // over the blocks
	seals  bool // there will be a receipt
	told   *toldObjects
	sealed []sealedScript // of all rounds, for a receipt
}

// A rangedBranch is a descriptor whose range widens.
type rangedBranch struct {
	*descriptor.Descriptor

	desc string // as it is shown
	each int    // scripts of an index
}

// A passed is what a round has found.
type passed struct {
	blocks    []chainhash.Hash
	uses      [][]uint32 // places of scripts in the query, for each block
	completed bool
}

// newWidening reads scan objects and derives the scripts of those without a gap. With an order,
// they are noted for its receipt. The error is errAborted once the scan is aborted.
func newWidening(
	ctx context.Context, d *Deps, h *holder, net *descriptor.Network, objects *jsontree.Value, order *scanOrder,
) (*widening, error) {
	w := &widening{limit: scriptLimit(d)}
	w.rounds.Begin(objects.Len())
	if order != nil {
		w.seals, w.told = order.receipt, order.told(objects)
	}
	w.x = d.expansion(h, net, func(branch *descriptor.Descriptor, index uint32, scripts [][]byte) {
		w.told.add(w.x.object, branch, index)
		w.rounds.AddScripts(widen.Owner{Number: -1}, scripts)
	})
	w.x.scriptsOnly, w.x.widens = true, w.takes
	return w, w.x.all(ctx, objects)
}

// widens reports whether any range widens.
func (w *widening) widens() bool { return len(w.ranged) > 0 }

// takes takes over a scan object with a gap, unless it has no range.
func (w *widening) takes(p *parsed) bool {
	if len(p.branches) == 0 || !p.branches[0].IsRanged() {
		return false
	}
	for _, branch := range p.branches {
		r := rangedBranch{Descriptor: branch, desc: strings.Clone(p.Text)}
		switch {
		case branch.HasPrivateKeys():
			r.desc = publicForm(branch)
		case len(p.branches) > 1:
			r.desc = branch.String()
		case p.Unsealed:
			r.desc = descriptor.AddChecksum(p.Text)
		}
		if scripts, err := branch.Expand(p.First); err == nil { // else the expansion says why
			r.each = len(scripts)
		}
		w.told.widens(w.x.object, branch, w.rounds.Add(int32(p.First), int32(p.Last), p.gap))
		w.ranged = append(w.ranged, r)
	}
	return true
}

// next derives the scripts of the next round and returns their query; nil: there is nothing more to look for.
func (w *widening) next(ctx context.Context) (*filters.Query, error) {
	first := w.rounds.Begun()
	w.rounds.Begin(0)
	ahead, err := w.spare()
	if err != nil {
		return nil, err
	}
	spans := w.rounds.Next(ahead)
	if len(spans) == 0 && !first {
		return nil, nil
	}
	w.x.object, w.x.objects = 0, len(spans)
	if w.passes > 0 {
		w.x.holder.again()
	}
	for i, span := range spans {
		w.x.object = i
		if err := w.derive(ctx, span); err != nil {
			return nil, err
		}
	}
	return w.rounds.Query(), nil
}

// spare returns how many indices may be looked for earlier than necessary. The error says that the limit does not
// allow those that are necessary.
func (w *widening) spare() (indices int, err error) {
	needed, most := 0, 1
	for number := range w.ranged {
		needed += w.rounds.Needed(number) * w.ranged[number].each
		most = max(most, w.ranged[number].each)
	}
	left := w.limit - w.rounds.Scripts - needed
	if left < 0 {
		limit := messages.SearchLimitError{Option: "-searchscripts"}
		return 0, command.Error{Code: command.InvalidParameter, Message: limit.Error()}
	}
	return left / most, nil
}

// maxSpan is how many indices are derived by one call.
const maxSpan = 1_000_000

// derive adds the scripts of a span to the round.
func (w *widening) derive(ctx context.Context, span widen.Span) error {
	w.x.visit = func(_ *descriptor.Descriptor, index uint32, scripts [][]byte) {
		w.rounds.AddScripts(widen.Owner{Number: int32(span.Number), Index: int32(index)}, scripts)
	}
	r := &w.ranged[span.Number]
	for from := int64(span.First); from <= int64(span.Last); from += maxSpan {
		p := &parsed{branches: []*descriptor.Descriptor{r.Descriptor}}
		p.First, p.Last = uint32(from), uint32(min(from+maxSpan-1, int64(span.Last)))
		p.Text = r.desc
		err := w.x.expand(ctx, p)
		if ended := w.x.holder.ended(ctx); ended != nil {
			return ended
		}
		if err != nil {
			return err
		}
	}
	w.x.report(1)
	return nil
}

// take takes what a round has found. The error is errAborted once the scan is aborted: then nothing was taken.
func (w *widening) take(ctx context.Context, q *filters.Query, found *passed) error {
	ended := w.x.holder.eachEnded(ctx)
	if w.seals {
		if err := w.seal(ended); err != nil {
			return err
		}
	}
	return w.rounds.Take(q, found.blocks, found.uses, ended)
}

// all goes from round to round, until nothing more is to be looked for or the work is aborted. The function look looks
// at all blocks. Where the last scripts were not looked for in any block, unseen is called.
func (w *widening) all(
	ctx context.Context, look func(q *filters.Query) (passed, error), unseen func(),
) (completed bool, err error) {
	for {
		q, err := w.next(ctx)
		if errors.Is(err, errAborted) {
			unseen()
			return false, nil
		}
		if err != nil || q == nil {
			return err == nil, err
		}
		found, err := look(q)
		if err != nil {
			return false, err
		}
		err = w.take(ctx, q, &found)
		if errors.Is(err, errAborted) && found.completed {
			unseen()
		}
		if !found.completed || errors.Is(err, errAborted) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// sought returns the scripts that count and were found.
func (w *widening) sought() *filters.Query {
	b := filters.NewQueryBuilder(0)
	w.rounds.Found(func(_ chainhash.Hash, s *widen.Sighting) { b.Add(s.Script) })
	return b.Query()
}

// blocks returns the hashes of the blocks that have scripts which count, up to a height, in the order of heights.
func (w *widening) blocks(reader chainview.Reader, to int32) []chainhash.Hash {
	seen := map[chainhash.Hash]bool{}
	var found []*chainview.Block
	w.rounds.Found(func(hash chainhash.Hash, _ *widen.Sighting) {
		if b := reader.Lookup(&hash); b != nil && b.Height <= to && !seen[hash] {
			found, seen[hash] = append(found, b), true
		}
	})
	slices.SortFunc(found, func(a, b *chainview.Block) int { return int(a.Height - b.Height) })
	hashes := make([]chainhash.Hash, len(found))
	for i, b := range found {
		hashes[i] = b.Hash
	}
	return hashes
}

// widenedRange is what is told of a descriptor whose range widens.
type widenedRange struct {
	Desc        string   `json:"desc"`
	Range       [2]int32 `json:"range"`
	HighestUsed *int32   `json:"highest_used,omitempty"`
	Gap         int32    `json:"gap"`
	Exhausted   bool     `json:"exhausted"`
}

var widenedResult = command.Result{
	Type: command.Array, Key: "descriptors", Optional: true,
	Help: "of scan objects with a gap: the ranges that were looked for",
	Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
		{Type: command.String, Key: "desc", Help: "the descriptor, without private keys"},
		arg.RangeResult("the indices that were looked for: the first and the last", false),
		{Type: command.Number, Key: "highest_used", Optional: true, Help: "highest index at which something was found"},
		{Type: command.Number, Key: "gap", Help: "as it was given"},
		{
			Type: command.Bool, Key: "exhausted",
			Help: "true: the range ended before the gap did, so that payments behind it may be missed",
		},
	}}},
}

// ranges returns what is told of the ranges; nil: none widens.
func (w *widening) ranges(completed bool) []widenedRange {
	var list []widenedRange
	for number := range w.ranged {
		r := w.rounds.Range(number)
		told := widenedRange{
			Desc: w.ranged[number].desc, Range: [2]int32{r.First, r.Last}, Gap: r.Gap,
			Exhausted: r.Exhausted || !completed,
		}
		if r.HighestUsed >= 0 {
			told.HighestUsed = &r.HighestUsed
		}
		list = append(list, told)
	}
	return list
}
