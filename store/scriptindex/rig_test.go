package scriptindex_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/scriptindex"
)

// few are limits that small chains reach.
var few = scriptindex.Limits{Elements: 400, Blocks: 6, Kept: 4, Tables: 3, Runs: 5}

func options(dir string, fs vfs.FS) scriptindex.Options {
	return scriptindex.Options{FS: fs, Dir: dir, Network: [4]byte{1, 2, 3, 4}, Limits: few}
}

func open(tb testing.TB, o scriptindex.Options) *scriptindex.Store {
	tb.Helper()
	s, err := scriptindex.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func closeStore(tb testing.TB, s *scriptindex.Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// logged returns a log and its text.
func logged() (*slog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.New(slog.NewTextHandler(&b, nil)), &b
}

// script is the hash of one of some scripts.
func script(n int) *[sha256.Size]byte {
	sum := sha256.Sum256(fmt.Append(nil, "script ", n))
	return &sum
}

// A made is a block of a test's chain: its scripts follow from its hash.
type made struct {
	scriptindex.Position

	scripts []int
}

const scripts = 60

// makeBlock makes the block of a branch at a height.
func makeBlock(branch, height int) made {
	b := made{Position: scriptindex.Position{Height: int32(height)}}
	seed := binary.LittleEndian.AppendUint64(nil, uint64(branch)<<32|uint64(height))
	b.Hash = chainhash.Hash(sha256.Sum256(seed))
	r := rand.New(rand.NewPCG(uint64(branch), uint64(height)))
	b.scripts = append(b.scripts, 0, 1+height%2) // two that many blocks have
	for range r.IntN(20) {
		b.scripts = append(b.scripts, r.IntN(scripts))
	}
	slices.Sort(b.scripts)
	b.scripts = slices.Compact(b.scripts)
	return b
}

func keys(s *scriptindex.Store, b made) (list []scriptindex.Key) {
	for _, n := range b.scripts {
		list = append(list, s.KeyOf(script(n)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A chain is what a store was told.
type chain []made

// add adds blocks of a branch up to a height.
func (c *chain) add(tb testing.TB, s *scriptindex.Store, branch, to int, left int32) error {
	tb.Helper()
	for h := len(*c); h <= to; h++ {
		b := makeBlock(branch, h)
		if err := s.Add(b.Position, keys(s, b), left+int32(to-h)); err != nil {
			return err
		}
		*c = append(*c, b)
	}
	return nil
}

// back takes n blocks back.
func (c *chain) back(s *scriptindex.Store, n int) error {
	for range n {
		before := scriptindex.Position{Height: -1}
		if l := len(*c); l > 1 {
			before = (*c)[l-2].Position
		}
		if err := s.Back(before); err != nil {
			return err
		}
		*c = (*c)[:len(*c)-1]
	}
	return nil
}

// check holds a store against the chain: it is at its end, and each script is found in all blocks that have it. It
// returns how many were told for nothing.
func (c *chain) check(tb testing.TB, s *scriptindex.Store) (extra int) {
	tb.Helper()
	blocks := *c
	hash, height, ok := s.Best()
	if !ok && len(blocks) > 0 || ok && (int(height) != len(blocks)-1 || hash != blocks[height].Hash) {
		tb.Fatalf("best block at %d, want %d", height, len(blocks)-1)
	}
	for n := range scripts + 20 {
		found, err := s.Find(s.KeyOf(script(n)), 1<<20)
		if err != nil {
			tb.Fatal(err)
		}
		if !slices.IsSorted(found.Heights) || found.Blocks != len(found.Heights) ||
			ok && (found.Best.Height != height || found.Best.Hash != hash) {
			tb.Fatalf("script %d: found %+v", n, found)
		}
		has := 0
		for h := range blocks {
			if slices.Contains(blocks[h].scripts, n) {
				has++
				if !slices.Contains(found.Heights, int32(h)) {
					tb.Fatalf("script %d is denied at height %d of %d", n, h, len(blocks)-1)
				}
			}
		}
		extra += found.Blocks - has
	}
	return extra
}

// at returns the chain up to where a store is: of the branches that there were.
func at(tb testing.TB, s *scriptindex.Store, branches ...chain) chain {
	tb.Helper()
	hash, height, ok := s.Best()
	if !ok {
		return nil
	}
	for _, c := range branches {
		if int(height) < len(c) && c[height].Hash == hash {
			return slices.Clone(c[:height+1])
		}
	}
	tb.Fatalf("the store is at a block of height %d that was never added", height)
	return nil
}
