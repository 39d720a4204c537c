package chain_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// reasonOf returns why a block was refused, "" if it was taken.
func reasonOf(tb testing.TB, err error) string {
	tb.Helper()
	var reject *messages.RejectError
	if err != nil && !errors.As(err, &reject) {
		tb.Fatal(err)
	}
	if reject == nil {
		return ""
	}
	return reject.Reason
}

// A batch is answered block by block, in its order: a wrong one in the middle says so, and
// those after it say that they lack it.
func TestBatch(t *testing.T) {
	blocks := enginetest.Blocks(t, enginetest.Chain)[1:101]
	f := spawn(t)
	wrong := append([][]byte{}, blocks...)
	wrong[60] = bytes.Clone(blocks[60])
	wrong[60][len(wrong[60])-1] ^= 1 // of a lock time, so that the root is another
	wrong[70] = blocks[70][:90]
	got := do(t, f, nodemsg.AcceptBlocks{Raw: wrong})
	if len(got.Refused) != len(wrong) {
		t.Fatalf("%d answers", len(got.Refused))
	}
	for i, err := range got.Refused {
		want := ""
		switch {
		case i == 60:
			want = "bad-txnmrklroot"
		case i == 70:
			want = "bad-block"
		case i > 60:
			want = "prev-blk-not-found"
		}
		if reason := reasonOf(t, err); reason != want {
			t.Errorf("block %d: %q, want %q", i, reason, want)
		}
	}
	if tip := do(t, f, messages.GetTip{}); tip.Height != 60 {
		t.Errorf("at height %d", tip.Height)
	}
	for i, err := range do(t, f, nodemsg.AcceptBlocks{Raw: blocks}).Refused {
		want := ""
		if i < 60 {
			want = "duplicate"
		}
		if reason := reasonOf(t, err); reason != want {
			t.Errorf("again, block %d: %q, want %q", i, reason, want)
		}
	}
	if tip := do(t, f, messages.GetTip{}); tip.Height != 100 {
		t.Errorf("at height %d", tip.Height)
	}
	if got := do(t, f, nodemsg.AcceptBlocks{}); len(got.Refused) != 0 {
		t.Errorf("no blocks: %v", got)
	}
}

// A request of a user goes before the rest of a batch, and the next batch does not.
func TestRequestsBetweenBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		blocks := enginetest.Blocks(t, enginetest.Chain)[1:41]
		f := spawn(t)
		do(t, f, messages.WaitOpen{})
		var accepted atomic.Int32
		f.onCall(func(method string) error {
			if method == "Accept" {
				accepted.Add(1)
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		})
		answered := make(chan int32, 2)
		for _, part := range [][][]byte{blocks[:30], blocks[30:]} {
			go func() {
				for i, err := range do(t, f, nodemsg.AcceptBlocks{Raw: part}).Refused {
					if err != nil {
						t.Errorf("block %d: %v", i, err)
					}
				}
				answered <- accepted.Load()
			}()
			synctest.Wait()
		}
		do(t, f, messages.SetMockTime{})
		if n := accepted.Load(); n == 0 || n > 4 {
			t.Errorf("a request waited for %d blocks", n)
		}
		// The first of the next may have begun when the caller looks.
		if first, second := <-answered, <-answered; first < 30 || first > 31 || second != 40 {
			t.Errorf("batches were answered after %d and %d blocks", first, second)
		}
	})
}

// If a caller leaves, the rest of its batch is left out, and no work of the batch
// remains.
func TestBatchOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		f := spawn(t)
		do(t, f, messages.WaitOpen{})
		var accepted atomic.Int32
		f.onCall(func(method string) error {
			if method == "Accept" {
				accepted.Add(1)
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		})
		ctx, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer leave()
		_, err := ask.Ask(ctx, f.Ref, nodemsg.AcceptBlocks{Raw: enginetest.Blocks(t, enginetest.Chain)[1:]})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if n := accepted.Load(); n == 0 || n > 10 {
			t.Errorf("%d blocks were taken", n)
		}
		if tip := do(t, f, messages.GetTip{}); tip.Height != accepted.Load() {
			t.Errorf("at height %d after %d blocks", tip.Height, accepted.Load())
		}
	})
}

