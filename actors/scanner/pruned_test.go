package scanner_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// key returns what looks like a public key.
func key(n byte) []byte { return []byte{0: 2, 32: n} }

// segwit returns the P2WPKH output script of a key.
func segwit(n byte) []byte {
	return append([]byte{txscript.OP_0, 20}, btcutil.Hash160(key(n))...)
}

// taproot returns a P2TR output script.
func taproot(n byte) []byte { return []byte{0: txscript.OP_1, 1: 32, 33: n} }

// prunedRig is a chain whose blocks are all pruned, and come back by fetching.
// Block 1 pays segwit(1), block 2 taproot(2). Block 3 spends the first output
// and block 4 the second, both to other scripts. Block 5 is empty.
func prunedRig(t *testing.T) (r *rig, raws map[chainhash.Hash][]byte) {
	t.Helper()
	r = newRig(t, 0)
	spend := func(height int, witness wire.TxWitness) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		out := wire.OutPoint{Hash: r.block(t, height).Transactions[0].TxHash()}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out, Witness: witness})
		tx.AddTxOut(wire.NewTxOut(1, script(50+height)))
		return tx
	}
	r.chain.Mine(chaintest.Template{Script: segwit(1)})
	r.chain.Mine(chaintest.Template{Script: taproot(2)})
	r.chain.Mine(chaintest.Template{Script: script(3), Txs: []*wire.MsgTx{
		spend(1, wire.TxWitness{make([]byte, 71), key(1)}),
	}})
	r.chain.Mine(chaintest.Template{Script: script(4), Txs: []*wire.MsgTx{spend(2, wire.TxWitness{make([]byte, 64)})}})
	r.chain.Mine(chaintest.Template{Script: script(5)})
	raws = map[chainhash.Hash][]byte{}
	return r, raws
}

// byChance returns a script that a block has not, although its filter matches.
func (r *rig) byChance(t *testing.T, height int32) []byte {
	t.Helper()
	hash := r.chain.Active().At(height).Hash
	raw, err := r.chain.Raw(&hash)
	if err != nil {
		t.Fatal(err)
	}
	spent, err := r.chain.SpentScripts(&hash)
	if err != nil {
		t.Fatal(err)
	}
	built, err := new(filters.Builder).BuildBlock(&hash, raw, filters.HeaderLen, spent)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		var some [][]byte
		for range 20_000 {
			n++
			some = append(some, script(n<<8))
		}
		for hit, _ := filters.Match(&hash, built, some); hit && len(some) > 1; {
			if half, _ := filters.Match(&hash, built, some[:len(some)/2]); half {
				some = some[:len(some)/2]
			} else {
				some = some[len(some)/2:]
			}
		}
		if len(some) == 1 {
			return some[0]
		}
	}
}

// spawnPruned prunes all blocks, and starts a scanner that fetches those that are not
// missing, counted.
func (r *rig) spawnPruned(
	t *testing.T, raws map[chainhash.Hash][]byte, missing map[int32]bool, cfg match.SchedulerConfig,
) (ref *ask.Ref, fetches *atomic.Int32) {
	t.Helper()
	for h := range r.chain.Active().Height() + 1 {
		b := r.chain.Active().At(h)
		raw, err := r.chain.Raw(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		raws[b.Hash] = raw
		r.chain.Fail(b, chainview.ErrPruned)
		r.chain.FailUndo(b, chainview.ErrPruned)
	}
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	fetches = new(atomic.Int32)
	fetch := func(_ context.Context, hash *chainhash.Hash) (got chainview.Fetched, err error) {
		fetches.Add(1)
		if missing[r.chain.Lookup(hash).Height] {
			return got, nodemsg.ErrNoSource
		}
		got.Raw = raws[*hash]
		got.Block, _, err = net.ReadBlock(got.Raw)
		return got, err
	}
	sys := actortest.New(t)
	cfg.Log = sys.Log
	return sys.Spawn("scanner", scanner.New(scanner.Config{
		Scheduler: match.NewScheduler(cfg), Chain: r.current, Indexer: r.indexer, Log: sys.Log,
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Fetch: fetch,
	}), scanner.Requests...), fetches
}

// Blocks that were pruned are fetched for filter_false_positives: what they show
// decides, and what they cannot show fails the scan.
func TestPrunedBlocks(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) { checkPruned(t, way) })
	}
}

