// Command chaingen writes a generated regtest chain as a block file, and the
// scripts to look for in the chain. Any node loads the file with -loadblock.
// Bitcoin Core 30 needs -checkblockindex=0 too, or it stops when its data
// directory is empty.
//
//	go run ./chaingen -o chain.dat -q queries.txt
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/seed61375155/trawl/internal/synth"
)

func main() {
	var chain synth.Chain
	flag.Uint64Var(&chain.Seed, "seed", 1, "same seed, same chain")
	flag.IntVar(&chain.Blocks, "blocks", 10_000, "blocks above the genesis block")
	flag.IntVar(&chain.Outputs, "outputs", 2_000, "outputs of each block")
	queries := flag.Int("queries", 10_000, "number of scripts to look for")
	out := flag.String("o", "chain.dat", "block file to write")
	scripts := flag.String("q", "", "file to write the scripts to look for to, hex, one a line")
	flag.Parse()
	err := write(*out, func(w io.Writer) error {
		_, err := chain.WriteTo(w)
		return err
	})
	if err == nil && *scripts != "" {
		err = write(*scripts, func(w io.Writer) error { return list(w, chain.Queries(*queries)) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaingen:", err)
		os.Exit(1)
	}
}

// write fills a new file.
func write(path string, fill func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	return errors.Join(fill(w), w.Flush(), file.Close())
}

func list(w io.Writer, scripts [][]byte) error {
	for _, script := range scripts {
		if _, err := fmt.Fprintln(w, hex.EncodeToString(script)); err != nil {
			return err
		}
	}
	return nil
}
