package blockindex_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/index/blocks"
	"github.com/seed61375155/trawl/messages"
)

// scriptsRig is an index of scripts over a chain in memory, with its actor and its reader.
type scriptsRig struct {
	chain   *chaintest.Chain
	current *chainview.Current
	tip     *ask.Feed[messages.TipChanged]
	config  blocks.Config
	store   *blocks.Scripts
	reader  *blocks.ScriptReader
	system  *actortest.System
	log     strings.Builder
}

func newScriptsRig(t *testing.T) *scriptsRig {
	t.Helper()
	net, err := dialect.Named("", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	r := &scriptsRig{
		chain: chaintest.NewOn(net), current: new(chainview.Current), tip: new(ask.Feed[messages.TipChanged]),
		system: actortest.New(t),
	}
	r.config = blocks.Config{Dir: t.TempDir(), Network: net, Log: slog.New(slog.NewTextHandler(&r.log, nil))}
	r.current.Set(r.chain)
	return r
}

var opened int

// open opens the index and starts its actor.
func (r *scriptsRig) open(t *testing.T) {
	t.Helper()
	var err error
	if r.store, err = blocks.OpenScripts(r.config); err != nil {
		t.Fatal(err)
	}
	opened++
	ref := r.system.Spawn(fmt.Sprint("scripts", opened), blockindex.New(blockindex.Config{
		Name: blocks.ScriptsName, Target: index.NewTarget(blocks.ScriptsName, r.store, r.system.Log), Chain: r.current,
		Tip: r.tip, Log: r.system.Log, OnFailed: func(err error) { t.Error(err) },
	}), blockindex.Requests...)
	r.reader = &blocks.ScriptReader{Index: r.store, Network: r.config.Network, Chain: r.current, Keeper: ref}
}

func (r *scriptsRig) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(r.reader.Keeper.Stop(t.Context()), r.store.Close()); err != nil {
		t.Fatal(err)
	}
}

func (r *scriptsRig) settle(t *testing.T) {
	t.Helper()
	tip := r.chain.Active().Tip()
	r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
	if _, err := ask.Ask(t.Context(), r.reader.Keeper, messages.WaitIndexIdle{}); err != nil {
		t.Fatal(err)
	}
}

// wallets are scripts that blocks of a test pay to: the first by all, the last but one by few, the last by none.
var wallets = [][]byte{{0x51}, {0x52}, {}, {0x53, 0x51}, {0x01, 0x02, 0x03}, {0x54}, {0x55, 0x55}}

// grow makes blocks on a parent: they pay to the scripts, and spend outputs of their branch and of themselves.
func (r *scriptsRig) grow(random *rand.Rand, parent *chainview.Block, n int) *chainview.Block {
	for range n {
		unspent := r.unspent(parent)
		var txs []*wire.MsgTx
		for range random.IntN(4) {
			if len(unspent) == 0 {
				break
			}
			at := random.IntN(len(unspent))
			coin := unspent[at]
			unspent = slices.Delete(unspent, at, at+1)
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(wire.NewTxIn(&coin.out, nil, nil))
			for i := range 1 + random.IntN(3) {
				script := wallets[random.IntN(len(wallets)-2)]
				if random.IntN(60) == 0 {
					script = wallets[len(wallets)-2]
				}
				value := coin.value / int64(2+i)
				tx.AddTxOut(wire.NewTxOut(value, script))
				unspent = append(unspent, coinAt{wire.OutPoint{Index: uint32(i)}, value})
			}
			tx.AddTxOut(wire.NewTxOut(0, []byte{0x6a, 1, byte(random.IntN(256))}))
			id := tx.TxHash()
			for i := range tx.TxOut[1:] {
				unspent[len(unspent)-1-i].out.Hash = id
			}
			txs = append(txs, tx)
		}
		parent = r.chain.MineOn(parent, chaintest.Template{Script: wallets[0], Txs: txs})
	}
	return parent
}

type coinAt struct {
	out   wire.OutPoint
	value int64
}

// unspent returns some outputs that a block on parent may spend.
func (r *scriptsRig) unspent(parent *chainview.Block) (list []coinAt) {
	spent := map[wire.OutPoint]bool{}
	for b := parent; b.Height > 0; b = b.Parent {
		block, _ := r.chain.Block(&b.Hash)
		for _, tx := range slices.Backward(block.Transactions) {
			id := tx.TxHash()
			for n, out := range tx.TxOut {
				if at := (wire.OutPoint{Hash: id, Index: uint32(n)}); !spent[at] && out.Value > 100 && len(list) < 30 {
					list = append(list, coinAt{at, out.Value})
				}
			}
			for _, in := range tx.TxIn {
				spent[in.PreviousOutPoint] = true
			}
		}
	}
	return list
}

