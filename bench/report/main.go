// Command report runs the benchmarks of package bench and writes what they
// found, with the machine and the command, to bench/results.
//
//	go run ./bench/report                           # all of them
//	go run ./bench/report -name match -bench Match  # some, chosen as with go test
//
// Run it in the root of the repository, on a machine that has nothing else to
// do. With BITCOIND=/path/to/bitcoind in the environment, Bitcoin Core 30 is
// measured in the same run.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// options are the command line.
type options struct {
	blocks, outputs, rounds, elements int
	bench                             string // as go test takes it
	dir, name                         string
}

func main() {
	var o options
	flag.IntVar(&o.blocks, "blocks", 10_000, "blocks of the chain")
	flag.IntVar(&o.outputs, "outputs", 2_000, "outputs of each block")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of each benchmark")
	flag.IntVar(&o.elements, "elements", 500_000_000, "elements of the generated store")
	flag.StringVar(&o.bench, "bench", ".", "pattern of the benchmarks to run")
	flag.StringVar(&o.name, "name", "all", "what it is, for the name of the file")
	flag.StringVar(&o.dir, "dir", "bench/results", "folder to write to")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	before := loadAverage()
	lines, err := measure(o)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return errors.New("no such benchmark")
	}
	var out bytes.Buffer
	writeHeader(&out, o, before)
	writeTables(&out, lines)
	path := filepath.Join(o.dir, o.fileName())
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "written:", path)
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// measure runs go test and shows what it prints.
func measure(o options) ([]line, error) {
	test := exec.Command("go", "test", "-run=^$", "-timeout=0", "-bench="+o.bench,
		"-benchtime="+strconv.Itoa(o.rounds)+"x", "./bench",
		"-blocks="+strconv.Itoa(o.blocks), "-outputs="+strconv.Itoa(o.outputs), "-elements="+strconv.Itoa(o.elements))
	test.Stderr = os.Stderr
	stdout, err := test.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := test.Start(); err != nil {
		return nil, err
	}
	lines, err := read(stdout, os.Stdout)
	_, rest := io.Copy(io.Discard, stdout)
	return lines, errors.Join(err, rest, test.Wait())
}

func (o options) fileName() string { return time.Now().Format(time.DateOnly) + "-" + o.name + ".md" }

// command is how to repeat the measurement.
func (o options) command() string {
	return fmt.Sprintf("go run ./bench/report -name %s -bench '%s' -blocks %d -outputs %d -elements %d -rounds %d",
		o.name, o.bench, o.blocks, o.outputs, o.elements, o.rounds)
}
