package miningrpc_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

// A recordedChain is a chain of a regtest of qbit 1.0.0, how many of its latest events were stale blocks, and what
// qbitd answered there.
type recordedChain struct {
	ASERT  bool             `json:"asert"`
	Blocks []recordedHeader `json:"blocks"` // above the genesis block
	Events int              `json:"events"`
	Stale  int              `json:"stale"`
	Calls  []struct {
		Params string `json:"params"`
		Reply  string `json:"reply"`
	} `json:"calls"`
}

// A recordedHeader is time in seconds after the genesis block, version, and bits in hex.
type recordedHeader [3]any

// chainOfHeaders returns a chain of headers.
func chainOfHeaders(t *testing.T, network *dialect.Network, headers []recordedHeader) *chainview.Current {
	t.Helper()
	header := network.Params.GenesisBlock.Header
	began := header.Timestamp
	tree := chainview.NewTree(&header, consensus.TargetWork(header.Bits))
	for _, h := range headers {
		header.PrevBlock = header.BlockHash()
		header.Timestamp = time.Unix(began.Unix()+int64(h[0].(float64)), 0)
		header.Version = int32(h[1].(float64))
		bits, err := strconv.ParseUint(h[2].(string), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		header.Bits = uint32(bits)
		work := new(big.Int).Set(consensus.TargetWork(header.Bits))
		b, err := tree.Add(&header, work, chainview.HasData|chainview.Valid)
		if err != nil {
			t.Fatal(err)
		}
		tree.SetActive(b)
	}
	var current chainview.Current
	current.Set(reader{tree: tree})
	return &current
}

// newTargetRig has the methods of a chain where so many of the latest events were stale blocks.
func newTargetRig(t *testing.T, network *dialect.Network, chain *chainview.Current, events, stale int) *rig {
	t.Helper()
	counts := actortest.New(t).Spawn("stale", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[nodemsg.GetStaleStats, messages.StaleStats]); ok {
				m.Answer(messages.StaleStats{Events: events, StaleEvents: stale}, nil)
			}
		})
	})
	table, err := command.NewTable(miningrpc.Commands(miningrpc.Deps{Network: network, Chain: chain, Stale: counts}))
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, table: table}
}

func TestRecordedConfirmationTargets(t *testing.T) {
	raw, err := os.ReadFile("testdata/confirmationtargets.json")
	if err != nil {
		t.Fatal(err)
	}
	var chains []recordedChain
	if err := json.Unmarshal(raw, &chains); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, c := range chains {
		network := qbit(t, dialect.Choices{ASERT: c.ASERT, AnyOutput: true})
		r := newTargetRig(t, network, chainOfHeaders(t, network, c.Blocks), c.Events, c.Stale)
		for _, call := range c.Calls {
			got := r.call("getconfirmationtarget", call.Params)
			want := strings.TrimPrefix(strings.TrimSuffix(call.Reply, `,"error":null,"id":1}`), `{"result":`)
			if _, failed, ok := strings.Cut(want, `null,"error":`); ok {
				want = strings.TrimSuffix(failed, `,"id":1}`)
			}
			if got != want {
				t.Errorf("chain %d, %s\ngot  %s\nwant %s", i, call.Params, got, want)
			}
			for _, source := range []string{"observed_", "override_", "fallback_", "'inf'", `"orphan_rate":0.`} {
				seen[source] = seen[source] || strings.Contains(want, source)
			}
		}
	}
	if len(seen) != 5 {
		t.Fatal("nothing was recorded")
	}
	for what, ok := range seen {
		if !ok {
			t.Errorf("no recorded answer has %s", what)
		}
	}
}

func TestConfirmationTargetRefusals(t *testing.T) {
	network := qbit(t, dialect.Choices{})
	r := newTargetRig(t, network, chainOf(t, network), 0, 0)
	const (
		negative = `{"code":-8,"message":"value_satoshis must be non-negative"}`
		level    = `{"code":-8,"message":"security_level must be \"low\", \"medium\", \"high\", or \"maximum\""}`
		share    = `{"code":-8,"message":"merge_mining_pct must be between 0.0 and 1.0"}`
		hashes   = `{"code":-8,"message":"btc_hashrate must be positive"}`
		integer  = `{"code":-1,"message":"JSON integer out of range"}`
		double   = `{"code":-1,"message":"JSON double out of range"}`
	)
	for params, want := range map[string]string{
		`[-1, "x", 2, 0]`:         negative,
		`[1, "x", 2, 0]`:          level,
		`[1, "Low"]`:              level,
		`[1, ""]`:                 level,
		`[1, "low", 2, 0]`:        share,
		`[1, "low", -1e-300]`:     share,
		`[1, "low", 1.0000001]`:   share,
		`[1, "low", 1, 0]`:        hashes,
		`[1, "low", null, -0.0]`:  hashes,
		`[1, "low", null, -7e20]`: hashes,
		`[1.5]`:                   integer,
		`[1e3]`:                   integer,
		`[9223372036854775808]`:   integer,
		`[1, "low", 1e400]`:       double,
		`[1, "low", 1, 1e400]`:    double,
	} {
		if got := r.call("getconfirmationtarget", params); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	if got := newRig(t, "regtest").call("getconfirmationtarget", `[1]`); !strings.Contains(got, "Method not found") {
		t.Errorf("the first dialect has the method: %s", got)
	}
}

// With only stale blocks a confirmation still counts for something.
func TestConfirmationTargetOfStaleBlocks(t *testing.T) {
	network := qbit(t, dialect.Choices{})
	for _, test := range []struct {
		events, stale, want int
		rate                string
	}{
		{0, 0, 30, "0"},
		{10, 0, 30, "0"},
		{4, 1, 40, "0.25"},
		{1000, 995, 3000, "0.99"},
		{7, 7, 3000, "0.99"},
	} {
		r := newTargetRig(t, network, chainOfHeaders(t, network, nil), test.events, test.stale)
		got := r.call("getconfirmationtarget", `[5]`)
		blocks := fmt.Sprintf(`{"required_confirmations":%d,`, test.want)
		if !strings.HasPrefix(got, blocks) || !strings.Contains(got, `"orphan_rate":`+test.rate+",") {
			t.Errorf("%d of %d stale: %s", test.stale, test.events, got)
		}
	}
}
