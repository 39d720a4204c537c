package wallets_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// slow is a chain from which it takes a time to read a block.
type slow struct {
	chainview.Reader
	takes atomic.Int64 // nanoseconds
	reads atomic.Int64
}

func (s *slow) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	s.reads.Add(1)
	time.Sleep(time.Duration(s.takes.Load()))
	return s.Reader.Block(hash)
}

// A preview that has taken 30 seconds is refused; a preview of a moment less is not. A caller who
// leaves earlier is answered at once, and the next caller gets the place.
func TestPreviewTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain := newChain()
		chain.MineN(3)
		reader := &slow{Reader: chain}
		r := newRig(t, reader, setup{noFilters: true, now: genesis})
		source := backup(t, "backups", "one-key")
		preview := func(ctx context.Context) (messages.RestorePreview, time.Duration, error) {
			began := time.Now()
			got, err := ask.Ask(ctx, r.ref, messages.PreviewRestore{Backup: source})
			return got, time.Since(began), err
		}
		for _, test := range []struct {
			takes time.Duration
			fails bool
		}{{29*time.Second + 999*time.Millisecond, false}, {30*time.Second + time.Millisecond, true}} {
			reader.takes.Store(int64(test.takes))
			reader.reads.Store(0)
			got, took, err := preview(t.Context())
			if reader.reads.Load() != 1 || took != test.takes {
				t.Errorf("%d reads, %v", reader.reads.Load(), took)
			}
			if !test.fails {
				if err != nil || len(got.Descriptors) == 0 {
					t.Errorf("after %v: %v", took, err)
				}
				continue
			}
			refusal(t, err, -4, "The backup could not be looked through within 30 seconds.")
		}

		reader.takes.Store(int64(40 * time.Second))
		leaving, leave := context.WithCancel(t.Context())
		time.AfterFunc(29*time.Second, leave)
		left := make(chan time.Duration, 2)
		for range 2 { // all places
			go func() {
				_, took, err := preview(leaving)
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				left <- took
			}()
		}
		time.Sleep(20 * time.Second)
		reader.takes.Store(0)
		_, took, err := preview(t.Context())
		if err != nil || took != 20*time.Second {
			t.Errorf("the next: %v after %v", err, took)
		}
		for range 2 {
			if took := <-left; took != 29*time.Second {
				t.Errorf("who left was answered after %v", took)
			}
		}
	})
}
