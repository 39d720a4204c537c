package filters

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
