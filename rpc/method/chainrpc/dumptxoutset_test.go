package chainrpc_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

func TestDumpTxOutSet(t *testing.T) {
	r := newRig(t, "regtest")
	tip := r.chain.MineN(5)
	at := r.chain.Active().At(2)
	coins := r.sys.Probe("coins")
	r.deps.Coins, r.deps.Dir = coins.Ref, "/data"
	r.build()
	for _, test := range []struct {
		params string
		want   messages.DumpCoins
		err    error
		says   string
	}{
		{`["x", "latest"]`, messages.DumpCoins{Path: "/data/x"}, nil, `"nchaintx":6}`},
		{`["/y", "latest"]`, messages.DumpCoins{Path: "/y"}, nil, `"path":"/y","txoutset_hash":"`},
		{`["x", "", {"rollback": 5}]`, messages.DumpCoins{Path: "/data/x"}, nil, `"base_height":5`},
		{`["x", "", {"rollback": 2}]`, messages.DumpCoins{Path: "/data/x", At: &at.Hash}, nil, `{"coins_written":7,`},
		{
			`["x", "rollback", {"rollback": ` + quoted(at) + `}]`,
			messages.DumpCoins{Path: "/data/x", At: &at.Hash},
			nil,
			`"nchaintx":3}`,
		},
		{
			`["x", "latest"]`,
			messages.DumpCoins{Path: "/data/x"},
			messages.ErrFileExists,
			"-8 /data/x already exists. If you are sure this is what you want, move it out of the way first",
		},
		{
			`["x", "latest"]`,
			messages.DumpCoins{Path: "/data/x"},
			messages.ErrNotCreated,
			"-8 Couldn't open file /data/x.incomplete for writing.",
		},
		{
			`["x", "", {"rollback": 2}]`,
			messages.DumpCoins{Path: "/data/x", At: &at.Hash},
			messages.ErrNoRollback,
			"-1 Could not roll back to requested height.",
		},
	} {
		got := r.start("dumptxoutset", test.params)
		call := actortest.Expect[*ask.Call[messages.DumpCoins, messages.DumpedCoins]](coins)
		if q := call.Req; q.Path != test.want.Path || (q.At == nil) != (test.want.At == nil) ||
			q.At != nil && *q.At != *test.want.At {
			t.Errorf("%s: asked %+v", test.params, q)
		}
		of := tip
		if test.want.At != nil {
			of = at
		}
		call.Answer(messages.DumpedCoins{Block: messages.Tip{Hash: of.Hash, Height: of.Height}, Coins: 7}, test.err)
		if text := <-got; !strings.Contains(text, test.says) {
			t.Errorf("%s: got %s", test.params, text)
		}
	}
	r.check("dumptxoutset", [][2]string{
		{`["x"]`, `-8 Invalid snapshot type "" specified. Please specify "rollback" or "latest"`},
		{`["x", "bogus"]`, `-8 Invalid snapshot type "bogus" specified. Please specify "rollback" or "latest"`},
		{`["x", "latest", {"rollback": 2}]`, `-8 Invalid snapshot type "latest" specified with rollback option`},
		{`["x", "rollback"]`, `-8 Target block height 299 after current tip 5`},
		{`["x", "", {"rollback": -2}]`, `-8 Target block height -2 is negative`},
		{`["x", "", {"rollback": "00"}]`, `-8 hash_or_height must be of length 64 (not 2, for '00')`},
	})
}
