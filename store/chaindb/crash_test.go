package chaindb

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

const (
	// childVar names the environment variable that makes the test binary the
	// child of TestKill; its value is the directory.
	childVar = "TRAWL_CHAINDB_CHILD"
	// killsVar raises the number of kills of TestKill.
	killsVar = "TRAWL_CHAINDB_KILLS"
)

// TestMain runs the child of TestKill instead of the tests where it is asked to.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		if err := loadAndTell(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// loadAndTell feeds both branches of testdata to a chain and writes the height
// of the tip after each block, until it is killed.
func loadAndTell(dir string) error {
	t := &child{}
	db, err := Open(testOptions(dir))
	if err != nil {
		return err
	}
	chain := newChain(t, db)
	for i, block := range append(readBlocks(t, "chain.blk.gz")[1:], readBlocks(t, "branch.blk.gz")...) {
		// A block that is stored already is refused, which is as good.
		chain.ProcessBlock(btcutil.NewBlock(block), blockchain.BFFastAdd)
		if i%50 == 0 {
			if err := db.Sync(); err != nil {
				return err
			}
		}
		fmt.Println(chain.BestSnapshot().Height)
	}
	return db.Close()
}

// child stands in for a test where there is none.
type child struct{ testing.TB }

func (*child) Helper() {}

func (*child) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// TestKill kills a process at random moments while it loads and reorganises a
// chain, over and over on the same database. Nothing that it told of is lost,
// and what is there is whole. More kills: TRAWL_CHAINDB_KILLS=1000.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 6
	if n, err := strconv.Atoi(os.Getenv(killsVar)); err == nil {
		kills = n
	}
	chainA, onlyB := readBlocks(t, "chain.blk.gz"), readBlocks(t, "branch.blk.gz")
	undoA := spentCoins(chainA)
	undoB := spentCoins(append(chainA[:forkHeight+1:forkHeight+1], onlyB...))
	blocks := append(chainA[1:len(chainA):len(chainA)], onlyB...)
	dir := t.TempDir()
	for range kills {
		acknowledged, lines := killChild(t, dir)
		db := open(t, testOptions(dir))
		if db.Reloading() {
			t.Fatal("the database was made anew")
		}
		chain := newChain(t, db)
		best := chain.BestSnapshot()
		floor := acknowledged
		if lines >= chainHeight && acknowledged <= chainHeight {
			floor = min(acknowledged, forkHeight) // the reorganisation was under way
		}
		if best.Height < floor {
			t.Fatalf("tip at %d after %d was acknowledged", best.Height, acknowledged)
		}
		wantBlocks(t, db, blocks[:lines])
		for height := int32(1); height <= best.Height; height++ {
			hash, err := chain.BlockHashByHeight(height)
			if err != nil {
				t.Fatal(err)
			}
			want, ok := undoA[*hash]
			if !ok {
				want = undoB[*hash]
			}
			wantUndo(t, db, map[chainhash.Hash][][]blockfile.Coin{*hash: want})
		}
		if best.Height == branchHeight {
			dir = t.TempDir() // once more from the start
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killChild runs the child, kills it after a random number of lines and returns
// the last height that it told and the number of lines.
func killChild(t *testing.T, dir string) (acknowledged int32, lines int) {
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
	limit := rand.IntN(chainHeight + 40)
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		height, err := strconv.Atoi(scanner.Text())
		if err != nil {
			t.Fatal(err)
		}
		if acknowledged, lines = int32(height), lines+1; lines == limit {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	return acknowledged, lines
}
