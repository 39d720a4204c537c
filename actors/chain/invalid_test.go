package chain_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// invalidChain returns n blocks on the genesis block, of which the second spends a coinbase too early.
func invalidChain(t *testing.T, n int) (blocks [][]byte) {
	t.Helper()
	c := chaintest.New(&chaincfg.RegressionNetParams)
	first := c.Mine(chaintest.Template{Solved: true})
	block, err := c.Block(&first.Hash)
	if err != nil {
		t.Fatal(err)
	}
	early := wire.NewMsgTx(2)
	early.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: block.Transactions[0].TxHash()}, nil, nil))
	early.AddTxOut(wire.NewTxOut(1, trueScript))
	c.Mine(chaintest.Template{Solved: true, Txs: []*wire.MsgTx{early}})
	for c.Active().Height() < int32(n) {
		c.Mine(chaintest.Template{Solved: true})
	}
	for height := range int32(n) {
		raw, err := c.Raw(&c.Active().At(height + 1).Hash)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, raw)
	}
	return blocks
}

// A chain that is not valid, with the work of more than six blocks more than the active chain, is spoken of until the
// active chain has grown. In the initial download this is so only where it is the network's way.
func TestInvalidChainIsWarnedOf(t *testing.T) {
	for name, test := range map[string]struct {
		blocks             int
		initial, initially bool
		want               string // warnings, one after the other
	}{
		"six blocks more":                  {7, false, false, ""},
		"seven blocks more":                {8, false, false, ",W,"},
		"in the initial download":          {8, true, false, ""},
		"in the initial download, as well": {8, true, true, ",W,"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				var warned ask.Feed[nodemsg.WarningChanged]
				f := spawnWith(t, func(c *chain.Config) {
					c.Warned = &warned
					words := dialect.InvalidChain{Warning: "W", Log: "L", Initially: test.initially}
					c.Network.Traffic.InvalidChain = words
					age := 100 * 365 * 24 * time.Hour
					if test.initial {
						age = time.Hour // the blocks are older
					}
					c.Initial = chainview.NewInitialDownload(c.Current, "", age, time.Now, func() {})
				})
				var said []string
				f.sys.Spawn("listener", func() actor.Actor {
					return actor.ReceiveFunc(func(c actor.Context) {
						switch m := c.Message().(type) {
						case *actor.Started:
							warned.Subscribe(c)
						case nodemsg.WarningChanged:
							said = append(said, m.Text)
						}
					})
				})
				synctest.Wait()
				do(t, f, messages.WaitOpen{})
				blocks := invalidChain(t, test.blocks)
				var headers [][]byte
				for _, raw := range blocks {
					headers = append(headers, raw[:wire.MaxBlockHeaderPayload])
				}
				do(t, f, nodemsg.AcceptHeaders{Headers: headers})
				for i := range blocks { // the last one first
					_, _ = ask.Ask(t.Context(), f.Ref, messages.SubmitBlock{Raw: blocks[len(blocks)-1-i]})
				}
				if tip := do(t, f, messages.GetTip{}); tip.Height != 1 {
					t.Fatalf("the tip is at %d", tip.Height)
				}
				f.generate(t, 1)
				f.generate(t, 1)
				synctest.Wait()
				if got := strings.Join(said, ","); strings.TrimLeft(got, ",") != strings.TrimLeft(test.want, ",") {
					t.Errorf("warned %q, want %q", got, test.want)
				}
			})
		})
	}
}
