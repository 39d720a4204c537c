package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The picture in README is of the results that stand beside it, and their numbers are those of
// README's table.
func TestPlotOfReadme(t *testing.T) {
	const results, picture = "../results/2026-11-20-rpc-20000x5000.md", "../../docs/pictures/speed.svg"
	made := filepath.Join(t.TempDir(), "speed.svg")
	if err := plot(results, made); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not current: go -C bench run ./report -plot %s", picture, strings.TrimPrefix(results, "../"))
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	points, err := callTimes(string(text))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| ([\d,]+) \|.*\| ([\d.,]+) ms \| ([\d,]+) ms \| [\d]+x \|$`)
	table := row.FindAllStringSubmatch(string(readme), -1)
	if len(table) != len(points) {
		t.Fatalf("README has %d rows, the results %d", len(table), len(points))
	}
	for i, p := range points {
		for at, value := range []float64{p.scripts, p.trawl, p.core} {
			shown, err := strconv.ParseFloat(strings.ReplaceAll(table[i][at+1], ",", ""), 64)
			if err != nil || math.Abs(shown-value) > 0.03*value {
				t.Errorf("README shows %s where the results have %v", table[i][at+1], value)
			}
		}
	}
}

func TestPlotOfNothing(t *testing.T) {
	for _, text := range []string{
		"", "## ScanBlocks\n",
		"## ScanBlocks\n\n| k | ffp | ms |\n| --- | --- | ---: |\n| 1 | off | 3 |\n",
	} {
		if points, err := callTimes(text); err == nil {
			t.Errorf("%q has %v", text, points)
		}
	}
}
