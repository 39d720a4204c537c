package filters

import (
	"cmp"
	"fmt"
	"slices"
)

// A Method is how matchers look: by which of the kernels that this processor can run,
// and by which layout. All methods give the same answers; the zero value is the
// fastest, the others are for tests and measurements, and for who keeps no probe lines.
type Method struct {
	chosen *kernel // nil: the fastest
	layout Layout  // empty: LayoutAuto
}

// NewMethod returns the method of a kernel, one of [KernelNames], and a layout, one of
// [Layouts]. An empty name stands for the kernel or layout of the zero value. The error
// says that there is no such layout or kernel, or that this processor cannot run the
// kernel.
func NewMethod(kernel, layout string) (m Method, err error) {
	if layout != "" {
		if m.layout = Layout(layout); !slices.Contains(Layouts, m.layout) {
			return Method{}, fmt.Errorf("no filter layout %q among %q", layout, Layouts)
		}
	}
	if kernel == "" {
		return m, nil
	}
	for _, k := range kernels {
		if k.name == kernel {
			m.chosen = k
			return m, nil
		}
	}
	return Method{}, fmt.Errorf("no kernel %q among %q", kernel, KernelNames())
}

// Kernel returns the name of the kernel.
func (m Method) Kernel() string { return m.kernel().name }

// Layout returns the layout.
func (m Method) Layout() Layout { return cmp.Or(m.layout, LayoutAuto) }

func (m Method) kernel() *kernel {
	if m.chosen != nil {
		return m.chosen
	}
	return kernels[0]
}

// NewMatcher returns a matcher for the query that works by the method.
func (m Method) NewMatcher(q *Query) *Matcher {
	matcher := new(Matcher)
	matcher.Reset(q, m)
	return matcher
}
