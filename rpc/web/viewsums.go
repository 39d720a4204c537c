package web

import (
	"context"
	"strconv"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

const (
	summed      = 6  // searches of a list that have a balance
	sparkPoints = 60 // of the line beside a balance
)

// A searchSum is the balance of a search in a list.
type searchSum struct {
	Balance    amount
	Whole      bool   // all entries are added up
	Line, Area string // the balance over the heights of the chain
}

// sum adds up the first searches of a list.
func (v *view) sum(ctx context.Context, viewer viewer, list *[]search) {
	if list == nil || !viewer.Has("getsearchentries") {
		return
	}
	var looks []func()
	for i := range min(len(*list), summed) {
		s := &(*list)[i]
		if s.Entries {
			looks = append(looks, func() { s.Sum = v.sumOf(ctx, viewer, s) })
		}
	}
	together(looks...)
}

// ledgerOf returns the ledger of a search.
func (v *view) ledgerOf(s *search) *ledger {
	return v.ledgers.of(s.ID + " " + strconv.FormatInt(s.Created, 10))
}

func (v *view) sumOf(ctx context.Context, viewer viewer, s *search) *searchSum {
	l := v.ledgerOf(s)
	if _, err := l.advance(ctx, viewer, s.ID); err != nil {
		return nil
	}
	b := l.book()
	sum := &searchSum{Balance: b.Balance(), Whole: b.Whole && !s.Looks()}
	columns := b.columns(sparkPoints, false)
	if len(columns) == 0 {
		return sum
	}
	var points []chart.Point
	for i := range columns {
		points = append(points, chart.Point{At: float64(columns[i].Last), Value: float64(columns[i].Balance)})
	}
	high := max(float64(s.Height), points[len(points)-1].At)
	sum.Line, sum.Area = chart.Spark(points, float64(columns[0].First), high)
	return sum
}
