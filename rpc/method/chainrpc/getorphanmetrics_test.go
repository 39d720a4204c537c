package chainrpc_test

import (
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// countStale has the methods of a network whose stale blocks are counted, with those numbers.
func (r *rig) countStale(numbers messages.StaleStats) {
	r.t.Helper()
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.deps.Network = network
	r.deps.Stale = r.sys.Spawn("stale", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[nodemsg.GetStaleStats, messages.StaleStats]); ok {
				s := numbers
				s.Window = m.Req.Window
				m.Answer(s, nil)
			}
		})
	})
	r.build()
}

func TestOrphanMetrics(t *testing.T) {
	r := newRig(t, "regtest")
	if got := r.call("getorphanmetrics", `[]`); got != "-32601 Method not found" {
		t.Errorf("the first dialect: %s", got)
	}
	r.chain.MineN(3)
	fork := r.chain.Active().At(1)
	r.chain.MineOn(fork, chaintest.Template{Version: 0x20000002})
	r.chain.AddHeader(fork.Parent)
	r.countStale(messages.StaleStats{
		Events: 3, StaleEvents: 1, Connected: 9, Stale: 4, Reorgs: 2, DeepestFork: 3, LastHeight: 7, LastTime: 8,
		Alarm: true,
	})
	const rest = `,"window_total":3,"window_stale":1,"orphan_rate":0.3333333333333333,"lifetime_blocks_connected":9,` +
		`"lifetime_stale_blocks":4,"lifetime_reorgs":2,"deepest_reorg":3,"last_stale_height":7,"last_stale_time":8,` +
		`"persistent_stale_tip_count":2,"alert":true}`
	for params, want := range map[string]string{
		`[]`:                       `{"window_blocks":1000` + rest,
		`[null]`:                   `{"window_blocks":1000` + rest,
		`[1]`:                      `{"window_blocks":1` + rest,
		`[10000]`:                  `{"window_blocks":10000` + rest,
		`[0]`:                      "-8 window must be between 1 and 10000",
		`[-1]`:                     "-8 window must be between 1 and 10000",
		`[10001]`:                  "-8 window must be between 1 and 10000",
		`[1.5]`:                    "-1 JSON integer out of range",
		`[1e3]`:                    "-1 JSON integer out of range",
		`[1234567890123456789012]`: "-1 JSON integer out of range",
	} {
		if got := r.call("getorphanmetrics", params); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
}
