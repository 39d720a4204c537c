package cores

import (
	"runtime"
	"testing"
)

// Headroom is for those who do not compute.
func TestHeadroom(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	AddHeadroom()
	if got := runtime.GOMAXPROCS(0); got != 2*atStart || Count() != atStart {
		t.Errorf("%d goroutines at a time, %d of them for work, of %d", got, Count(), atStart)
	}
	runtime.GOMAXPROCS(1)
	if Count() != 1 {
		t.Errorf("%d goroutines for one processor", Count())
	}
}
