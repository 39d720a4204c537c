package miningrpc_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/messages"
)

func TestSubmitBlock(t *testing.T) {
	block := genesis(t)
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"accepted", nil, `null`},
		{"rejected", &messages.RejectError{Reason: "bad-txnmrklroot", Debug: "hashMerkleRoot mismatch"}, `"bad-txnmrklroot"`},
		{"rejected without reason", &messages.RejectError{}, `"rejected"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, "regtest")
			request := serve[messages.SubmitBlock](r, messages.Done{}, test.err)
			// Case does not matter, and neither does what comes after the block.
			if got := r.call("submitblock", `["`+strings.ToUpper(block)+`00ff", "ignored"]`); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := hex.EncodeToString((<-request).Raw); got != block {
				t.Errorf("submitted %s, want %s", got, block)
			}
		})
	}
}

func TestSubmitNoBlock(t *testing.T) {
	block := genesis(t)
	tests := map[string]string{
		"empty":     "",
		"no hex":    "zz",
		"half byte": block + "0",
		"prefixed":  "0x" + block,
		"header":    block[:160],
		"cut off":   block[:len(block)-2],
	}
	r := newRig(t, "regtest")
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			const want = `{"code":-22,"message":"Block decode failed"}`
			if got := r.call("submitblock", `["`+text+`"]`); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// An error that is no verdict on the block must not look like a verdict.
func TestSubmitFails(t *testing.T) {
	r := newRig(t, "regtest")
	broken := errors.New("disk full")
	serve[messages.SubmitBlock](r, messages.Done{}, broken)
	if _, err := r.run("submitblock", `["`+genesis(t)+`"]`); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
