package follower_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
)

// refusedWith asserts that Follow fails with an error that ends nothing.
func refusedWith(t *testing.T, e *follower.Engine, phase messages.AttachPhase, want error) {
	t.Helper()
	err := e.Follow(t.Context())
	if _, ok := errors.AsType[messages.Refusal](err); !ok || want != nil && !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
	if s := e.State(); s.Phase != phase || s.Reason == "" {
		t.Fatalf("phase %s, want %s: %q", s.Phase, phase, s.Reason)
	}
}

func at(t *testing.T, e *follower.Engine, want *chainview.Block) {
	t.Helper()
	if tip := e.Reader().Active().Tip(); tip.Hash != want.Hash {
		t.Fatalf("tip %v at %d, want %v at %d", tip.Hash, tip.Height, want.Hash, want.Height)
	}
}

// A node starts and answers without Core, follows it when it comes, and keeps what it
// has when it goes away, over a start of its own too.
func TestCoreAway(t *testing.T) {
	core := newFakeCore(t)
	cfg := core.config(t, t.TempDir())
	core.down = true
	e := open(t, cfg)
	if s := e.State(); s.Phase != messages.AttachStarting {
		t.Errorf("phase %s", s.Phase)
	}
	refusedWith(t, e, messages.AttachAway, messages.ErrNodeAway)
	tip := core.mine(core.Active().Tip(), 40, 1)
	core.set(func(f *fakeCore) { f.down, f.warmup, f.tip = false, true, tip })
	refusedWith(t, e, messages.AttachAway, messages.ErrNodeAway)
	core.set(func(f *fakeCore) { f.warmup = false })
	follow(t, e)
	at(t, e, tip)
	s := e.State()
	if s.Phase != messages.AttachFollowing || s.Reason != "" || s.Lag != 0 || s.Tip.Height != 40 ||
		s.Node.Version != 300200 || s.Node.Blocks != 40 || s.Node.Chain != "regtest" {
		t.Errorf("%+v", s)
	}
	core.set(func(f *fakeCore) { f.down = true })
	refusedWith(t, e, messages.AttachAway, messages.ErrNodeAway)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, cfg)
	at(t, e, tip)
	if _, err := e.Reader().Raw(&tip.Hash); !errors.Is(err, chainview.ErrNotYet) ||
		!errors.Is(err, corenode.ErrAway) || !errors.Is(err, messages.ErrNodeAway) {
		t.Errorf("a block: %v", err)
	}
	_, err := e.Reader().SpentScripts(&tip.Hash)
	if !errors.Is(err, chainview.ErrNotYet) || !errors.Is(err, chainview.ErrUndo) {
		t.Errorf("what it spends: %v", err)
	}
	genesis := e.Reader().Active().At(0).Hash
	want, _ := core.Raw(&genesis)
	if raw, err := e.Reader().Raw(&genesis); err != nil || !bytes.Equal(raw, want) {
		t.Errorf("the first block: %x, %v", raw, err)
	}
	if _, err := e.Reader().Raw(&chainhash.Hash{1}); !errors.Is(err, chainview.ErrNotFound) {
		t.Errorf("no block: %v", err)
	}
}

// The engine waits for a Core that is behind its old tip and on its way back there.
// It follows a Core down whose operator took blocks away.
func TestHolding(t *testing.T) {
	core := newFakeCore(t)
	e := open(t, core.config(t, t.TempDir()))
	tip := core.mine(core.Active().Tip(), 50, 1)
	core.goTo(tip)
	follow(t, e)
	for _, back := range []func(f *fakeCore){
		func(f *fakeCore) { f.ibd = true },
		func(f *fakeCore) { f.headers = 1 },
	} {
		core.set(func(f *fakeCore) {
			f.tip, f.forgotten = tip.Ancestor(20), map[chainhash.Hash]bool{tip.Hash: true}
			back(f)
		})
		follow(t, e)
		at(t, e, tip)
		if s := e.State(); s.Phase != messages.AttachHolding || s.Reason == "" {
			t.Errorf("%+v", s)
		}
		if _, err := e.Reader().Raw(&tip.Hash); !errors.Is(err, chainview.ErrNotYet) {
			t.Errorf("a block that Core has yet to get back: %v", err)
		}
		core.set(func(f *fakeCore) { f.invalid = tip })
		follow(t, e)
		at(t, e, tip.Ancestor(20))
		core.set(func(f *fakeCore) { f.tip, f.forgotten, f.invalid, f.ibd, f.headers = tip, nil, nil, false, 0 })
		follow(t, e)
		at(t, e, tip)
	}
	core.set(func(f *fakeCore) {
		f.tip, f.ibd, f.forbidden = tip.Ancestor(9), true, map[string]bool{"getchaintips": true}
	})
	follow(t, e)
	at(t, e, tip)
	core.set(func(f *fakeCore) { f.ibd = false })
	follow(t, e)
	at(t, e, tip.Ancestor(9))
}

// Another chain, and a login that may too little, are told and end nothing.
func TestCannotBeFollowed(t *testing.T) {
	core := newFakeCore(t)
	e := open(t, core.config(t, t.TempDir()))
	tip := core.mine(core.Active().Tip(), 3, 1)
	core.goTo(tip)
	follow(t, e)
	higher := core.mine(tip, 2, 1)
	core.set(func(f *fakeCore) { f.tip, f.chain = higher, "test" })
	refusedWith(t, e, messages.AttachOther, follower.ErrOther)
	core.set(func(f *fakeCore) { f.chain, f.forbidden = "regtest", map[string]bool{"getblockheader": true} })
	refusedWith(t, e, messages.AttachOther, corenode.ErrForbidden)
	at(t, e, tip)
	core.set(func(f *fakeCore) {
		f.forbidden = nil
		f.spoil = func(what string, reply []byte) []byte {
			if what == "getblockhash" {
				return []byte(`"` + strings.Repeat("17", 32) + `"`)
			}
			return reply
		}
	})
	refusedWith(t, e, messages.AttachOther, follower.ErrOther)
	core.set(func(f *fakeCore) { f.spoil = nil })
	follow(t, e)
	at(t, e, higher)
}

