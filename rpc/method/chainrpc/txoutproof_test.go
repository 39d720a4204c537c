package chainrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// A proof is made of the named block, or of the block in which an output is found, and
// lists the transactions that it is about.
func TestTxOutProof(t *testing.T) {
	r := newRig(t, "regtest")
	old := r.chain.MineN(1)
	b := r.chain.MineN(1)
	block, err := r.chain.Block(&b.Hash)
	if err != nil {
		t.Fatal(err)
	}
	id := block.Transactions[0].TxHash()
	var looked int
	r.deps.Actor = r.sys.Spawn("coins", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[messages.GetCoins, messages.Coins]); ok {
				looked += len(m.Req.Outs)
				got := messages.Coins{Coins: make(map[wire.OutPoint]messages.Coin)}
				for _, at := range m.Req.Outs {
					if at.Hash == id && at.Index == 1234 {
						got.Coins[at] = messages.Coin{Height: b.Height}
					}
				}
				m.Answer(got, nil)
			}
		})
	})
	r.build()
	found := r.call("gettxoutproof", fmt.Sprintf(`[["%v"]]`, id))
	named := r.call("gettxoutproof", fmt.Sprintf(`[["%v"], "%v"]`, id, b.Hash))
	if found != named || len(found) != 2*(80+4+1+32+1+1)+2 {
		t.Errorf("found %s, named %s", found, named)
	}
	if got, want := r.call("verifytxoutproof", "["+found+"]"), fmt.Sprintf(`["%v"]`, id); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	none := strings.Repeat("1", 64)
	for params, want := range map[string]string{
		`[[]]`:                               "-8 Parameter 'txids' cannot be empty",
		`[["x"]]`:                            "-8 txid must be of length 64 (not 1, for 'x')",
		`[["` + none + `", "` + none + `"]]`: "-8 Invalid parameter, duplicated txid: " + none,
		`[["` + none + `"]]`:                 "-5 Transaction not yet in block",
		`[["` + none + `"], "` + none + `"]`: "-5 Block not found",
		fmt.Sprintf(`[["%v"], "%v"]`, id, old.Hash): "-5 Not all transactions found in specified or retrieved block",
	} {
		if got := r.call("gettxoutproof", params); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	if looked < 111_000 {
		t.Errorf("%d outputs were looked up", looked)
	}
	r.checkProofs(found)
}

// checkProofs checks what proofs that were changed, or whose block is not in the chain, are
// answered with.
func (r *rig) checkProofs(proof string) {
	r.t.Helper()
	raw := strings.Trim(proof, `"`)
	const end = "-1 DataStream::read(): end of data: iostream error"
	two := raw[:160] + "02" + raw[162:]
	for params, want := range map[string]string{
		"":                               "-8 proof must be hexadecimal string (not '')",
		"00":                             end,
		raw[:len(raw)-2]:                 end,
		two:                              "[]",
		raw[:80] + raw[82:84] + raw[82:]: "[]",
	} {
		if got := r.call("verifytxoutproof", `["`+params+`"]`); got != want {
			r.t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	fork := r.chain.MineOn(r.chain.Active().At(1), chaintest.Template{})
	r.chain.MineOn(fork, chaintest.Template{})
	if got := r.call("verifytxoutproof", "["+proof+"]"); got != "-5 Block not found in chain" {
		r.t.Errorf("of a block that left the chain: %s", got)
	}
}
