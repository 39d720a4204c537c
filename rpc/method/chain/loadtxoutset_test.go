package chain_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

type checkFile = ask.Call[messages.CheckCoinFile, messages.CoinFile]

// A file is refused in the order in which Core looks, in its words; and one that is right, too.
func TestLoadTxOutSet(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(3)
	low := r.chain.Active().At(1)
	base := r.chain.AddHeader(r.chain.Active().Tip())
	fork, invalid := r.chain.AddHeader(low), r.chain.AddHeader(r.chain.Active().At(2))
	r.chain.SetStatus(invalid, chainview.Failed)
	set, missing := chainhash.Hash{5}, chainhash.Hash{8}
	r.net.Snapshots = []dialect.Snapshot{
		{Height: 110, Block: missing},
		{Height: 4, Block: base.Hash, Hash: set},
		{Block: fork.Hash},
		{Block: invalid.Hash},
		{Block: low.Hash},
	}
	coins, pool := r.sys.Probe("coins"), r.sys.Probe("pool")
	r.deps.Coins, r.deps.Pool, r.deps.Dir = coins.Ref, pool.Ref, "/data"
	r.build()
	const unable = "-32603 Unable to load UTXO snapshot: "
	unknown, wrong := chainhash.Hash{7}, chainhash.Hash{6}
	for name, test := range map[string]struct {
		head  messages.CoinFile
		err   error
		pool  int  // transactions in it; -1: it is not asked
		whole bool // all of the file is read
		got   messages.CoinFile
		bad   error
		want  string
	}{
		"no file": {err: messages.ErrNotOpened, pool: -1, want: "-8 Couldn't open file /data/x for reading."},
		"head": {
			err: &messages.CoinFileError{Reason: "why", Head: true}, pool: -1,
			want: "-22 Unable to parse metadata: why",
		},
		"unknown": {
			head: messages.CoinFile{Block: unknown}, pool: -1,
			want: unable + "assumeutxo block hash in snapshot metadata not recognized (hash: " + unknown.String() +
				"). The following snapshot heights are available: 110, 4, 0, 0, 0. (/data/x)",
		},
		"no header": {
			head: messages.CoinFile{Block: missing}, pool: -1,
			want: unable + "The base block header (" + missing.String() + ") must appear in the headers chain. Make sure " +
				"all headers are syncing, and call loadtxoutset again. (/data/x)",
		},
		"invalid": {
			head: messages.CoinFile{Block: invalid.Hash}, pool: -1,
			want: unable + "The base block header (" + invalid.Hash.String() + ") is part of an invalid chain. (/data/x)",
		},
		"fork": {
			head: messages.CoinFile{Block: fork.Hash}, pool: -1,
			want: unable + "A forked headers-chain with more work than the chain with the snapshot base block header " +
				"exists. Please proceed to sync without AssumeUtxo.. (/data/x)",
		},
		"late": {
			head: messages.CoinFile{Block: low.Hash},
			want: unable + "Population failed: Work does not exceed active chainstate. (/data/x)",
		},
		"pool": {
			head: messages.CoinFile{Block: base.Hash}, pool: 1,
			want: unable + "Can't activate a snapshot when mempool not empty. (/data/x)",
		},
		"content": {
			head: messages.CoinFile{Block: base.Hash}, whole: true, bad: &messages.CoinFileError{Reason: "why"},
			want: unable + "Population failed: why. (/data/x)",
		},
		"hash": {
			head: messages.CoinFile{Block: base.Hash}, whole: true, got: messages.CoinFile{Hash: wrong},
			want: unable + "Population failed: Bad snapshot content hash: expected " + set.String() + ", got " +
				wrong.String() + ". (/data/x)",
		},
		"right": {
			head: messages.CoinFile{Block: base.Hash}, whole: true, got: messages.CoinFile{Hash: set},
			want: unable + "The snapshot is right, but this node does not begin with one: it validates all blocks. " +
				"(/data/x)",
		},
	} {
		got := r.start("loadtxoutset", `["x"]`)
		call := actortest.Expect[*checkFile](coins)
		if call.Req != (messages.CheckCoinFile{Path: "/data/x"}) {
			t.Errorf("%s: asked %+v", name, call.Req)
		}
		call.Answer(test.head, test.err)
		if test.pool >= 0 {
			actortest.Expect[*ask.Call[messages.GetPoolInfo, messages.PoolInfo]](pool).Answer(
				messages.PoolInfo{Size: test.pool}, nil)
		}
		if test.whole {
			call := actortest.Expect[*checkFile](coins)
			if *call.Req.At != (messages.Tip{Hash: base.Hash, Height: base.Height}) {
				t.Errorf("%s: asked %+v", name, call.Req)
			}
			call.Answer(test.got, test.bad)
		}
		if text := <-got; text != test.want {
			t.Errorf("%s: got %s\nwant %s", name, text, test.want)
		}
	}
}
