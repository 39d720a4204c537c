// The slowest command passes on what `go test` prints and names the slowest packages at
// the end.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// shown is how many packages are named.
const shown = 10

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slowest:", err)
		os.Exit(1)
	}
}

// timed is a package and how long its tests took.
type timed struct {
	name    string
	seconds float64
}

func run(in io.Reader, out io.Writer) error {
	var all []timed
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if _, err := io.WriteString(out, line); err != nil {
			return err
		}
		if t, ok := parse(line); ok {
			all = append(all, t)
		}
		if err == io.EOF {
			return report(out, all)
		}
		if err != nil {
			return err
		}
	}
}

// parse reads a line like "ok  	example.com/a	1.234s".
func parse(line string) (t timed, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 || fields[0] != "ok" && fields[0] != "FAIL" {
		return t, false
	}
	text, isTime := strings.CutSuffix(fields[2], "s")
	seconds, err := strconv.ParseFloat(text, 64)
	return timed{fields[1], seconds}, isTime && err == nil
}

func report(out io.Writer, all []timed) error {
	if len(all) <= 1 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	var text strings.Builder
	text.WriteString("slowest packages:\n")
	for _, t := range all[:min(shown, len(all))] {
		fmt.Fprintf(&text, "%8.1f s  %s\n", t.seconds, t.name)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
