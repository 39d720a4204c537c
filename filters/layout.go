package filters

import (
	"fmt"
	"sync/atomic"
)

// Layout says which of the stored forms of a filter matchers use.
type Layout string

// The layouts. All give the same answers.
const (
	LayoutAuto  Layout = "auto"  // probe lines where they are faster
	LayoutProbe Layout = "probe" // probe lines wherever a filter has them
	LayoutPlain Layout = "plain" // no probe lines
)

// Layouts lists them.
var Layouts = []Layout{LayoutAuto, LayoutProbe, LayoutPlain}

var forcedLayout atomic.Value // a Layout, where one was set

func chosenLayout() Layout {
	if l, ok := forcedLayout.Load().(Layout); ok {
		return l
	}
	return LayoutAuto
}

// SetLayout makes the matchers that are created from now on use a layout.
// Like [SetKernel] it is for tests and measurements.
func SetLayout(name string) error {
	for _, l := range Layouts {
		if string(l) == name {
			forcedLayout.Store(l)
			return nil
		}
	}
	return fmt.Errorf("no filter layout %q among %q", name, Layouts)
}
