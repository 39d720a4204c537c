package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// Inside an actor nobody waits: neither for another actor, nor for time to
// pass. An actor that asks does so with ask.Then, or has a job wait beside it. No
// field keeps a job, with which the actor could wait.
func TestActorsNeverWait(t *testing.T) {
	for _, f := range folders(t) {
		if !f.in("actors") {
			continue
		}
		for _, file := range f.files {
			for _, at := range append(
				calls(file, module+"/internal/ask", "Ask", "Control"),
				calls(file, "time", "Sleep")...,
			) {
				t.Errorf("%v: an actor must not wait", positions.Position(at))
			}
			for _, at := range jobFields(file) {
				t.Errorf("%v: a field must not keep a job", positions.Position(at))
			}
		}
	}
}

// jobFields returns where fields of structs have jobs. A function that takes a job does not keep it.
func jobFields(file *ast.File) (found []token.Pos) {
	jobs := calls(file, module+"/internal/ask", "Job")
	ast.Inspect(file, func(n ast.Node) bool {
		fields, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		ast.Inspect(fields, func(n ast.Node) bool {
			if n != nil && slices.Contains(jobs, n.Pos()) {
				found = append(found, n.Pos())
				return false
			}
			_, takes := n.(*ast.FuncType)
			return !takes
		})
		return false
	})
	return found
}

// Fields that have jobs are seen, functions that take jobs are not.
func TestJobFieldsAreSeen(t *testing.T) {
	const source = `package p
import "` + module + `/internal/ask"
type a struct { job *ask.Job; lane *ask.Lane }
type b struct { in struct { jobs []*ask.Job }; do func(*ask.Job) error }
func f(j *ask.Job) { _ = struct { of map[int]ask.Job }{} }
`
	file, err := parser.ParseFile(positions, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if found := jobFields(file); len(found) != 3 {
		t.Errorf("%d fields were found, want 3", len(found))
	}
}

// writeFilters lists the folders that may hold the store of the filter index, which
// writes. All others hold its read-only side.
var writeFilters = []string{"actors/indexer", "internal/index/filter", "store", "bench"}

func TestFiltersHaveOneWriter(t *testing.T) {
	for _, f := range folders(t) {
		if slices.ContainsFunc(writeFilters, f.in) {
			continue
		}
		for _, file := range f.files {
			for _, at := range calls(file, module+"/store/segment", "Store", "Open") {
				t.Errorf("%v: only %v may write filters", positions.Position(at), writeFilters)
			}
		}
	}
}

// Every actor, and the package that puts them together, is tested to leave no
// goroutine behind.
func TestLeaksAreLookedFor(t *testing.T) {
	for _, f := range folders(t) {
		if f.name != "." && !f.in("actors") || len(f.tests) == 0 {
			continue
		}
		looked := false
		for _, file := range f.tests {
			looked = looked || len(calls(file, module+"/internal/actortest", "Main")) > 0
		}
		if !looked {
			t.Errorf("%s: no TestMain calls actortest.Main", f.name)
		}
	}
}
