package match

import (
	"testing"
	"time"
)

// What took less time is taken, and the other now and then.
func TestPaces(t *testing.T) {
	var p paces
	if p.next() {
		t.Error("blocks before anything is known")
	}
	p.byFilters(10, 30*time.Millisecond, 0, 0)
	if p.next() {
		t.Error("blocks though no filter has matched")
	}
	p.byFilters(10, 30*time.Millisecond, 5, 20*time.Millisecond) // 3 ms a block, 4 ms a look
	if p.next() {
		t.Error("blocks, whose looks take longer")
	}
	p.byFilters(10, 50*time.Millisecond, 10, 20*time.Millisecond) // towards 5 ms, and 2 ms
	p.byFilters(10, 50*time.Millisecond, 10, 20*time.Millisecond)
	if !p.next() {
		t.Errorf("filters, which take %v ns a block, and looks %v ns", p.filters.ns, p.looks.ns)
	}
	direct := 0
	for ; p.next(); direct++ {
		p.byBlocks(16, 32*time.Millisecond)
	}
	if want := 26; direct != want { // 16 times the 50 ms that the last filters took
		t.Errorf("%d units before filters are tried again, want %d", direct, want)
	}
	if !p.next() {
		t.Error("another worker tries filters, too")
	}
	p.byFilters(10, time.Millisecond, 0, 0)
	for range 20 {
		p.byFilters(10, time.Millisecond, 0, 0)
	}
	if p.next() {
		t.Error("blocks, though their filters have become faster")
	}
	for range 20 {
		p.byBlocks(16, time.Microsecond)
	}
	if !p.prefersBlocks() {
		t.Error("filters, though blocks have become faster")
	}
}
