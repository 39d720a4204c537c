package miningrpc_test

import (
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

func TestSubmitHeader(t *testing.T) {
	parent := chaincfg.RegressionNetParams.GenesisHash
	header := "00000020" + hex.EncodeToString(parent[:]) + genesis(t)[72:160]
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"accepted", nil, `null`},
		{"rejected", &messages.RejectError{Reason: "high-hash", Debug: "proof of work failed"}, `{"code":-25,"message":"high-hash"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, "regtest")
			request := serve[nodemsg.AcceptHeaders](r, nodemsg.AcceptedHeaders{}, test.err)
			if got := r.call("submitheader", `["`+header+`00"]`); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := hex.EncodeToString((<-request).Headers[0]); got != header {
				t.Errorf("submitted %s, want %s", got, header)
			}
		})
	}
}

func TestSubmitNoHeader(t *testing.T) {
	block := genesis(t)
	const undecoded = `{"code":-22,"message":"Block header decode failed"}`
	tests := map[string][2]string{
		"empty":   {"", undecoded},
		"no hex":  {"xx" + block[2:160], undecoded},
		"cut off": {block[:158], undecoded},
		"orphan": {block[:160], `{"code":-25,"message":"Must submit previous header (` +
			`0000000000000000000000000000000000000000000000000000000000000000) first"}`},
	}
	r := newRig(t, "regtest")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := r.call("submitheader", `["`+test[0]+`"]`); got != test[1] {
				t.Errorf("got %s, want %s", got, test[1])
			}
		})
	}
}
