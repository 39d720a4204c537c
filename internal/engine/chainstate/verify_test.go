package chainstate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/messages"
)

// verified is what Verify says: "" for a whole chain.
func verified(tb testing.TB, e *bitcoin.Engine, level int, blocks int32) string {
	tb.Helper()
	err := e.Verify(tb.Context(), level, blocks)
	if _, ok := errors.AsType[messages.Refusal](err); err != nil && !ok {
		tb.Fatalf("no refusal: %v", err)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// A whole chain passes at every level, and is as before: the same unspent outputs, the next
// block is taken.
func TestVerify(t *testing.T) {
	net := quick(t)
	chain := genesis(t).chainOn(8)
	last := chain[len(chain)-1]
	chain = append(chain, last.on([]*wire.MsgTx{spending(chain[0].txs[0], trueScript, 7)}))
	e := opened(t, net, chain...)
	before := unspent(t, e)
	for level := -1; level <= 5; level++ {
		for _, blocks := range []int32{0, 1, 3, 100} {
			if got := verified(t, e, level, blocks); got != "" {
				t.Errorf("level %d of %d blocks: %s", level, blocks, got)
			}
		}
	}
	if unspent(t, e) != before {
		t.Error("the unspent outputs have changed")
	}
	next := chain[len(chain)-1].on(nil)
	wantSubmit(t, e, "next", next, "")
	if unspent(t, e) != unspent(t, opened(t, net, append(chain, next)...)) {
		t.Error("other unspent outputs")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Verify(gone, 4, 0); !errors.Is(err, messages.ErrPartlyVerified) {
		t.Errorf("stopped: %v", err)
	}
}

// Each damage is found from the level on that looks there.
func TestVerifyFinds(t *testing.T) {
	tests := []struct {
		name  string
		level int
		spoil func(t *testing.T, dir string, chain []*made)
	}{
		{"block file", 0, func(t *testing.T, dir string, _ []*made) {
			t.Helper()
			flip(t, filepath.Join(dir, "blocks", "blk00000.dat"), -5)
		}},
		{"undo file", 2, func(t *testing.T, dir string, _ []*made) {
			t.Helper()
			flip(t, filepath.Join(dir, "blocks", "rev00000.dat"), -5)
		}},
		{"an output is missing", 3, func(t *testing.T, dir string, chain []*made) {
			t.Helper()
			put(t, dir, "utxosetv2", coinKey(chain[len(chain)-1]), nil)
		}},
		{"an output is another", 3, func(t *testing.T, dir string, chain []*made) {
			t.Helper()
			put(t, dir, "utxosetv2", coinKey(chain[len(chain)-1]), []byte{1, 2, 3, 0x51})
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, net := t.TempDir(), quick(t)
			e := open(t, dir, net)
			chain := genesis(t).chainOn(5)
			for _, b := range chain {
				wantSubmit(t, e, "block", b, "")
			}
			must(t, e.Close())
			test.spoil(t, dir, chain)
			e = open(t, dir, net)
			defer e.Close()
			for level := range 5 {
				if got := verified(t, e, level, 0); (got != "") != (level >= test.level) {
					t.Errorf("level %d: %q", level, got)
				}
			}
		})
	}
}

// coinKey is the key of a block's first output, with the index as btcd writes it.
func coinKey(b *made) []byte {
	id := b.txs[0].TxHash()
	return append(id[:], 0)
}

// flip changes a byte that is not zero, counted among these from the end of a file.
func flip(t *testing.T, path string, nth int) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	end := len(content)
	for end > 0 && content[end-1] == 0 {
		end--
	}
	content[end+nth] ^= 0xff
	must(t, os.WriteFile(path, content, 0o600))
}
