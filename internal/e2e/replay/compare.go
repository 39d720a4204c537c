package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// A DiffKind says in what way two answers differ.
type DiffKind string

// The kinds of differences.
const (
	Status       DiffKind = "status" // of HTTP
	Body         DiffKind = "body"   // as a whole, or not JSON
	Type         DiffKind = "type"
	Value        DiffKind = "value"
	NumberText   DiffKind = "numtext" // the same number in other digits
	KeyOrder     DiffKind = "keyorder"
	Order        DiffKind = "order" // the same elements in another order
	Length       DiffKind = "length"
	Missing      DiffKind = "missing"
	Extra        DiffKind = "extra"
	Precondition DiffKind = "precondition" // the node is not in the state wanted
	Connection   DiffKind = "connection"
)

// A Diff is one difference between the recorded answer and the node's.
type Diff struct {
	Kind DiffKind
	Path string // JSON pointer
	Text string
}

// String returns the difference in one line.
func (d Diff) String() string { return fmt.Sprintf("[%s] %s: %s", d.Kind, d.Path, d.Text) }

// soft reports whether the difference is one of writing, not of contents.
func (d Diff) soft() bool { return d.Kind == NumberText || d.Kind == KeyOrder }

func same(diffs []Diff) bool {
	return !slices.ContainsFunc(diffs, func(d Diff) bool { return !d.soft() })
}

// comparison compares the parts of one answer.
type comparison struct {
	rules *Rules
	diffs []Diff
}

func (c *comparison) add(kind DiffKind, path []string, format string, args ...any) {
	c.diffs = append(c.diffs, Diff{kind, "/" + strings.Join(path, "/"), fmt.Sprintf(format, args...)})
}

// probe compares two parts without reporting.
func (c *comparison) probe(path []string, want, got *jsontree.Value) []Diff {
	p := comparison{rules: c.rules}
	p.compare(path, want, got)
	return p.diffs
}

func (c *comparison) compare(path []string, want, got *jsontree.Value) {
	if c.rules.ignore.has(path) {
		return
	}
	kind := want.Kind()
	if got.Kind() != kind {
		c.add(Type, path, "want %v %s, got %v %s", kind, show(want), got.Kind(), show(got))
		return
	}
	if c.rules.types.has(path) {
		return
	}
	switch kind {
	case jsontree.Object:
		c.objects(path, want, got)
	case jsontree.Array:
		if c.rules.unordered.has(path) {
			c.multisets(path, want, got)
		} else {
			c.arrays(path, want, got)
		}
	case jsontree.Number:
		c.numbers(path, want, got)
	case jsontree.String:
		if !matches(want.Text(), got.Text()) {
			c.add(Value, path, "want %s, got %s", show(want), show(got))
		}
	default:
		if want.String() != got.String() {
			c.add(Value, path, "want %s, got %s", show(want), show(got))
		}
	}
}

func (c *comparison) numbers(path []string, want, got *jsontree.Value) {
	switch {
	case want.Text() == got.Text():
	case sameNumber(want.Text(), got.Text()):
		c.add(NumberText, path, "the same number in other digits: want %s, got %s", show(want), show(got))
	default:
		c.add(Value, path, "want %s, got %s", show(want), show(got))
	}
}

func (c *comparison) objects(path []string, want, got *jsontree.Value) {
	wantKeys, gotKeys := keys(want), keys(got)
	for _, key := range wantKeys {
		if at := below(path, key); !slices.Contains(gotKeys, key) && !c.rules.ignore.has(at) {
			c.add(Missing, at, "want %s", show(want.Get(key)))
		}
	}
	if !c.rules.subset.has(path) {
		for _, key := range gotKeys {
			if at := below(path, key); !slices.Contains(wantKeys, key) && !c.rules.ignore.has(at) {
				c.add(Extra, at, "got %s", show(got.Get(key)))
			}
		}
	}
	if hasDuplicates(wantKeys) || hasDuplicates(gotKeys) {
		c.membersInOrder(path, want, got)
		return
	}
	for key, member := range want.Members() {
		if slices.Contains(gotKeys, key) {
			c.compare(below(path, key), member, got.Get(key))
		}
	}
	common := slices.DeleteFunc(slices.Clone(wantKeys), func(key string) bool { return !slices.Contains(gotKeys, key) })
	order := slices.DeleteFunc(slices.Clone(gotKeys), func(key string) bool { return !slices.Contains(wantKeys, key) })
	if !slices.Equal(common, order) {
		c.add(KeyOrder, path, "want %q, got %q", common, order)
	}
}

// membersInOrder compares objects in which a key stands more than once.
func (c *comparison) membersInOrder(path []string, want, got *jsontree.Value) {
	wantKeys, gotKeys := keys(want), keys(got)
	if !slices.Equal(wantKeys, gotKeys) {
		c.add(Value, path, "duplicate keys differ: want %q, got %q", wantKeys, gotKeys)
	}
	for i := range min(len(wantKeys), len(gotKeys)) {
		c.compare(below(path, wantKeys[i]), want.At(i), got.At(i))
	}
}

func (c *comparison) arrays(path []string, want, got *jsontree.Value) {
	if want.Len() != got.Len() {
		c.add(Length, path, "want %d elements, got %d; want %s, got %s", want.Len(), got.Len(), show(want), show(got))
		return
	}
	ordered := comparison{rules: c.rules}
	for i, element := range want.Elements() {
		ordered.compare(below(path, strconv.Itoa(i)), element, got.At(i))
	}
	if !same(ordered.diffs) && want.Len() > 1 {
		anyOrder := comparison{rules: c.rules}
		anyOrder.multisets(path, want, got)
		if same(anyOrder.diffs) {
			c.add(Order, path, "the same elements in another order: want %s, got %s", show(want), show(got))
			return
		}
	}
	c.diffs = append(c.diffs, ordered.diffs...)
}

func (c *comparison) multisets(path []string, want, got *jsontree.Value) {
	if want.Len() != got.Len() {
		c.add(Length, path, "want %d elements, got %d", want.Len(), got.Len())
	}
	var rest []*jsontree.Value
	for _, element := range got.Elements() {
		rest = append(rest, element)
	}
	var soft []Diff
	for i, element := range want.Elements() {
		at := below(path, strconv.Itoa(i))
		found := slices.IndexFunc(rest, func(candidate *jsontree.Value) bool {
			return same(c.probe(at, element, candidate))
		})
		if found < 0 {
			c.add(Missing, at, "no such element: %s", show(element))
			continue
		}
		soft = append(soft, c.probe(at, element, rest[found])...)
		rest = slices.Delete(rest, found, found+1)
	}
	for _, element := range rest {
		c.add(Extra, path, "unexpected element: %s", show(element))
	}
	c.diffs = append(c.diffs, soft...)
}

func keys(object *jsontree.Value) []string {
	names := make([]string, 0, object.Len())
	for key := range object.Members() {
		names = append(names, key)
	}
	return names
}

func hasDuplicates(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) < len(names)
}

// below returns the path of a child. It never shares memory with another path.
func below(path []string, key string) []string { return append(slices.Clip(path), key) }

// show returns a value as compact JSON, cut to a length that fits a report.
func show(v *jsontree.Value) string { return cut(v.String()) }

func cut(text string) string {
	const limit = 300
	if len(text) > limit {
		return fmt.Sprintf("%s… (%d bytes)", text[:limit], len(text))
	}
	return text
}