// history is what whole blocks say of a script: the oracle.
func (r *scriptsRig) history(script []byte) (lines []string, balance int64) {
	paid := map[wire.OutPoint]int64{}
	active := r.chain.Active()
	for h := int32(1); h <= active.Height(); h++ {
		block, _ := r.chain.Block(&active.At(h).Hash)
		for _, tx := range block.Transactions {
			id := tx.TxHash()
			for n, in := range tx.TxIn {
				if value, ok := paid[in.PreviousOutPoint]; ok {
					lines = append(lines, fmt.Sprint("spend ", h, id, n, value, in.PreviousOutPoint))
					delete(paid, in.PreviousOutPoint)
					balance -= value
				}
			}
			for n, out := range tx.TxOut {
				if string(out.PkScript) == string(script) {
					paid[wire.OutPoint{Hash: id, Index: uint32(n)}] = out.Value
					balance += out.Value
					lines = append(lines, fmt.Sprint("receive ", h, id, n, out.Value, wire.OutPoint{}))
				}
			}
		}
	}
	return lines, balance
}

// page asks for a part of a history.
func (r *scriptsRig) page(t *testing.T, script []byte, cursor string, limit int) (messages.ScriptPage, error) {
	t.Helper()
	return r.reader.History(t.Context(), messages.GetScriptHistory{Script: script, Cursor: cursor, Limit: limit})
}

