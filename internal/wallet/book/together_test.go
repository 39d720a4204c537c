package book_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/records"
)

// Labels that are set together are the same as labels that are set one after the other, in the same order.
func TestTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var apart, together records.Log
	a, b := book.New(net, &apart), book.New(net, &together)
	for range 5 {
		var scripts [][]byte
		for range 200 {
			scripts = append(scripts, repeat(byte(random.IntN(256)), 19, 0, 20, byte(random.IntN(256))))
		}
		set := func(b *book.Book) {
			for i, script := range scripts {
				b.SetLabel(script, string('a'+rune(i%7)), book.PurposeSend)
			}
		}
		set(a)
		b.Together(func() { set(b) })
		b.MarkPaid(book.DestinationOf(net, scripts[0]), 1)
		a.MarkPaid(book.DestinationOf(net, scripts[0]), 1)
		for _, lists := range [][2][]*book.Entry{{a.Labelled(), b.Labelled()}, {a.Paid(), b.Paid()}} {
			same := func(x, y *book.Entry) bool { return x.Address() == y.Address() && x.Label() == y.Label() }
			if !slices.EqualFunc(lists[0], lists[1], same) {
				t.Fatalf("%d entries, or not in the order of %d", len(lists[1]), len(lists[0]))
			}
		}
	}
	if len(a.Labelled()) < 900 || len(together.Take()) != len(apart.Take()) {
		t.Errorf("%d entries, or other changes", len(a.Labelled()))
	}
}

// Many labels take the time that their number takes.
func BenchmarkTogether(b *testing.B) {
	const labels = 100_000
	script := make([]byte, 22)
	script[1] = 20
	for b.Loop() {
		bk := book.New(net, new(records.Log))
		bk.Together(func() {
			for i := range labels {
				binary.LittleEndian.PutUint32(script[2:], uint32(i))
				bk.SetLabel(script, "label", book.PurposeSend)
			}
		})
	}
}
