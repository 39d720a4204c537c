package qbit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
)

const (
	// childVar names the environment variable that makes the test binary the child of TestKillStripping; its value
	// is the directory.
	childVar = "TRAWL_P2MR_CHILD"
	// killsVar raises the number of kills.
	killsVar = "TRAWL_CHAINDB_KILLS"

	killBlocks = 120 // blocks of the chain that the child is killed over
)

// TestMain runs the child instead of the tests where it is asked to.
func TestMain(m *testing.M) {
	dir := os.Getenv(childVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := stripAndTell(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child stands in for a test where there is none.
type child struct{ testing.TB }

func (*child) Helper() {}

func (*child) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// stripAndTell feeds the blocks of a file to a chain whose old blocks lose their witnesses, and writes the height
// of the tip after each, until it is killed.
func stripAndTell(dir string) error {
	blocks, err := os.ReadFile(filepath.Join(dir, "blocks.bin"))
	if err != nil {
		return err
	}
	s := &stripRig{dir: filepath.Join(dir, "node")}
	s.tb = &child{}
	if err := s.tryOpen(); err != nil {
		return err
	}
	from := s.tree.Active().Height()
	fmt.Println(from)
	for height := int32(1); len(blocks) > 0; height++ {
		size := binary.LittleEndian.Uint32(blocks)
		raw := blocks[4 : 4+size]
		if blocks = blocks[4+size:]; height <= from {
			continue
		}
		if err := s.Accept(raw); err != nil {
			return err
		}
		fmt.Println(s.tree.Active().Height())
	}
	return s.Close()
}

// A node is killed at random moments while its old blocks lose their witnesses. It opens again with the tip that
// it told, and with the unspent outputs of that tip. Each block is whole or without witnesses, as the node says
// itself. More kills: TRAWL_CHAINDB_KILLS=1000.
func TestKillStripping(t *testing.T) {
	t.Parallel()
	kills := 4
	if n, err := strconv.Atoi(os.Getenv(killsVar)); err == nil {
		kills = n
	}
	whole := fresh(t, dialect.Choices{})
	whole.net.Rules.Maturity = 1
	b := &stripRig{rig: whole, builder: builder{tb: t, e: whole}, raws: map[chainhash.Hash][]byte{}}
	b.files = [][]chainhash.Hash{nil}
	b.short = map[chainhash.Hash]bool{}
	var list []byte
	type outputs struct {
		n    int
		sum  int64
		hash chainhash.Hash
	}
	at := []outputs{{}}
	for len(at) <= killBlocks {
		block := b.put(b.tree.Active().Tip(), 8000)
		raw := b.raws[block.Hash]
		list = append(binary.LittleEndian.AppendUint32(list, uint32(len(raw))), raw...)
		n, sum, hash := unspent(t, whole)
		at = append(at, outputs{n, sum, hash})
	}
	dir, stripped := "", 0
	for range kills {
		if dir == "" {
			dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "blocks.bin"), list, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		told := killStripping(t, dir)
		s := &stripRig{dir: filepath.Join(dir, "node")}
		s.tb = t
		s.open()
		tip := s.tree.Active().Tip()
		if tip.Height < told {
			t.Fatalf("tip at %d after %d was told", tip.Height, told)
		}
		if n, sum, hash := unspent(t, s.rig); tip.Height > 0 && at[tip.Height] != (outputs{n, sum, hash}) {
			t.Fatalf("other unspent outputs at height %d", tip.Height)
		}
		for at := tip; at.Parent != nil; at = at.Parent {
			want := b.raws[at.Hash]
			if chainview.IsStripped(at) {
				stripped++
				want, _ = consensus.Strip(nil, want, s.net.HeaderLen(want))
			}
			if got, err := s.Reader().Raw(&at.Hash); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("block at height %d has %d bytes, want %d: %v", at.Height, len(got), len(want), err)
			}
			if _, err := s.Reader().Spent(&at.Hash); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if tip.Height == killBlocks {
			dir = "" // once more from the start
		}
	}
	if stripped == 0 {
		t.Error("no block was stripped: the test shows nothing")
	}
}

// killStripping runs the child, kills it after a random number of lines and a moment, and returns the last height
// that it told.
func killStripping(t *testing.T, dir string) (told int32) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := 2 + rand.IntN(killBlocks/2)
	scanner := bufio.NewScanner(out)
	for lines := 1; scanner.Scan(); lines++ {
		height, err := strconv.ParseInt(scanner.Text(), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		if told = int32(height); lines == limit {
			<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond) // into the middle of a step
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	return told
}
