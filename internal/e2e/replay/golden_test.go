package replay

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// TestRecordedAnswers: every recorded answer matches itself, and does not after
// a change at a random place, unless the case says that the place is of no
// matter.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*/*.jsonl*")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	seen := 0
	for _, file := range files {
		for c, err := range Cases(file) {
			if err != nil {
				t.Fatal(err)
			}
			// The largest answers have thousands of places to walk over.
			if c.Response == nil || len(*c.Response) > 20_000 {
				continue
			}
			if diffs := CompareBody(*c.Response, *c.Response, &c.Compare); len(diffs) > 0 {
				t.Errorf("%s %s: does not match itself: %v", file, c.Name, diffs)
			}
			if checkChange(t, random, c) {
				seen++
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d changes were tried", seen)
	}
}

// checkChange changes one leaf of the answer. It returns false when the answer
// has none that matters.
func checkChange(t *testing.T, random *rand.Rand, c *Case) bool {
	t.Helper()
	tree, err := jsontree.Parse([]byte(*c.Response))
	if err != nil {
		return false
	}
	var paths [][]string
	leaves(tree, nil, func(path []string) { paths = append(paths, path) })
	path := paths[random.IntN(len(paths))]
	if silent(&c.Compare, path) {
		return false
	}
	changed := change(tree, path)
	if diffs := CompareBody(*c.Response, changed.String(), &c.Compare); len(diffs) == 0 {
		t.Errorf("%s: a change at /%s goes unnoticed", c.Name, strings.Join(path, "/"))
	}
	return true
}

func leaves(v *jsontree.Value, path []string, visit func([]string)) {
	if v.Len() == 0 {
		visit(path)
	}
	for key, member := range v.Members() {
		leaves(member, below(path, key), visit)
	}
	for i, element := range v.Elements() {
		leaves(element, below(path, strconv.Itoa(i)), visit)
	}
}

// silent reports whether the rules let any value pass at a place.
func silent(rules *Rules, path []string) bool {
	if rules.Mode == "any" || rules.Error == "exists" {
		return true
	}
	for n := range len(path) + 1 {
		if rules.ignore.has(path[:n]) || rules.types.has(path[:n]) {
			return true
		}
	}
	last := len(path) - 1
	return rules.Error == "code" && last >= 0 && path[last] == "message"
}

// change returns a copy of v in which the first leaf at path has another kind.
func change(v *jsontree.Value, path []string) *jsontree.Value {
	if len(path) == 0 {
		if v.IsNull() {
			return jsontree.NewBool(true)
		}
		return jsontree.NewNull()
	}
	if v.Kind() == jsontree.Array {
		array := jsontree.NewArray()
		for i, element := range v.Elements() {
			if strconv.Itoa(i) == path[0] {
				element = change(element, path[1:])
			}
			array.Append(element)
		}
		return array
	}
	object := jsontree.NewObject()
	for key, member := range v.Members() {
		if key == path[0] {
			member = change(member, path[1:])
		}
		object.Add(key, member)
	}
	return object
}
