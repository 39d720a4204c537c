package chainrpc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, "regtest")
		tip := r.chain.Active().Tip()
		present := fmt.Sprintf(`{"hash":%q,"height":0}`, tip.Hash)
		for _, test := range []struct {
			method, params string
			met            messages.Tip // a tip that is asked for
		}{
			{"waitfornewblock", `[]`, messages.Tip{Height: 1}},
			{"waitfornewblock", `[0,` + quoted(tip) + `]`, messages.Tip{Height: 1}},
			{"waitforblock", `[` + unknownHash + `]`, messages.Tip{Hash: [32]byte{0xaa}}},
			{"waitforblockheight", `[7]`, messages.Tip{Height: 7}},
		} {
			done := r.start(test.method, test.params)
			call := actortest.Expect[*ask.Call[messages.WaitTip, messages.Tip]](r.actor)
			if call.Req.Met(messages.Tip{Hash: tip.Hash}) || !call.Req.Met(test.met) {
				t.Errorf("%s %s waits for %+v", test.method, test.params, call.Req)
			}
			call.Answer(test.met, nil)
			want := fmt.Sprintf(`{"hash":"%v","height":%d}`, test.met.Hash, test.met.Height)
			if got := <-done; got != want {
				t.Errorf("%s: got %s, want %s", test.method, got, want)
			}
		}

		// After the time the tip as it is counts.
		done := r.start("waitforblockheight", `[7,100]`)
		actortest.Expect[*ask.Call[messages.WaitTip, messages.Tip]](r.actor)
		if got := <-done; got != present {
			t.Errorf("late: got %s, want %s", got, present)
		}
		r.check("waitfornewblock", [][2]string{
			{`[-1]`, "-1 Negative timeout"},
			{`[0,"00"]`, "-8 current_tip must be of length 64 (not 2, for '00')"},
		})
	})
}

// Methods that only look at the tip pass calls that wait; those that wait take
// nothing from others.
func TestLanes(t *testing.T) {
	network, err := dialect.Named("", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chainrpc.Commands(chainrpc.Deps{Network: network}) {
		waits, looks := strings.HasPrefix(c.Name, "waitfor"),
			slices.Contains([]string{"getblockcount", "getbestblockhash", "getblockchaininfo"}, c.Name)
		if (c.Waits != nil) != waits {
			t.Errorf("%s: waits is %v", c.Name, !waits)
		}
		if looks && c.Control == nil {
			t.Errorf("%s takes a worker", c.Name)
		}
	}
}
