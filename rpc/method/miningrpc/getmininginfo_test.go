package miningrpc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

func TestGetMiningInfo(t *testing.T) {
	// Three blocks of the least work, 2 hashes each, in 1200 seconds.
	const want = `{"blocks":3,"bits":"207fffff","difficulty":4.656542373906925e-10,` +
		`"target":"7fffff0000000000000000000000000000000000000000000000000000000000","networkhashps":0.005,"pooledtx":0,` +
		`"blockmintxfee":0.00000001,"chain":"regtest","next":{"height":4,"bits":"207fffff","difficulty":4.656542373906925e-10,` +
		`"target":"7fffff0000000000000000000000000000000000000000000000000000000000"},"warnings":[]}`
	if got := newRig(t, "regtest").call("getmininginfo", `[]`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The size of the last block that was put together is shown once there was one.
func TestSizeOfLastBlock(t *testing.T) {
	var last *messages.BlockSize
	r := newRig(t, "regtest", 600)
	r.pool = func() messages.PoolInfo { return messages.PoolInfo{LastBlock: last} }
	if got := r.call("getmininginfo", `[]`); strings.Contains(got, "currentblock") {
		t.Errorf("before there was one: %s", got)
	}
	for _, last = range []*messages.BlockSize{{Weight: 8000}, {Weight: 8437, Txs: 1}} {
		want := fmt.Sprintf(`{"blocks":1,"currentblockweight":%d,"currentblocktx":%d,`, last.Weight, last.Txs)
		if got := r.call("getmininginfo", `[]`); !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSignetChallenge(t *testing.T) {
	const want = `"signet_challenge":"512103ad5e0edad18cb1f0fc0d28a3d4f1f3e445640337489abb10404f2d1e086be430210359ef5021964fe22d` +
		`6f8e05b2463c9540ce96883fe3b278760f048f5189f2e6c452ae","warnings":[]}`
	got := newRig(t, "signet").call("getmininginfo", `[]`)
	if len(got) < len(want) || got[len(got)-len(want):] != want {
		t.Errorf("got  %s\nwant …%s", got, want)
	}
}

func TestGetNetworkHashPS(t *testing.T) {
	tests := []struct{ name, params, want string }{
		{"all", `[]`, `0.005`},
		{"more than there are", `[1000]`, `0.005`},
		{"last one, its time before that of its parent", `[1]`, `0.006666666666666667`},
		{"this difficulty", `[-1]`, `0.005`},
		{"at a height", `[120, 1]`, `0.003333333333333334`},
		{"first block", `{"height": 0}`, `0`},
		{"none", `[0]`, `{"code":-8,"message":"Invalid nblocks. Must be a positive number or -1."}`},
		{"negative", `[-2]`, `{"code":-8,"message":"Invalid nblocks. Must be a positive number or -1."}`},
		{"above the tip", `[120, 4]`, `{"code":-8,"message":"Block does not exist at specified height"}`},
		{"below the first", `[120, -2]`, `{"code":-8,"message":"Block does not exist at specified height"}`},
	}
	r := newRig(t, "regtest")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := r.call("getnetworkhashps", test.params); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A regtest's difficulty could change every 144 blocks: those since then are counted.
func TestHashRateOfRegtestPeriod(t *testing.T) {
	var times []int
	for i := range 150 {
		times = append(times, 600*(i+1))
	}
	times[100] = 1_000_000 // before the period
	r := newRig(t, "regtest", times...)
	if all, period := r.call("getnetworkhashps", `[150]`), r.call("getnetworkhashps", `[-1]`); all == period {
		t.Errorf("all: %s, period: %s", all, period)
	}
	if seven, period := r.call("getnetworkhashps", `[7]`), r.call("getnetworkhashps", `[-1]`); seven != period {
		t.Errorf("seven: %s, period: %s", seven, period)
	}
}

func TestSetMockTime(t *testing.T) {
	tests := []struct {
		params string
		want   time.Time
	}{
		{`[1700000000]`, time.Unix(1700000000, 0)},
		{`[9223372036]`, time.Unix(9223372036, 0)},
		{`[0]`, time.Time{}},
	}
	for _, test := range tests {
		t.Run(test.params, func(t *testing.T) {
			r := newRig(t, "regtest")
			request := serve[messages.SetMockTime](r, messages.Done{}, nil)
			if got := r.call("setmocktime", test.params); got != `null` {
				t.Fatalf("got %s", got)
			}
			if got := (<-request).Time; !got.Equal(test.want) {
				t.Errorf("set to %v, want %v", got, test.want)
			}
		})
	}
}

func TestSetMockTimeRefuses(t *testing.T) {
	tests := []struct{ chain, params, want string }{
		{"main", `[1.5]`, `{"code":-1,"message":"setmocktime is for regression testing (-regtest mode) only"}`},
		{"regtest", `[1.5]`, `{"code":-1,"message":"JSON integer out of range"}`},
		{"regtest", `[-1]`, `{"code":-8,"message":"Mocktime must be in the range [0, 9223372036], not -1."}`},
		{"regtest", `[9223372037]`, `{"code":-8,"message":"Mocktime must be in the range [0, 9223372036], not 9223372037."}`},
	}
	for _, test := range tests {
		t.Run(test.chain+test.params, func(t *testing.T) {
			if got := newRig(t, test.chain).call("setmocktime", test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	later, err := dialect.Named("", "regtest", dialect.Choices{Reference: dialect.Core32})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"code":-8,"message":"Mocktime must be in the range [0, 4294967295], not 4294967296."}`
	if got := newRigOn(t, later).call("setmocktime", `[4294967296]`); got != want {
		t.Errorf("later: got %s", got)
	}
}
