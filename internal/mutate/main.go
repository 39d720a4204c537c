// Command mutate breaks the code that decides, one place at a time, and counts how often
// the tests of its own package notice. Usage:
//
//	go run ./internal/mutate [-n N] [-seed S] [-write FILE] [PACKAGE...]
//
// Of each package it takes N places by chance, the same for the same seed. Nothing in
// the tree is changed: the go command is given the broken file as an overlay. A change
// is killed when the tests fail, or take longer than three times what they take
// otherwise; it survives when they pass. Changes that do not compile are not counted.
// Code without an effect that matters is not changed: the log, values beside a returned
// error, room of slices. The file testdata/equivalent.txt names changes that make no
// difference, with the reason.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// deciding are the packages whose lines decide what is valid, found, kept or allowed.
var deciding = []string{
	"./filters", "./internal/match", "./actors/scanner", "./internal/ask", "./internal/follow",
	"./store/chaindb", "./store/internal/ledger", "./store/segment", "./store/walletdb",
	"./internal/engine/pruning", "./internal/engine/forkchoice", "./internal/engine/coincache",
	"./internal/engine/chainstate", "./internal/engine/qbit", "./internal/consensus", "./internal/consensus/script",
	"./internal/txpool", "./internal/wallet/book", "./internal/wallet/vault", "./internal/wallet/keys",
	"./internal/wallet/txs", "./rpc", "./rpc/rest", "./rpc/web", "./rpc/web/chart", "./actors/notify",
	"./internal/metrics", "./actors/cluster", "./actors/searches", "./store/searchdb",
	"./internal/wallet/coinselect", "./internal/wallet/spend", "./internal/rawtx",
	"./rpc/forward", "./rpc/eventstream", "./actors/corepool", "./actors/peers", "./internal/receipt",
	"./internal/search/widen", "./rpc/method/internal/history", "./rpc/method/walletrpc/internal/labels",
	"./actors/sync", "./actors/relay", "./internal/p2p", "./descriptor",
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	n := flags.Int("n", 20, "places of each package")
	seed := flags.Uint64("seed", 1, "chooses the places")
	write := flags.String("write", "", "write the table into this file too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages := flags.Args()
	if len(packages) == 0 {
		packages = deciding
	}
	same, err := readEquivalent("internal/mutate/testdata/equivalent.txt")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "trawl-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	t := &trial{dir: dir, out: out, n: *n, seed: *seed, equivalent: same}
	var rows []row
	for _, pattern := range packages {
		r, err := t.pkg(ctx, pattern)
		if err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		rows = append(rows, r)
	}
	text := table(rows, *n, *seed)
	fmt.Fprintf(out, "\n%s", text)
	if *write == "" {
		return nil
	}
	return os.WriteFile(*write, []byte(text), 0o600)
}
