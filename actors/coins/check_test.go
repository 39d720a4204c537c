package coins_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// What was written is read again, and what is wrong with it is told.
func TestCheckFile(t *testing.T) {
	r := newRig(t, newSet(300), 3)
	path := filepath.Join(t.TempDir(), "coins")
	want, err := dump(t, r, messages.DumpCoins{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := r.set.tip
	if got := do(t, r.ref, messages.CheckCoinFile{Path: path}); got.Block != at.Hash || got.Coins != want.Coins ||
		got.Hash != (chainhash.Hash{}) {
		t.Errorf("beginning: %+v", got)
	}
	got := do(t, r.ref, messages.CheckCoinFile{Path: path, At: &at})
	if got.Hash != want.Hash || got.Coins != want.Coins {
		t.Errorf("got %+v, want %+v", got, want)
	}
	low, other := at, at
	low.Height, other.Hash = 1, chainhash.Hash{7}
	first := content[51]
	for name, test := range map[string]struct {
		change func([]byte) []byte
		at     *messages.Tip
		head   bool
		want   string
	}{
		"magic":    {func(b []byte) []byte { b[0]++; return b }, nil, true, "Invalid UTXO set snapshot magic bytes."},
		"short":    {func(b []byte) []byte { return b[:60] }, &at, false, "truncated snapshot after deserializing 0 coins"},
		"height":   {func(b []byte) []byte { return b }, &low, false, "Bad snapshot data after deserializing "},
		"block":    {func(b []byte) []byte { return b }, &other, false, "The snapshot is of another block now"},
		"order":    {func(b []byte) []byte { b[51] = 0xff; return b }, &at, false, "not in the order"},
		"in order": {func(b []byte) []byte { b[51] = first; return b }, &at, false, ""},
	} {
		changed := filepath.Join(t.TempDir(), "changed")
		if err := os.WriteFile(changed, test.change(append([]byte(nil), content...)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ask.Ask(t.Context(), r.ref, messages.CheckCoinFile{Path: changed, At: test.at})
		var wrong *messages.CoinFileError
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (!errors.As(err, &wrong) || wrong.Head != test.head ||
			!strings.Contains(wrong.Reason, test.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = ask.Ask(t.Context(), r.ref, messages.CheckCoinFile{Path: path + "x"})
	if !errors.Is(err, messages.ErrNotOpened) {
		t.Errorf("no file: %v", err)
	}
}
