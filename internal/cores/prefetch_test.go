package cores

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// pieces yields work that returns its number, each of so many bytes.
func pieces(n int, size int64, work func(i int) int) func() (Piece[int], bool) {
	next := 0
	return func() (Piece[int], bool) {
		if next == n {
			return Piece[int]{}, false
		}
		i := next
		next++
		return Piece[int]{Work: func() int { return work(i) }, Size: size}, true
	}
}

func number(i int) int { return i }

// takeAll takes what there is.
func takeAll(a *Prefetch[int]) (got []int) {
	for {
		v, ok := a.Take(nil)
		if !ok {
			return got
		}
		got = append(got, v)
	}
}

// Results come in the order of the source, whatever is done first and whatever fits.
func TestPrefetchInOrder(t *testing.T) {
	want := make([]int, 1000)
	for i := range want {
		want[i] = i
	}
	for _, items := range []int{0, 1, 2, 7, 100} {
		for _, limit := range []int64{0, 1, 10, 1000} {
			a := StartPrefetch(items, limit, pieces(len(want), 3, number))
			if got := takeAll(a); !slices.Equal(got, want) {
				t.Errorf("%d items, %d bytes: %d results, or not in order", items, limit, len(got))
			}
			if _, ok := a.Take(nil); ok {
				t.Error("something after the end")
			}
			a.Close()
			a.Close()
		}
	}
}

// As much is done ahead as there is room for: by number and by bytes.
func TestPrefetchBounds(t *testing.T) {
	for _, test := range []struct {
		name        string
		items       int
		limit, size int64
		want        []int32 // begun before each result is taken
	}{
		{"bytes", 100, 10, 4, []int32{2, 2, 3, 4}}, // the room of a result is given back with the next one
		{"too large", 100, 10, 11, []int32{1, 1, 2, 3}},
		{"items", 3, 1000, 4, []int32{2, 3, 4, 5}}, // the third waits for its place
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var begun atomic.Int32
				a := StartPrefetch(test.items, test.limit, pieces(50, test.size, func(i int) int {
					begun.Add(1)
					return i
				}))
				defer a.Close()
				for i, want := range test.want {
					synctest.Wait()
					if got := begun.Load(); got != want {
						t.Errorf("%d begun before result %d, want %d", got, i, want)
					}
					if v, ok := a.Take(nil); v != i || !ok {
						t.Fatalf("result %d: %d, %v", i, v, ok)
					}
				}
			})
		})
	}
}

// A long piece of work holds up no other piece, only the results after its own.
func TestPrefetchWaitsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		a := StartPrefetch(8, 100, pieces(5, 1, func(i int) int {
			if i == 1 {
				<-held
			}
			return i
		}))
		defer a.Close()
		if v, ok := a.Take(nil); v != 0 || !ok {
			t.Fatal(v, ok)
		}
		stop := make(chan struct{})
		taken := make(chan bool)
		go func() {
			_, ok := a.Take(stop)
			taken <- ok
		}()
		synctest.Wait()
		select {
		case <-taken:
			t.Fatal("taken before it is done")
		default:
		}
		close(stop)
		if <-taken {
			t.Error("a result although the wait was given up")
		}
		close(held)
		if got := takeAll(a); !slices.Equal(got, []int{1, 2, 3, 4}) {
			t.Errorf("after the wait was given up: %v", got)
		}
	})
}

// A panic of work or source is that of the taker, in its turn; what came before is whole.
func TestPrefetchPanics(t *testing.T) {
	broken := errors.New("broken")
	for name, start := range map[string]func() *Prefetch[int]{
		"work": func() *Prefetch[int] {
			return StartPrefetch(4, 100, pieces(10, 1, func(i int) int {
				if i == 3 {
					panic(broken)
				}
				return i
			}))
		},
		"source": func() *Prefetch[int] {
			source := pieces(10, 1, number)
			asked := 0
			return StartPrefetch(4, 100, func() (Piece[int], bool) {
				if asked++; asked == 4 {
					panic(broken)
				}
				return source()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := start()
			defer a.Close()
			for i := range 3 {
				if v, ok := a.Take(nil); v != i || !ok {
					t.Fatal(v, ok)
				}
			}
			err := Catch(func() error { a.Take(nil); return nil })
			var p *Panic
			if !errors.As(err, &p) || !errors.Is(err, broken) || !strings.Contains(p.Stack, "prefetch_test") {
				t.Errorf("panic: %v", err)
			}
		})
	}
}

// Close returns when nothing is left running, whatever everybody waits for.
func TestPrefetchClose(t *testing.T) {
	for _, test := range []struct {
		name  string
		items int
		limit int64
		takes int
	}{
		{"line full", 2, 1000, 0}, {"no bytes left", 100, 3, 0}, {"in the middle", 3, 100, 5}, {"at the end", 3, 100, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails over a goroutine that is left
				a := StartPrefetch(test.items, test.limit, pieces(20, 1, number))
				for range test.takes {
					a.Take(nil)
				}
				synctest.Wait()
				a.Close()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		held := make(chan struct{})
		a := StartPrefetch(2, 10, pieces(20, 1, func(i int) int { <-held; return i }))
		synctest.Wait()
		closed := make(chan struct{})
		go func() { a.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed while work runs")
		default:
		}
		close(held)
		<-closed
	})
}