func checkPruned(t *testing.T, way match.Way) {
	t.Helper()
	r, raws := prunedRig(t)
	do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
	chance := r.byChance(t, 4)
	missing := map[int32]bool{}
	ref, fetches := r.spawnPruned(t, raws, missing, match.SchedulerConfig{
		Source: filter.NewSource(r.store), Way: way,
	})
	for _, test := range []struct {
		name    string
		scripts [][]byte
		heights []int32
		fails   error
		missing int32
	}{
		{"received", [][]byte{script(5)}, []int32{5}, nil, 0},
		{"received and spent, shown", [][]byte{segwit(1)}, []int32{1, 3}, nil, 0},
		{"spent, not shown", [][]byte{taproot(2)}, nil, chainview.ErrPruned, 0},
		{"nowhere", [][]byte{segwit(9)}, nil, nil, 0},
		{"no peer has it", [][]byte{script(5)}, nil, chainview.ErrPruned, 5},
		{"one by chance", [][]byte{chance}, nil, nil, 0},
		{"one by chance, beside one that need not be shown", [][]byte{chance, taproot(9)}, nil, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			clear(missing)
			missing[test.missing] = test.missing > 0
			o := order{scripts: test.scripts, to: r.chain.Active().Height(), checkBlocks: true}
			got, err := r.run(t.Context(), ref, o)
			if !errors.Is(err, test.fails) {
				t.Fatalf("got %v, want %v", err, test.fails)
			}
			if err != nil {
				return
			}
			if len(got.Blocks) != len(test.heights) || !got.Completed {
				t.Fatalf("got %+v, want blocks at %v", got, test.heights)
			}
			for i, h := range test.heights {
				if got.Blocks[i] != r.chain.Active().At(h).Hash {
					t.Errorf("got %v, want the block at %d", got.Blocks[i], h)
				}
			}
		})
	}
	if fetches.Load() == 0 {
		t.Error("nothing was fetched")
	}
}

// The filter of a block that cannot tell is made again where it is damaged: no answer
// rests on it as it is.
func TestPrunedBlockOfADamagedFilter(t *testing.T) {
	r, raws := prunedRig(t)
	do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
	chance := r.byChance(t, 4)
	var fault any
	var repairs []int32
	var repair error
	var held atomic.Int32
	ref, _ := r.spawnPruned(t, raws, nil, match.SchedulerConfig{
		Source: hookedSource{Source: countedSource{filter.NewSource(r.store), &held}, fault: func(at heights) any {
			if at.to-at.from == 1 { // not of the matching
				return fault
			}
			return nil
		}},
		Repair: func(_ context.Context, block *chainhash.Hash) error {
			fault, repairs = nil, append(repairs, r.chain.Lookup(block).Height)
			return repair
		},
	})
	for _, test := range []struct {
		name   string
		fault  any
		repair error
	}{
		{"unreadable", error(&match.DamagedError{Block: r.chain.Active().At(4).Hash, Err: errBroken}), nil},
		{"in memory that fails", guardFault{errBroken}, nil},
		{"not what was stored", func(batch []filters.Filter) {
			batch[0].Data = bytes.Clone(batch[0].Data)
			batch[0].Data[len(batch[0].Data)-2] ^= 1
		}, nil},
		{"that cannot be made again", guardFault{errBroken}, chainview.ErrPruned},
	} {
		t.Run(test.name, func(t *testing.T) {
			fault, repair, repairs = test.fault, test.repair, nil
			o := order{scripts: [][]byte{chance, taproot(9)}, to: r.chain.Active().Height(), checkBlocks: true}
			got, err := r.run(t.Context(), ref, o)
			if !errors.Is(err, test.repair) || !slices.Equal(repairs, []int32{4}) {
				t.Errorf("got %v after repairs of %v", err, repairs)
			}
			if n := held.Load(); n != 0 {
				t.Errorf("%d views are held", n)
			}
			var failed *messages.FilterError
			if test.repair == nil && (!got.Completed || len(got.Blocks) > 0) ||
				test.repair != nil && (!errors.As(err, &failed) || failed.Block != r.chain.Active().At(4).Hash) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}
