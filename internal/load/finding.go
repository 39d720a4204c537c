package load

import (
	"cmp"
	"slices"
	"time"
)

// A Rule is a rule that a reply broke, in words for the user.
type Rule string

// The rules.
const (
	WrongReply    Rule = "a reply is not one to its request"
	WrongResult   Rule = "a result is not the beginning of the whole one"
	WrongSearch   Rule = "a search tells what the undisturbed one does not"
	WrongStatus   Rule = "a status shows what no scan can"
	NoScanToMeet  Rule = "a scan was met though none was running"
	ScanNotMet    Rule = "no scan was met though one was running"
	TwoScans      Rule = "two scans ran at a time"
	NobodyAborted Rule = "a scan ended early though nobody aborted it"
	WentBack      Rule = "the progress of a scan fell"
)

// examples is how many findings of a rule are kept.
const examples = 5

// A Finding is one rule with the replies that broke it.
type Finding struct {
	Rule     Rule
	Count    int
	Examples []Example // the first few
}

// An Example is one reply that broke a rule.
type Example struct {
	At   Span
	Text string
}

// findings collects by rule.
type findings map[Rule]*Finding

func (f findings) add(rule Rule, at Span, text string) {
	found := f[rule]
	if found == nil {
		found = &Finding{Rule: rule}
		f[rule] = found
	}
	found.Count++
	if len(found.Examples) < examples {
		found.Examples = append(found.Examples, Example{at, text})
	}
}

// list returns a copy of all, by rule.
func (f findings) list() []Finding {
	all := make([]Finding, 0, len(f))
	for _, found := range f {
		finding := *found
		finding.Examples = slices.Clone(found.Examples)
		all = append(all, finding)
	}
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Compare(a.Rule, b.Rule) })
	return all
}

// copied returns findings to which may be added without changing f.
func (f findings) copied() findings {
	c := findings{}
	for _, found := range f.list() {
		c[found.Rule] = &found
	}
	return c
}

// milliseconds is for texts.
func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