// A panic over a block, where it is checked or where it is connected, is the actor's: the
// caller is answered, and the next instance has what came before.
func TestPanicInBatch(t *testing.T) {
	for _, method := range []string{"Prepare", "Accept"} {
		t.Run(method, func(t *testing.T) {
			blocks := enginetest.Blocks(t, enginetest.Chain)[1:101]
			f := spawn(t)
			do(t, f, messages.WaitOpen{})
			var calls atomic.Int32
			f.onCall(func(called string) error {
				if called == method && calls.Add(1) == 50 {
					panic("boom")
				}
				return nil
			})
			_, err := ask.Ask(t.Context(), f.Ref, nodemsg.AcceptBlocks{Raw: blocks})
			if !errors.Is(err, ask.ErrRestarted) {
				t.Errorf("got %v, want %v", err, ask.ErrRestarted)
			}
			if tip := do(t, f, messages.WaitOpen{}); tip.Height < 1 || tip.Height > 99 {
				t.Errorf("after the restart at %v", tip)
			}
			for i, err := range do(t, f, nodemsg.AcceptBlocks{Raw: blocks}).Refused {
				if reason := reasonOf(t, err); reason != "" && reason != "duplicate" {
					t.Errorf("block %d: %v", i, err)
				}
			}
			if tip := do(t, f, messages.GetTip{}); tip.Height != 100 {
				t.Errorf("at %v", tip)
			}
		})
	}
}

// A panic of what reads a file ahead is the actor's as well; the file is read again.
func TestPanicOfPrefetch(t *testing.T) {
	blocks := enginetest.Blocks(t, enginetest.Chain)[:60]
	var calls atomic.Int32
	f := spawnIn(t, t.TempDir(), func(method string) error {
		if method == "Prepare" && calls.Add(1) == 30 {
			panic("boom")
		}
		return nil
	}, blockFile(t, 0, blocks...))
	if _, err := ask.Ask(t.Context(), f.Ref, messages.WaitImported{}); err != nil && !errors.Is(err, ask.ErrRestarted) {
		t.Fatal(err)
	}
	do(t, f, messages.WaitImported{})
	if tip := do(t, f, messages.GetTip{}); tip.Height != 59 || f.opened != 2 {
		t.Errorf("height %d, opened %d times", tip.Height, f.opened)
	}
}

// An actor that stops in the middle of blocks, while more of them are checked or read,
// answers waiting calls and leaves no goroutine.
func TestStopAmidBlocks(t *testing.T) {
	blocks := enginetest.Blocks(t, enginetest.Chain)[1:101]
	for name, files := range map[string][]string{"batch": nil, "import": {blockFile(t, 0, blocks...)}} {
		for _, method := range []string{"Prepare", "Accept"} {
			t.Run(name+" "+method, func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					actortest.InBubble(t)
					held := make(chan struct{})
					var calls atomic.Int32
					f := spawnIn(t, dir, func(called string) error {
						if called == method && calls.Add(1) == 20 {
							<-held
						}
						return nil
					}, files...)
					answer := make(chan error, 1)
					go func() {
						if files == nil {
							answer <- request(nodemsg.AcceptBlocks{Raw: blocks})(t.Context(), f.Ref)
							return
						}
						answer <- request(messages.WaitImported{})(t.Context(), f.Ref)
					}()
					synctest.Wait()
					stopped := make(chan error, 1)
					go func() { stopped <- f.Stop(t.Context()) }()
					synctest.Wait()
					close(held)
					if err := <-stopped; err != nil {
						t.Fatal(err)
					}
					if err := <-answer; !errors.Is(err, ask.ErrStopped) {
						t.Errorf("answered %v, want %v", err, ask.ErrStopped)
					}
					if errs := f.failures(); len(errs) != 0 {
						t.Errorf("failed: %v", errs)
					}
				})
				if tip := do(t, spawnAgain(t, dir), messages.WaitOpen{}); tip.Height < 1 || tip.Height > 99 {
					t.Errorf("opened again at %v", tip)
				}
			})
		}
	}
}

// spawnAgain opens a folder again.
func spawnAgain(tb testing.TB, dir string) *fixture {
	tb.Helper()
	return spawnIn(tb, dir, func(string) error { return nil })
}