// check holds all histories, page by page, and balances against the oracle.
func (r *scriptsRig) check(t *testing.T, limit int) {
	t.Helper()
	tip := r.chain.Active().Tip()
	for _, script := range wallets {
		want, sum := r.history(script)
		var got []string
		cursor := ""
		for more := true; more; {
			page, err := r.page(t, script, cursor, limit)
			if err != nil {
				t.Fatalf("script %x from %q: %v", script, cursor, err)
			}
			if page.Block != tip.Hash || page.Height != tip.Height || len(page.Entries) > limit ||
				page.More && page.Cursor == cursor {
				t.Fatalf("script %x: page %+v", script, page)
			}
			for _, e := range page.Entries {
				b := r.chain.Active().At(e.Height)
				if e.Block != b.Hash || !e.Time.Equal(b.Time()) || string(e.Script) != string(script) {
					t.Fatalf("entry %+v", e)
				}
				prev := wire.OutPoint{Hash: e.PrevTxID, Index: e.PrevVout}
				got = append(got, fmt.Sprint(string(e.Type)+" ", e.Height, e.TxID, e.N, e.Amount, prev))
			}
			cursor, more = page.Cursor, page.More
		}
		if !slices.Equal(got, want) {
			t.Fatalf("script %x at %d, pages of %d: %d entries, want %d\n%s\nwant\n%s", script, tip.Height, limit, len(got),
				len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		balance, err := r.reader.Balance(t.Context(), script)
		if err != nil || int64(balance.Balance) != sum || balance.Balance != balance.Received-balance.Spent ||
			balance.Outputs+balance.Spends != len(want) || balance.Block != tip.Hash || balance.Height != tip.Height {
			t.Fatalf("script %x: balance %+v, want %d: %v", script, balance, sum, err)
		}
	}
}

// The index answers what the blocks say: of an old chain, of a growing and reorganised chain, after a restart, and
// after a rebuild.
func TestScriptHistories(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := newScriptsRig(t)
	r.grow(random, r.chain.Active().Tip(), 60)
	r.open(t)
	r.settle(t)
	r.check(t, 1)
	for round := range 6 {
		tip := r.chain.Active().Tip()
		back := int32(random.IntN(8))
		r.grow(random, tip.Ancestor(tip.Height-back), int(back)+1+random.IntN(10))
		if round == 3 {
			r.close(t)
			r.open(t)
		}
		r.settle(t)
		r.check(t, 1+random.IntN(20))
	}
	if r.log.Len() > 0 {
		t.Errorf("logged: %s", &r.log)
	}
	r.close(t)
	r.config.Anew = true
	r.open(t)
	r.settle(t)
	r.check(t, 1000)
	r.close(t)
}

// An answer of a busy script is an error and never a part, or nothing. So is one before all blocks were read.
func TestScriptsRefused(t *testing.T) {
	r := newScriptsRig(t)
	r.grow(rand.New(rand.NewPCG(3, 4)), r.chain.Active().Tip(), 30)
	r.open(t)
	r.settle(t)
	ctx := t.Context()
	r.reader.Most = 29
	var large *messages.HistoryTooLargeError
	if page, err := r.page(t, wallets[0], "", 5); !errors.As(err, &large) ||
		large.Blocks != 30 || page.Entries != nil || !strings.HasPrefix(err.Error(), "history too large") {
		t.Errorf("busy script: %+v, %v", page, err)
	}
	if _, err := r.reader.Balance(ctx, wallets[0]); !errors.As(err, &large) {
		t.Errorf("balance of a busy script: %v", err)
	}
	r.reader.Most = 30
	first, err := r.page(t, wallets[0], "", 5)
	if err != nil || len(first.Entries) != 5 || !first.More {
		t.Errorf("first page: %+v, %v", first, err)
	}
	for cursor, limit := range map[string]int{
		"x": 5, "00": 5, first.Cursor + "00": 5, "ff" + first.Cursor[2:]: 5,
		first.Cursor[:8] + "ff" + first.Cursor[10:]:                                5,
		strings.Replace(first.Cursor, first.Cursor[20:40], first.Cursor[22:42], 1): 5, first.Cursor: 0,
	} {
		want := messages.ErrBadCursor
		if limit == 0 {
			want = messages.ErrPageLimit
		}
		if _, err := r.page(t, wallets[0], cursor, limit); !errors.Is(err, want) {
			t.Errorf("cursor %s: %v, want %v", cursor, err, want)
		}
	}
	// The block of a cursor leaves the chain.
	r.chain.MineOn(r.chain.Active().At(1).Parent, chaintest.Template{})
	fork := r.chain.Active().At(0)
	for range 40 {
		fork = r.chain.MineOn(fork, chaintest.Template{Script: []byte{0x59}})
	}
	r.settle(t)
	if _, err := r.page(t, wallets[0], first.Cursor, 5); !errors.Is(err, messages.ErrBadCursor) {
		t.Errorf("cursor of a block that has left: %v", err)
	}
	r.check(t, 3)
	for _, script := range [][]byte{{0x6a}, {0x6a, 1, 2}} {
		if _, err := r.reader.Balance(ctx, script); !errors.Is(err, messages.ErrScriptUnspendable) {
			t.Errorf("script %x: %v", script, err)
		}
	}
	r.reader.Most = 0
	// Blocks cannot be read.
	r.chain.Fail(r.chain.Active().At(7), chainview.ErrUnreadable)
	page, err := r.page(t, []byte{0x59}, "", 100)
	if !errors.Is(err, chainview.ErrUnreadable) || page.Entries != nil {
		t.Errorf("unreadable: %+v, %v", page, err)
	}
	r.close(t)
	r.reader.Chain = new(chainview.Current)
	if _, err := r.reader.Balance(ctx, wallets[0]); !errors.Is(err, chainview.ErrNotReady) {
		t.Errorf("without a chain: %v", err)
	}
	r.config.Prunes = true
	const refused = "Prune mode is incompatible with -scriptindex."
	if _, err := blocks.OpenScripts(r.config); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("with pruning: %v", err)
	}
}

// A reader that meets damage has the index built anew. Until it is, the answer is an error.
func TestDamagedScripts(t *testing.T) {
	r := newScriptsRig(t)
	r.grow(rand.New(rand.NewPCG(5, 6)), r.chain.Active().Tip(), 300)
	r.open(t)
	r.settle(t)
	r.close(t)
	tables, _ := filepath.Glob(filepath.Join(r.config.Dir, blocks.ScriptsName, "*.tab"))
	if len(tables) == 0 {
		t.Fatal("there is no table")
	}
	for _, path := range tables {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 256; at < len(raw)-24; at++ {
			raw[at] ^= 1
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.open(t)
	r.settle(t)
	var behind *messages.ScriptIndexBehindError
	_, err := r.reader.Balance(t.Context(), wallets[0])
	if !errors.As(err, &behind) {
		t.Fatalf("damaged: %v", err)
	}
	for errors.As(err, &behind) {
		_, err = r.reader.Balance(t.Context(), wallets[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	r.check(t, 100)
	r.close(t)
}
