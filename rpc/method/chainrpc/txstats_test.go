package chainrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

func TestChainTxStats(t *testing.T) {
	r := newRig(t, "regtest")
	first := r.chain.MineN(3)
	r.chain.MineN(2)
	stale := r.chain.MineOn(first, chaintest.Template{})
	r.chain.MineN(1)
	tip := r.chain.Active().Tip()
	genesis := r.chain.Active().At(0)
	window := func(blocks int32) string {
		from := tip.Ancestor(tip.Height - blocks)
		seconds := tip.MedianTimePast() - from.MedianTimePast()
		text := fmt.Sprintf(`{"time":%d,"txcount":%d,"window_final_block_hash":"%v","window_final_block_height":%d,`+
			`"window_block_count":%d`, tip.Time().Unix(), tip.Height+1, tip.Hash, tip.Height, blocks)
		if blocks == 0 {
			return text + "}"
		}
		text += fmt.Sprintf(`,"window_interval":%d,"window_tx_count":%d`, seconds, blocks)
		if seconds > 0 {
			return text + `,"txrate":`
		}
		return text + "}"
	}
	for params, want := range map[string]string{
		`[]`:           window(tip.Height - 1),
		`[0]`:          window(0),
		`[3]`:          window(3),
		`[-1]`:         "-8 Invalid block count: should be between 0 and the block's height - 1",
		`[6]`:          "-8 Invalid block count: should be between 0 and the block's height - 1",
		`["a"]`:        "-3 ",
		`[0, 0]`:       "-3 ",
		`[null, "00"]`: "-8 blockhash must be of length 64 (not 2, for '00')",
		`[null, "` + strings.Repeat("0", 64) + `"]`: "-5 Block not found",
		`[null, "` + stale.Hash.String() + `"]`:     "-8 Block is not in main chain",
		`[null, "` + genesis.Hash.String() + `"]`:   `{"time":1296688602,"txcount":1,`,
		`[1, "` + first.Hash.String() + `"]`:        `"txcount":4,`,
	} {
		if got := r.call("getchaintxstats", params); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
}

func TestVerifyChain(t *testing.T) {
	r := newRig(t, "regtest")
	for params, want := range map[string]messages.VerifyChain{
		`[]`:         {Level: 3, Blocks: 6},
		`[4, 0]`:     {Level: 4},
		`[null, 10]`: {Level: 3, Blocks: 10},
	} {
		for err, says := range map[error]string{
			nil:                                 "true",
			messages.ErrPartlyVerified:          "false",
			&messages.CorruptError{Reason: "x"}: "false",
		} {
			got := r.start("verifychain", params)
			call := actortest.Expect[*ask.Call[messages.VerifyChain, messages.Done]](r.actor)
			if call.Req != want {
				t.Errorf("%s: asked %+v", params, call.Req)
			}
			call.Answer(messages.Done{}, err)
			if text := <-got; !strings.HasPrefix(text, says) {
				t.Errorf("%v: got %s", err, text)
			}
		}
	}
	if got := r.call("verifychain", `["3"]`); !strings.HasPrefix(got, "-3 ") {
		t.Errorf("got %s", got)
	}
}

func TestChainStates(t *testing.T) {
	r := newRig(t, "regtest")
	tip := r.chain.MineN(3)
	base := r.chain.Active().At(1)
	got := r.start("getchainstates", `[]`)
	call := actortest.Expect[*ask.Call[messages.GetChainStates, []messages.ChainState]](r.actor)
	call.Answer([]messages.ChainState{
		{Tip: messages.Tip{Hash: base.Hash, Height: 1}, Validated: true, DBCache: 5, TipCache: 6},
		{Tip: messages.Tip{Hash: tip.Hash, Height: 3}, Snapshot: &base.Hash, DBCache: 7, TipCache: 8},
	}, nil)
	text := <-got
	for _, part := range []string{
		`{"headers":3,"chainstates":[{"blocks":1,"bestblockhash":"` + base.Hash.String() + `","bits":"207fffff","target":"7fffff`,
		`"coins_db_cache_bytes":5,"coins_tip_cache_bytes":6,"validated":true},{"blocks":3,`,
		`"coins_db_cache_bytes":7,"coins_tip_cache_bytes":8,"snapshot_blockhash":"` + base.Hash.String() + `","validated":false}]}`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("got %s, lacks %s", text, part)
		}
	}
}
