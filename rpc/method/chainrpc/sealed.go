package chainrpc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"iter"
	"slices"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/internal/search/widen"
)

// A sealedScript is a script by its digest, with one of its owners.
type sealedScript struct {
	digest receipt.Digest
	widen.Owner
}

// seal notes the scripts of a round for the receipt. The function ended says whether to end.
func (w *widening) seal(ended func() error) error {
	for script, owner := range w.rounds.Sought() {
		if err := ended(); err != nil {
			return err
		}
		w.sealed = append(w.sealed, sealedScript{sha256.Sum256(script), owner})
	}
	return nil
}

// digests returns the digests of the scripts that count, sorted. Where no range widens, these are those of a query.
func (w *widening) digests(ctx context.Context, q *filters.Query) ([]receipt.Digest, error) {
	if !w.widens() {
		return sortedDigests(digestsOf(q.Scripts()), w.x.holder.eachEnded(ctx))
	}
	return sortedDigests(func(yield func(receipt.Digest) bool) {
		for i := range w.sealed {
			if w.rounds.HasIndex(w.sealed[i].Owner) && !yield(w.sealed[i].digest) {
				return
			}
		}
	}, w.x.holder.eachEnded(ctx))
}

func digestsOf(scripts iter.Seq[[]byte]) iter.Seq[receipt.Digest] {
	return func(yield func(receipt.Digest) bool) {
		for script := range scripts {
			if !yield(sha256.Sum256(script)) {
				return
			}
		}
	}
}

// sortedDigests sorts digests, in pieces by their first bytes: the function ended says in between whether to end.
func sortedDigests(all iter.Seq[receipt.Digest], ended func() error) ([]receipt.Digest, error) {
	var pieces [256][]receipt.Digest
	count := 0
	for d := range all {
		if err := ended(); err != nil {
			return nil, err
		}
		pieces[d[0]] = append(pieces[d[0]], d)
		count++
	}
	sorted := make([]receipt.Digest, 0, count)
	for _, piece := range pieces {
		if err := ended(); err != nil {
			return nil, err
		}
		slices.SortFunc(piece, func(a, b receipt.Digest) int { return bytes.Compare(a[:], b[:]) })
		sorted = append(sorted, piece...)
	}
	return sorted, nil
}
