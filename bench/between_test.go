package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
)

// betweenEnv is set in the process that does another program's work.
const betweenEnv = "TRAWL_BENCH_BETWEEN"

func TestMain(m *testing.M) {
	if os.Getenv(betweenEnv) != "" {
		workForOthers(os.Stdin, os.Stdout, otherWork/8)
		return
	}
	os.Exit(m.Run())
}

// otherWork is how many bytes the other program reads and writes on each core: several
// times what a processor's caches hold.
const otherWork = 128 << 20

// workForOthers goes over so many words of memory on every core for each byte that it
// reads, and then writes that byte back.
func workForOthers(from io.Reader, to io.Writer, words int) {
	memory := make([][]uint64, runtime.NumCPU())
	for i := range memory {
		memory[i] = make([]uint64, words)
	}
	asked := bufio.NewReader(from)
	for {
		c, err := asked.ReadByte()
		if err != nil {
			return
		}
		var group sync.WaitGroup
		for _, words := range memory {
			group.Go(func() {
				for i := range words {
					words[i] += uint64(c)
				}
			})
		}
		group.Wait()
		if _, err := to.Write([]byte{c}); err != nil {
			return
		}
	}
}

// A neighbor is another program that works between our calls, so that the caches hold
// nothing of ours.
type neighbor struct {
	ask    io.Writer
	answer *bufio.Reader
}

// startNeighbor starts it, for as long as the benchmark runs.
func startNeighbor(b *testing.B) *neighbor {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), betweenEnv+"=1")
	ask, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	answer, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = ask.Close()
		_ = cmd.Wait()
	})
	return &neighbor{ask: ask, answer: bufio.NewReader(answer)}
}

// work has it work once, and returns when it has.
func (n *neighbor) work() error {
	if _, err := n.ask.Write([]byte{1}); err != nil {
		return fmt.Errorf("the other program: %w", err)
	}
	_, err := n.answer.ReadByte()
	return err
}

// after returns a contender that makes the same calls, each after the other program's
// work.
func (c *contender) after(n *neighbor) *contender {
	return &contender{run: c.run, before: n.work, calls: 5}
}

// The other program works once for each byte that it reads, and writes the byte back.
func TestWorkForOthers(t *testing.T) {
	asked, ask := io.Pipe()
	answer, answered := io.Pipe()
	go func() {
		workForOthers(asked, answered, 1_000)
		_ = answered.Close()
	}()
	for range 3 {
		if _, err := ask.Write([]byte{7}); err != nil {
			t.Fatal(err)
		}
		var got [1]byte
		if _, err := io.ReadFull(answer, got[:]); err != nil || got[0] != 7 {
			t.Fatalf("got %d, %v", got, err)
		}
	}
	_ = ask.Close()
	if rest, err := io.ReadAll(answer); err != nil || len(rest) > 0 {
		t.Errorf("answered %d bytes more, %v", len(rest), err)
	}
}
