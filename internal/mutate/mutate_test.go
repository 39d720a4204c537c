package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

import "fmt"

func Sum(from, to int) (n int) {
	for i := from; i < to; i++ {
		if i == 3 {
			continue
		}
		n += i
	}
	fmt.Errorf("not %d", 1+1)
	return n
}

func (Unused) String() string { return "a" + "b" }

type Unused struct{}
`

// sampleOfRoom has places of one name, and values that nobody looks at.
const sampleOfRoom = `package sample

var errSame error

func Two(a, b int) ([]int, error) {
	if a == b || b == a {
		return make([]int, 1), errSame
	}
	m := make(map[int]int, 7)
	return make([]int, len(m)+2, 5), nil
}
`

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPlaces(t *testing.T) {
	var got []string
	for _, text := range []string{sample, sampleOfRoom} {
		places, source, err := placesOf(filepath.Join(write(t, map[string]string{"sample.go": text}), "sample.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			got = append(got, p.name(source))
		}
	}
	slices.Sort(got)
	want := []string{
		"Sum: continue: continue becomes break",
		"Sum: for i := from; i < to; i++ {: < becomes <=",
		"Sum: if i == 3 {: 3 becomes 4",
		"Sum: if i == 3 {: == becomes !=",
		"Sum: if i == 3 {: the condition is never met",
		"Sum: n += i: left out",
		"Two: if a == b || b == a {: == becomes !=",
		"Two: if a == b || b == a {: == becomes != (2)",
		"Two: if a == b || b == a {: the condition is never met",
		"Two: if a == b || b == a {: || becomes &&",
		"Two: return make([]int, len(m)+2, 5), nil: + becomes -",
		"Two: return make([]int, len(m)+2, 5), nil: 2 becomes 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A change is counted as what the package's tests make of it, and a change that is
// known to make no difference is not tried.
func TestTrial(t *testing.T) {
	t.Chdir(write(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.24\n", "sample.go": sample,
		"sample_test.go": `package sample

import "testing"

func TestSum(t *testing.T) {
	if n := Sum(1, 3); n != 3 {
		t.Error(n)
	}
}
`,
	}))
	var out bytes.Buffer
	trial := trial{dir: t.TempDir(), out: &out, n: 100, equivalent: map[string]string{
		". sample.go Sum: if i == 3 {: 3 becomes 4": "for the test",
	}}
	r, err := trial.pkg(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.survived)
	// The test does not reach the value 3.
	want := []string{
		"sample.go Sum: continue: continue becomes break",
		"sample.go Sum: for i := from; i < to; i++ {: < becomes <=",
		"sample.go Sum: if i == 3 {: the condition is never met",
	}
	if r.killed != 2 || r.timedOut != 0 || r.equivalent != 1 || !slices.Equal(r.survived, want) {
		t.Errorf("got %+v, want 2 killed, and survivors %q", r, want)
	}
	text := table([]row{r}, 100, 0)
	if !strings.Contains(text, "| . | 2 | 0 | 3 | 1 | 40 % |") || !strings.Contains(text, "survived in .: "+want[0]) {
		t.Errorf("got %s", text)
	}
}

// Tests that fail without a change are no measure.
func TestTrialOfFailingTests(t *testing.T) {
	t.Chdir(write(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.24\n", "sample.go": sample,
		"sample_test.go": "package sample\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) { t.Error(1) }\n",
	}))
	trial := trial{dir: t.TempDir(), out: new(bytes.Buffer), n: 1}
	if _, err := trial.pkg(t.Context(), "."); err == nil || !strings.Contains(err.Error(), "fail as they are") {
		t.Errorf("got %v", err)
	}
}

func TestReadEquivalent(t *testing.T) {
	dir := write(t, map[string]string{"same.txt": "# a comment\n./a f.go F: x: left out\tit is set again below\n"})
	same, err := readEquivalent(filepath.Join(dir, "same.txt"))
	if err != nil || len(same) != 1 || same["./a f.go F: x: left out"] != "it is set again below" {
		t.Errorf("got %v, %v", same, err)
	}
	if same, err := readEquivalent(filepath.Join(dir, "none")); err != nil || len(same) != 0 {
		t.Errorf("without a file: %v, %v", same, err)
	}
}

func TestArguments(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"./internal/mutate"}, new(bytes.Buffer)); err == nil {
		t.Error("a run that was interrupted says nothing")
	}
	if err := run(t.Context(), []string{"-n", "x"}, new(bytes.Buffer)); err == nil {
		t.Error("a wrong argument is taken")
	}
}
