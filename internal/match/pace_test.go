package match

import (
	"testing"
	"time"
)

// The way that took less time is taken, and the other way now and then.
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
	for range lately { // 3 ms a filter, and 2 ms a look into nearly each block
		p.byFilters(10, 50*time.Millisecond, 10, 20*time.Millisecond)
	}
	if !p.next() {
		t.Errorf("filters, which take %v ns a block, and looks %v ns", p.perBlock(), p.looks.least())
	}
	direct := 0
	for ; p.next(); direct++ {
		p.byBlocks(16, 32*time.Millisecond)
	}
	if direct < 20 || direct > 26 { // 16 times the 50 ms that the last filters took, less some
		t.Errorf("%d units before filters are tried again", direct)
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

// A worker whose core others had now and then does not change the way.
func TestPacesOfBusyCores(t *testing.T) {
	var p paces
	for n := range 200 {
		took, keeping := 1200*time.Microsecond, 200*time.Microsecond // 40 us a filter, 200 us a look
		if n%4 != 2 {
			took += 30 * time.Millisecond
		}
		if n%3 == 0 {
			took, keeping = took+10*time.Millisecond, keeping+10*time.Millisecond
		}
		p.byFilters(25, took, 1, keeping)
		if p.next() {
			t.Fatalf("after %d units: filters take %v ns a block, looks %v ns", n, p.perBlock(), p.looks.least())
		}
	}
	for n := range 4 * lately {
		took := 400 * time.Microsecond // 10 us a block
		if n%4 != 3 {
			took += 30 * time.Millisecond
		}
		p.byBlocks(16, took)
	}
	if !p.prefersBlocks() {
		t.Errorf("filters, which take %v ns a block, and looks %v ns", p.perBlock(), p.looks.least())
	}
}

// A pass that follows another begins with its paces, and both go on by themselves.
func TestFollow(t *testing.T) {
	before, after := New(Config{}), New(Config{})
	before.paces.byFilters(10, 30*time.Millisecond, 5, 20*time.Millisecond)
	after.Follow(before)
	if after.paces != before.paces {
		t.Errorf("begins with %+v, want %+v", after.paces, before.paces)
	}
	if !before.mu.TryLock() || !after.mu.TryLock() {
		t.Error("a pass is still locked")
	}
	before.paces.byBlocks(1, time.Second)
	if after.paces.looks.count != 1 {
		t.Error("still follows")
	}
}
