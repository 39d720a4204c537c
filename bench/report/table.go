package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// writeTables writes a table for each benchmark, in order of appearance.
func writeTables(w io.Writer, lines []line) {
	for len(lines) > 0 {
		var of, others []line
		for _, l := range lines {
			if l.bench == lines[0].bench {
				of = append(of, l)
			} else {
				others = append(others, l)
			}
		}
		writeTable(w, of)
		lines = others
	}
}

func writeTable(w io.Writer, lines []line) {
	keys := labelKeys(lines[0])
	columns := columnsOf(lines)
	fmt.Fprintf(w, "\n## %s\n\n", lines[0].bench)
	if method := methods[lines[0].bench]; method != "" {
		fmt.Fprintf(w, "%s\n\n", method)
	}
	writeRow(w, slices.Concat(keys, columns))
	writeRow(w, slices.Concat(slices.Repeat([]string{"---"}, len(keys)), slices.Repeat([]string{"---:"}, len(columns))))
	for _, l := range lines {
		row := make([]string, 0, len(keys)+len(columns))
		for i, key := range keys {
			row = append(row, labelValue(l, i, key))
		}
		for _, unit := range columns {
			row = append(row, l.values[unit])
		}
		writeRow(w, row)
	}
	writeLegend(w, columns)
}

func writeRow(w io.Writer, cells []string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}

// labelKeys returns the headings of the first columns.
func labelKeys(l line) []string {
	keys := make([]string, len(l.labels))
	for i, label := range l.labels {
		keys[i], _, _ = strings.Cut(label, "=")
	}
	return keys
}

// labelValue returns the cell of one of the first columns: the value, with its
// key where that is not the column's heading.
func labelValue(l line, i int, heading string) string {
	if i >= len(l.labels) {
		return ""
	}
	if value, ok := strings.CutPrefix(l.labels[i], heading+"="); ok {
		return value
	}
	return l.labels[i]
}

// columnsOf returns the units that the lines have, in the order of units. Go's
// own ns/op is left out: the benchmarks say the same in better units.
func columnsOf(lines []line) []string {
	var present []string
	for _, l := range lines {
		for unit := range l.values {
			if unit != "ns/op" && !slices.Contains(present, unit) {
				present = append(present, unit)
			}
		}
	}
	rank := func(unit string) int {
		for i := range units {
			if units[i].name == unit {
				return i
			}
		}
		return len(units)
	}
	slices.SortFunc(present, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return present
}

// writeLegend explains the columns that need it.
func writeLegend(w io.Writer, columns []string) {
	fmt.Fprintln(w)
	for _, unit := range units {
		if unit.meaning != "" && slices.Contains(columns, unit.name) {
			fmt.Fprintf(w, "- %s: %s\n", unit.name, unit.meaning)
		}
	}
}
