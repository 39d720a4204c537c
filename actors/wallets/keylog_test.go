package wallets

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/wallet/keys"
)

// Background work that cannot go on is logged once, and may begin again.
func TestKeyLogOfFailures(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	l := keyLog{spec: &spec{Spec: (&files.Config{Log: log}).Spec("w"), cfg: &Config{Log: log}}}
	isFilled := func(chainhash.Hash) bool { return false }
	for _, step := range []struct {
		do   func()
		want string // empty: nothing is told
	}{
		{l.checked, ""},
		{func() { l.checking(); l.failed = true }, ""},
		{l.checked, "Plaintext PQC key validation failed; wallet PQC signing is disabled"},
		{l.checked, ""},
		{func() { l.filling(false, true) }, ""},
		{func() { l.filling(true, true) }, ""},
		{func() { l.filling(false, true) }, "Deferred create-time keypool top up paused"},
		{func() { l.filling(false, true) }, ""},
		{func() { l.refilling([]keys.LowPool{{Internal: true, Left: 1, Mark: 2}}) }, "P2MR change keypool reached"},
		{func() { l.refilling([]keys.LowPool{{Internal: true, Left: 0, Mark: 2}}) }, ""},
		{func() { l.refilled(isFilled, true) }, ""},
		{func() { l.refilled(isFilled, false) }, "P2MR change keypool low-watermark refill paused"},
		{func() { l.refilled(isFilled, false) }, ""},
		{func() { l.refilling([]keys.LowPool{{Left: 0, Mark: 2}}) }, "P2MR receive keypool reached"},
	} {
		text.Reset()
		step.do()
		got := text.String()
		if strings.Count(got, "\n") != min(len(step.want), 1) || !strings.Contains(got, step.want) {
			t.Errorf("logged %q, want %q", got, step.want)
		}
	}
}
