// Command soak runs the long tests, of which `make test` runs a sample, step by step.
// It describes each step, reports results as they come, and lists all results at the
// end. Usage:
//
//	go run ./internal/soak [-kills N] [-flips N] [-cases N] [-steps NAMES] [-without NAMES]
//
// Some steps are left out unless their needs are met. The steps that compare trawld
// with Bitcoin Core need BITCOIND, the path of a bitcoind of Core 30, and one needs
// BITCOIND32, that of a Core 32 or 31.99. The step that
// compares it with qbit needs QBITD, the path of a qbitd of qbit 1.0. The functional
// tests of Core 30.2, of 31.99 and of qbit need CORE_BUILD, CORE32_BUILD and QBIT_BUILD,
// folders that cmake has configured. The steps that cut the power of a disk need root
// on Linux. Tests are skipped that lack a tool, such as strace. The end lists all tests
// that were not run, with the reason, and the run fails because of them unless -without
// names their missing need. An interrupted run ends its processes, removes its files,
// and reports the results so far. It fails when a test does, or when it was interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// Why a run fails whose steps have told the rest.
var (
	errFailed = errors.New("not everything passed")
	errNotRun = errors.New("not everything was run")
)

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	kills := flags.Int("kills", 200, "how often a process is killed, and a fifth of it how often a disk loses power")
	flips := flags.Int("flips", 10_000, "how many bits flip")
	cases := flags.Int("cases", 100_000, "how many cases each comparison and each model tries")
	signatures := flags.Int("signatures", 10_000_000, "how many signatures are tried, and a hundredth of it at edges")
	names := flags.String("steps", "", "names of steps, separated by commas (default all)")
	without := flags.String("without", "", "what may be missing: "+strings.Join(mayBeMissing, ", "))
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*names)
	if err != nil {
		return err
	}
	known, err := expected(*without)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "trawl-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	temp := "TMPDIR=" + dir // all files of a run, so that none stay after an interruption
	s := &soak{
		out: out, without: known, isolated: isolates(ctx), brief: append(os.Environ(), temp),
		env: append(os.Environ(),
			temp, "TRAWL_SOAK="+strconv.Itoa(*kills), "TRAWL_CHAINDB_KILLS="+strconv.Itoa(*kills),
			"TRAWL_FLIPS="+strconv.Itoa(*flips), "TRAWL_SIGNATURES="+strconv.Itoa(*signatures),
			"TRAWL_WALLET_CASES="+strconv.Itoa(*cases), "DIFFER_CASES="+strconv.Itoa(*cases)),
	}
	return s.all(ctx, chosen)
}

// choose returns the steps of these names, all without any.
func choose(names string) ([]step, error) {
	if names == "" {
		return steps, nil
	}
	var chosen []step
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no step %q", name)
		}
		chosen = append(chosen, steps[i])
	}
	return chosen, nil
}

// tools are programs that single tests need, or a system that they are for.
const tools = "tools"

// later is a Bitcoin Core 32, beside which steps run that a Core 30 has, too.
const later = "core32"

// mayBeMissing are things without which something is not run.
var mayBeMissing = []string{"core", later, "qbit", "core-suite", "core32-suite", "qbit-suite", "root", tools}

// expected returns the names of what may be missing.
func expected(names string) ([]string, error) {
	if names == "" {
		return nil, nil
	}
	list := strings.Split(names, ",")
	for _, name := range list {
		if !slices.Contains(mayBeMissing, name) {
			return nil, fmt.Errorf("nothing is called %q, but %s", name, strings.Join(mayBeMissing, ", "))
		}
	}
	return list, nil
}

// A soak is one run.
type soak struct {
	out      io.Writer
	dir      string // within the module; empty: where this runs
	env      []string
	brief    []string // env of steps whose tests are as long as those of `make test`
	isolated bool     // what a step mounts goes away with it
	without  []string
	notRun   []omission
}

// An omission is what was not run.
type omission struct {
	lacks string // of mayBeMissing
	what  string // a step, or a test of it
	why   string
}

// all runs steps one after the other, whatever becomes of them, until the context
// ends.
func (s *soak) all(ctx context.Context, chosen []step) error {
	failed := false
	table := make([]string, 0, len(chosen))
	for i, st := range chosen {
		if ctx.Err() != nil {
			table = append(table, st.name+"\tnot run")
			continue
		}
		fmt.Fprintf(s.out, "\n[%d/%d] %s: %s\n", i+1, len(chosen), st.name, st.what)
		if why := lacks(st.needs, s.isolated); why != "" {
			fmt.Fprintln(s.out, "    left out:", why)
			table = append(table, st.name+"\tleft out: "+why)
			s.notRun = append(s.notRun, omission{st.needs, st.name, why})
			continue
		}
		began := time.Now()
		got, err := s.step(ctx, &st)
		failed = failed || err != nil
		for _, skip := range got.skips {
			s.notRun = append(s.notRun, omission{tools, st.name + ": " + skip.test, skip.why})
		}
		table = append(
			table, fmt.Sprintf("%s\t%s\t%v", st.name, got.verdict(ctx, err), time.Since(began).Round(time.Second)),
		)
	}
	fmt.Fprintln(s.out)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(table, "\n"))
	_ = w.Flush() // to the same place as everything else
	unexpected := s.tellNotRun()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case failed:
		return errFailed
	case unexpected:
		return errNotRun
	}
	return nil
}

// tellNotRun lists what was not run, and reports whether something is missing that nobody has named.
func (s *soak) tellNotRun() (unexpected bool) {
	if len(s.notRun) == 0 {
		return false
	}
	fmt.Fprintln(s.out, "\nNOT RUN:")
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, o := range s.notRun {
		fmt.Fprintf(w, "  %s\t%s\n", o.what, o.why)
		unexpected = unexpected || !slices.Contains(s.without, o.lacks)
	}
	_ = w.Flush() // as above
	if unexpected {
		fmt.Fprintf(s.out, "\nName what may be missing: WITHOUT=%s\n", strings.Join(mayBeMissing, ","))
	}
	return unexpected
}
