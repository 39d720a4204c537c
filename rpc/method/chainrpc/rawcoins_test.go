package chainrpc_test

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

// Outputs are looked up beside the chain's actor where that is possible; else the actor is
// asked. The outputs that the memory pool makes and spends are added if the pool is at the same
// tip; else the pool does the look-up itself.
func TestReaderOfUnspent(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(3)
	tip := r.chain.Active().Tip()
	confirmed, spentInPool := wire.OutPoint{Index: 1}, wire.OutPoint{Index: 2}
	inPool, beyond, nowhere := wire.OutPoint{Index: 3}, wire.OutPoint{Index: 4}, wire.OutPoint{Index: 5}
	outs := []wire.OutPoint{confirmed, spentInPool, inPool, beyond, nowhere}
	coin := func(height int32) *messages.Coin {
		return &messages.Coin{Output: wire.NewTxOut(7, []byte{0x51}), Height: height}
	}
	at := messages.Tip{Hash: tip.Hash, Height: tip.Height}
	idle, poolTip := true, tip.Hash
	asked := map[string]int{}
	r.deps.Chain.SetUnspent(func(outs []wire.OutPoint) ([]*chainview.Coin, *chainview.Block, bool) {
		one := &chainview.Coin{Height: 2, Value: 7, Script: []byte{0x51}}
		return []*chainview.Coin{one, one, nil, one, nil}, tip, idle
	})
	r.deps.Actor = r.sys.Spawn("coins", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[messages.GetCoins, messages.Coins]); ok {
				asked["chain"]++
				m.Answer(messages.Coins{Tip: at, Coins: map[wire.OutPoint]messages.Coin{
					confirmed: *coin(2), spentInPool: *coin(2), beyond: *coin(2),
				}}, nil)
			}
		})
	})
	pool := r.sys.Spawn("pool", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *ask.Call[messages.GetPoolOutputs, messages.PoolOutputsFound]:
				asked["pool"]++
				m.Answer(messages.PoolOutputsFound{Tip: poolTip, Outs: []messages.PoolOutput{
					{}, {Spent: true}, {Here: true, Output: wire.NewTxOut(7, []byte{0x51})}, {Here: true}, {},
				}}, nil)
			case *ask.Call[messages.GetPoolCoins, []*messages.Coin]:
				asked["both"]++
				first := coin(2)
				first.Tip = at
				m.Answer([]*messages.Coin{first, nil, coin(messages.PoolHeight), nil, nil}, nil)
			}
		})
	})
	const inChain, withPool = "2 2 - 2 -", "2 - 2147483647 - -"
	for _, test := range []struct {
		name           string
		idle, pool     bool
		poolTip        chainhash.Hash
		want, asksOnly string
	}{
		{"beside the actor", true, false, tip.Hash, inChain, ""},
		{"while the chain is at work", false, false, tip.Hash, inChain, "chain"},
		{"with the pool", true, true, tip.Hash, withPool, "pool"},
		{"with a pool that lags", true, true, chainhash.Hash{1}, withPool, "pool both"},
		{"with the pool while the chain is at work", false, true, tip.Hash, withPool, "pool both"},
	} {
		idle, poolTip = test.idle, test.poolTip
		clear(asked)
		r.deps.Pool = pool
		read := r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)}).Reader()
		for _, text := range []bool{false, true} {
			got, err := read.Unspent(t.Context(), command.OutputQuery{Outputs: outs, Pool: test.pool, Text: text})
			if err != nil || got.Tip != tip.Hash || got.Height != tip.Height {
				t.Fatalf("%s: %+v, %v", test.name, got, err)
			}
			var shown []string
			for _, c := range got.Coins {
				if c.Output == nil {
					shown = append(shown, "-")
					continue
				}
				shown = append(shown, strconv.Itoa(int(c.Height)))
				script := string(c.Output)
				if !text {
					script = hex.EncodeToString(c.Output)
				}
				if want := `{"value":0.00000007,"scriptPubKey":{"asm":"1",`; text && !strings.HasPrefix(script, want) ||
					!text && script != "07000000000000000151" {
					t.Errorf("%s: %s", test.name, script)
				}
			}
			if strings.Join(shown, " ") != test.want {
				t.Errorf("%s: %s, want %s", test.name, shown, test.want)
			}
		}
		for _, who := range []string{"chain", "pool", "both"} {
			if (asked[who] == 2) != strings.Contains(test.asksOnly, who) {
				t.Errorf("%s: asked %v, want %q", test.name, asked, test.asksOnly)
			}
		}
	}
	r.deps.Pool = nil
	read := r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)}).Reader()
	_, err := read.Unspent(t.Context(), command.OutputQuery{Outputs: outs, Pool: true})
	if told, _ := errors.AsType[command.Error](err); told.Code != command.ClientMempoolDisabled {
		t.Errorf("without a pool: %v", err)
	}
}
