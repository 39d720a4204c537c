package filter

import (
	"context"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/store/segment"
)

const (
	// onePasses is of how many scripts a range filter lets one pass that the range does
	// not have.
	onePasses = 256

	// fewScripts is up to how many scripts it is found out which of them a range
	// filter lets pass, before more is read than the range filter. Of more scripts so
	// many pass that nearly all is read.
	fewScripts = 3 * onePasses
)

// Faults implements match.Fetcher.
func (*view) Faults() int64 { return segment.Faults() }

// Fetch implements match.Fetcher. It checks nothing that it reads, because it only
// decides which bytes are read from the disk.
func (v *view) Fetch(
	ctx context.Context, heights match.Heights, q *filters.Query, by filters.Method, restrict bool,
) (missing int) {
	scripts := q.Len()
	var parts [][]byte
	if r, to, ok := v.Range(heights.From); restrict && ok && heights.To <= to {
		parts = append(parts, r.Data)
		scripts = max(scripts/onePasses, 1)
		if q.Len() <= fewScripts {
			missing += v.View.Fetch(ctx, parts)
			parts = nil
			if sub, ok := v.passing(r.Data, q); ok {
				q = sub
			}
			if scripts = q.Len(); scripts == 0 {
				return missing
			}
		}
	}
	batch := make([]filters.Filter, 0, heights.To-heights.From)
	for height := heights.From; height < heights.To; height++ {
		if v.Stored(height, nil, &v.stored) != nil {
			return missing // who matches it says why
		}
		s := &v.stored
		f := filters.Filter{Block: *s.Block, Data: s.Filter, Lines: s.Lines, N: s.Items}
		reads := by.ReadsLines(&f, scripts)
		if reads && s.LinesMapped {
			parts = append(parts, s.Lines)
		}
		switch {
		case !s.FilterMapped:
		case reads && !f.ReadsMost(scripts):
			batch = append(batch, f)
		default:
			parts = append(parts, s.Filter)
		}
	}
	missing += v.View.Fetch(ctx, parts)
	if len(batch) == 0 {
		return missing
	}
	parts = parts[:0]
	_ = segment.Guard(func() {
		for i := range batch {
			q.EachPart(&batch[i], func(b []byte) { parts = append(parts, b) })
		}
	})
	return missing + v.View.Fetch(ctx, parts)
}
