// Command report runs the benchmarks of package bench and writes their results,
// with the machine and the command, to bench/results. Run it in the folder bench,
// on a machine that has nothing else to do:
//
//	go run ./report                           # all of them
//	go run ./report -name match -bench Match  # some, chosen as with go test
//	go run ./report -plot FILE.md             # draws the picture of README
//
// With BITCOIND=/path/to/bitcoind in the environment, Bitcoin Core 30 is
// measured in the same run. Results from before a failure are written too.
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
	"strings"
	"time"
)

// options are the command line.
type options struct {
	blocks, outputs, rounds, elements, coins int
	bench                                    string // as go test takes it
	packages                                 string // folders, by commas
	chains                                   string // to import: short or long
	dir, name                                string
	timeout                                  time.Duration // of each package; 0 for none
}

// defaultCoins is a set that fits into the cache.
const defaultCoins = 2_000_000

func main() {
	var o options
	flag.IntVar(&o.blocks, "blocks", 10_000, "blocks of the chain")
	flag.IntVar(&o.outputs, "outputs", 2_000, "outputs of each block")
	flag.IntVar(&o.rounds, "rounds", 7, "rounds of each benchmark")
	flag.IntVar(&o.elements, "elements", 500_000_000, "elements of the generated store")
	flag.IntVar(&o.coins, "coins", defaultCoins, "coins of the set that old coins are spent from")
	flag.StringVar(&o.chains, "chains", "short", "chains to import: short or long")
	flag.StringVar(&o.bench, "bench", ".", "pattern of the benchmarks to run")
	flag.StringVar(&o.packages, "packages", ownPackage, "folders of the packages that have them, with commas between")
	flag.StringVar(&o.name, "name", "all", "what it is, for the name of the file")
	flag.StringVar(&o.dir, "dir", "results", "folder to write to")
	flag.DurationVar(&o.timeout, "timeout", 0, "how long the benchmarks of a package may take, 0 for ever")
	results := flag.String("plot", "", "draw the calls of scanblocks in a file of results, and measure nothing")
	picture := flag.String("picture", "../docs/pictures/speed.svg", "the picture to draw")
	flag.Parse()
	if *results != "" {
		if err := plot(*results, *picture); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	began, before := time.Now(), loadAverage()
	var lines []line
	var failure error
	for folder := range strings.SplitSeq(o.packages, ",") {
		more, err := measure(o, folder)
		lines = append(lines, more...)
		if err != nil {
			failure = errors.Join(failure, fmt.Errorf("%s: %w", folder, err))
		}
	}
	if len(lines) == 0 {
		return errors.Join(errors.New("no such benchmark"), failure)
	}
	var out bytes.Buffer
	writeHeader(&out, o, before, time.Since(began))
	if failure != nil {
		fmt.Fprintf(&out, "- Incomplete: %v\n", failure)
	}
	writeTables(&out, lines)
	path := filepath.Join(o.dir, o.fileName())
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "written:", path)
	return errors.Join(os.WriteFile(path, out.Bytes(), 0o644), failure)
}

// ownPackage is the package that knows the flags about chains and stores.
const ownPackage = "."

// measure builds and runs the benchmarks of a package, and shows what they print.
// It runs the program itself, as go test would mix the two things that it prints.
func measure(o options, folder string) (lines []line, err error) {
	build, err := os.MkdirTemp("", "trawl-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(build)) }()
	program := filepath.Join(build, "bench.test")
	compile := exec.Command("go", "test", "-c", "-o", program, ".")
	compile.Dir = folder
	compile.Stdout, compile.Stderr = os.Stderr, os.Stderr
	if err := compile.Run(); err != nil {
		return nil, err
	}
	args := []string{
		"-test.run=^$", "-test.timeout=" + o.timeout.String(), "-test.bench=" + o.bench,
		"-test.benchtime=" + strconv.Itoa(o.rounds) + "x",
	}
	if folder == ownPackage {
		args = append(args, "-blocks="+strconv.Itoa(o.blocks), "-outputs="+strconv.Itoa(o.outputs),
			"-elements="+strconv.Itoa(o.elements), "-coins="+strconv.Itoa(o.coins), "-chains="+o.chains)
	}
	test := exec.Command(program, args...)
	test.Dir, test.Stderr = folder, os.Stderr
	stdout, err := test.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := test.Start(); err != nil {
		return nil, err
	}
	lines, err = read(stdout, os.Stdout)
	_, rest := io.Copy(io.Discard, stdout)
	return lines, errors.Join(err, rest, test.Wait())
}

func (o options) fileName() string { return time.Now().Format(time.DateOnly) + "-" + o.name + ".md" }

// command is how to repeat the measurement.
func (o options) command() string {
	packages := ""
	if o.packages != ownPackage {
		packages = " -packages " + o.packages
	}
	if o.chains != "short" {
		packages += " -chains " + o.chains
	}
	if o.coins != defaultCoins {
		packages += " -coins " + strconv.Itoa(o.coins)
	}
	return fmt.Sprintf("go -C bench run ./report -name %s -bench '%s'%s -blocks %d -outputs %d -elements %d -rounds %d",
		o.name, o.bench, packages, o.blocks, o.outputs, o.elements, o.rounds)
}