// A chain that changes between any two answers is followed to where it is then.
func TestChangesMeanwhile(t *testing.T) {
	for _, rest := range []bool{true, false} {
		for n := range 12 {
			core := newFakeCore(t)
			e := open(t, core.config(t, t.TempDir()))
			common := core.mine(core.Active().Tip(), 30, 1)
			a, b := core.mine(common, 70, 2), core.mine(common.Ancestor(5), 120, 3)
			calls := 0
			core.set(func(f *fakeCore) {
				f.tip, f.rest = a, rest
				f.asked = func(string) {
					if calls++; calls == n {
						f.tip = b
					}
				}
			})
			follow(t, e)
			core.set(func(f *fakeCore) { f.asked = nil })
			follow(t, e)
			at(t, e, core.tip)
			core.goTo(b)
			follow(t, e)
			at(t, e, b)
		}
	}
}

// A disk that fails is no refusal: the engine is broken.
func TestDiskFails(t *testing.T) {
	core := newFakeCore(t)
	fs := faultfs.New()
	cfg := core.config(t, t.TempDir())
	cfg.FS = fs
	e := open(t, cfg)
	injected := errors.New("injected")
	fs.Inject(faultfs.From(0, injected))
	core.goTo(core.mine(core.Active().Tip(), 3, 1))
	err := e.Follow(t.Context())
	if _, ok := errors.AsType[messages.Refusal](err); ok || !errors.Is(err, injected) {
		t.Errorf("the disk fails: %v", err)
	}
	at(t, e, core.Active().At(0))
	fs.Inject(nil)
}

// Requests that would change the chain are refused, and end nothing.
func TestRefuses(t *testing.T) {
	core := newFakeCore(t)
	e := open(t, core.config(t, t.TempDir()))
	var hash chainhash.Hash
	mined, err := e.Mine(t.Context(), nil, nil, 0, new(uint64))
	template, templateErr := e.Template(nil, nil, 0)
	_, _, headersErr := e.AcceptHeaders(nil)
	_, coinsErr := e.Coins()
	if mined != nil || template != nil {
		t.Error("a block was made")
	}
	for i, err := range []error{
		e.Accept(nil), e.Prepare(nil)(), e.Submit(nil), e.Propose(nil), headersErr, err, templateErr, coinsErr,
		e.Invalidate(&hash), e.Reconsider(&hash), e.Precious(&hash),
	} {
		if !errors.Is(err, messages.ErrFollows) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := e.Prune(1); !errors.Is(err, messages.ErrNotPruning) {
		t.Error(err)
	}
	if e.Stored() != nil || e.Late() != nil || e.StartPruning() != nil || e.ResumePruning(e.PruneState()) != nil {
		t.Error("something of a validating engine")
	}
}

// An unspent output is Core's; errors of Core's are refusals.
func TestCoin(t *testing.T) {
	core := newFakeCore(t)
	e := open(t, core.config(t, t.TempDir()))
	tip := core.mine(core.Active().Tip(), 5, 1)
	core.goTo(tip)
	reply := `{"bestblock":"` + tip.Hash.String() + `","confirmations":2,"value":12.34500000,` +
		`"scriptPubKey":{"hex":"51"},"coinbase":true}`
	core.set(func(f *fakeCore) {
		f.outputs = func() string { return reply }
	})
	got, err := e.Coin(wire.OutPoint{Index: 7}) // of a tip that is not known yet
	want := messages.Coin{
		Output: wire.NewTxOut(1234500000, []byte{0x51}), Height: 4, Coinbase: true,
		Tip: messages.Tip{Hash: tip.Hash, Height: 5},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]error{
		`null`:                              messages.ErrNoCoin,
		`{"confirmations":"x"}`:             corenode.ErrReply,
		`{"confirmations":1,"value":"1e9"}`: corenode.ErrReply,
	} {
		core.set(func(*fakeCore) { reply = text })
		_, err := e.Coin(wire.OutPoint{})
		if _, ok := errors.AsType[messages.Refusal](err); !ok || !errors.Is(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	core.set(func(f *fakeCore) { f.down = true })
	_, err = e.Coin(wire.OutPoint{})
	if _, ok := errors.AsType[messages.Refusal](err); !ok || !errors.Is(err, corenode.ErrAway) {
		t.Errorf("Core is away: %v", err)
	}
}

// Readers read while the chain moves, and end when the engine does.
func TestReadersBeside(t *testing.T) {
	core := newFakeCore(t)
	e := open(t, core.config(t, t.TempDir()))
	tip := core.mine(core.Active().Tip(), 200, 1)
	core.goTo(tip)
	follow(t, e)
	err := cores.Do(t.Context(), 3, func(worker int) error {
		for h := int32(1); h <= 200; h += 20 {
			switch worker {
			case 0:
				core.goTo(tip.Ancestor(h))
				if err := e.Follow(t.Context()); err != nil {
					return err
				}
			default:
				hash := tip.Ancestor(h).Hash
				if _, err := e.Reader().Raw(&hash); err != nil {
					return err
				}
				if _, _, err := e.Reader().Size(&hash); err != nil {
					return err
				}
				_ = e.State()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Follow(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Reader().Raw(&tip.Hash); !errors.Is(err, chainview.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
