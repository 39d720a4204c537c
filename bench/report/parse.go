package main

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// A line is the result of one benchmark.
type line struct {
	bench  string            // without Benchmark and the number of processors
	labels []string          // its parts: key=value, or a name
	rounds string            // how many there were
	values map[string]string // by unit, as printed
}

// read reads what go test prints. All of it is copied to echo.
func read(r io.Reader, echo io.Writer) ([]line, error) {
	var lines []line
	in := bufio.NewScanner(io.TeeReader(r, echo))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if l, ok := parse(in.Text()); ok {
			lines = append(lines, l)
		}
	}
	return lines, in.Err()
}

// parse reads a line such as "BenchmarkX/k=1-8  5  12 ns/op  3 blocks/s".
func parse(text string) (line, bool) {
	name, ok := strings.CutPrefix(text, "Benchmark")
	fields := strings.Fields(name)
	if !ok || len(fields) < 4 || len(fields)%2 != 0 {
		return line{}, false
	}
	parts := strings.Split(withoutProcs(fields[0]), "/")
	l := line{bench: parts[0], labels: parts[1:], rounds: fields[1], values: map[string]string{}}
	for i := 2; i < len(fields); i += 2 {
		l.values[fields[i+1]] = fields[i]
	}
	return l, true
}

// withoutProcs cuts off the number of processors that go test appends.
func withoutProcs(name string) string {
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		return name
	}
	if _, err := strconv.Atoi(name[at+1:]); err != nil {
		return name
	}
	return name[:at]
}
