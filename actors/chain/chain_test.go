package chain_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// requests are all that the actor serves; each works on a chain of its own.
var requests = []struct {
	name string
	ask  func(context.Context, *ask.Ref) error

	opening, importing bool // answered at once in that state
}{
	{"SubmitBlock", request(messages.SubmitBlock{Raw: []byte{1}}), false, false},
	{"Generate", request(messages.Generate{Script: trueScript, Count: 1, Tries: many}), false, false},
	{"GenerateBlock", request(messages.GenerateBlock{Script: trueScript, Tries: many}), false, false},
	{"InvalidateBlock", request(messages.InvalidateBlock{}), false, false},
	{"ReconsiderBlock", request(messages.ReconsiderBlock{}), false, false},
	{"SetMockTime", request(messages.SetMockTime{}), false, false},
	{"WaitImported", request(messages.WaitImported{}), false, false},
	{"GetImportStatus", request(messages.GetImportStatus{}), true, true},
	{"WaitOpen", request(messages.WaitOpen{}), false, true},
	{"GetTip", request(messages.GetTip{}), true, true},
	{"GetCoin", request(messages.GetCoin{}), false, false},
	{"WaitTip", request(messages.WaitTip{}), false, true},
	{"AcceptBlocks", request(nodemsg.AcceptBlocks{Raw: [][]byte{{1}}}), false, false},
	{"RestoreBlock", request(nodemsg.RestoreBlock{Raw: []byte{1}}), false, false},
	{"RecoverWitnesses", request(nodemsg.RecoverWitnesses{Raw: []byte{1}}), false, false},
	{"AcceptHeaders", request(nodemsg.AcceptHeaders{Headers: [][]byte{{1}}}), false, false},
}

func request[Q messages.Request[R], R any](q Q) func(context.Context, *ask.Ref) error {
	return func(ctx context.Context, ref *ask.Ref) error {
		_, err := ask.Ask(ctx, ref, q)
		return err
	}
}

// wrong reports an answer that no request of the table may have.
func wrong(err error) bool {
	var reject *messages.RejectError
	return err != nil && !errors.As(err, &reject) && !errors.Is(err, messages.ErrBlockNotFound) &&
		!errors.Is(err, messages.ErrNoCoin) && !errors.Is(err, chainview.ErrNotReady)
}

// Requests before the chain is open, and while a file is read, are answered at
// once if they need no engine, and else in their turn.
func TestRequestsInEveryState(t *testing.T) {
	for _, test := range requests {
		for _, state := range []struct {
			name, method string
			atOnce       bool
		}{
			{"opening", "Open", test.opening},
			{"importing", "Accept", test.importing},
			{"open", "", true},
		} {
			t.Run(test.name+"/"+state.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					actortest.InBubble(t)
					held := make(chan struct{})
					var files []string
					if state.method == "Accept" {
						files = []string{blockFile(t, 0, enginetest.Blocks(t, enginetest.Chain)[:20]...)}
					}
					f := spawnIn(t, t.TempDir(), once(state.method, func() error { <-held; return nil }), files...)
					synctest.Wait()
					answer := make(chan error, 1)
					go func() { answer <- test.ask(t.Context(), f.Ref) }()
					synctest.Wait()
					select {
					case err := <-answer:
						if !state.atOnce || wrong(err) {
							t.Errorf("answered at once: %v", err)
						}
						close(held)
					default:
						if state.atOnce {
							t.Error("not answered at once")
						}
						close(held)
						if err := <-answer; wrong(err) {
							t.Error(err)
						}
					}
					do(t, f, messages.WaitImported{})
					if errs := f.failures(); len(errs) != 0 {
						t.Errorf("failed: %v", errs)
					}
				})
			})
		}
	}
}

func TestGetTipBeforeOpen(t *testing.T) {
	held := make(chan struct{})
	f := spawnIn(t, t.TempDir(), once("Open", func() error { <-held; return nil }))
	if _, err := ask.Ask(t.Context(), f.Ref, messages.GetTip{}); !errors.Is(err, chainview.ErrNotReady) {
		t.Errorf("got %v, want %v", err, chainview.ErrNotReady)
	}
	if f.current.Open() != nil {
		t.Error("readers have a chain already")
	}
	close(held)
	tip := do(t, f, messages.WaitOpen{})
	if tip.Height != 0 || tip.Hash != f.current.Open().Active().Tip().Hash {
		t.Errorf("opened at %v", tip)
	}
}

func TestSubmitBlock(t *testing.T) {
	f := spawn(t)
	block := do(t, f, messages.GenerateBlock{Script: trueScript, Tries: many})
	refused := func(raw []byte, want string) {
		t.Helper()
		_, err := ask.Ask(t.Context(), f.Ref, messages.SubmitBlock{Raw: raw})
		var reject *messages.RejectError
		if !errors.As(err, &reject) || reject.Reason != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	orphan := append([]byte(nil), block.Raw...)
	orphan[4] ^= 1
	for h := chainhash.DoubleHashH(orphan[:80]); h[31] >= 0x7f; h = chainhash.DoubleHashH(orphan[:80]) {
		orphan[76]++ // regtest's proof of work
	}
	refused(orphan, "prev-blk-not-found")
	refused(block.Raw[:100], "bad-block")
	do(t, f, messages.SubmitBlock{Raw: block.Raw})
	if tip := do(t, f, messages.GetTip{}); tip.Hash != block.Hash {
		t.Errorf("tip is %v, want %v", tip, block.Hash)
	}
	refused(block.Raw, "duplicate")
	do(t, f, messages.InvalidateBlock{Hash: block.Hash})
	refused(block.Raw, "duplicate-invalid")
}

func TestGenerate(t *testing.T) {
	f := spawn(t)
	got := do(t, f, messages.Generate{Script: trueScript, Count: 5, Tries: many})
	active := f.current.Open().Active()
	if len(got) != 5 || active.Height() != 5 {
		t.Fatalf("%d blocks, height %d", len(got), active.Height())
	}
	for i, hash := range got {
		if want := active.At(int32(i) + 1).Hash; hash != want {
			t.Errorf("block %d is %v, want %v", i, hash, want)
		}
	}
	if got := do(t, f, messages.Generate{Script: trueScript, Count: 3}); len(got) > 3 {
		t.Errorf("%d blocks out of 3", len(got)) // without tries each has one chance in two
	}
	if got := do(t, f, messages.Generate{Script: trueScript, Count: -1, Tries: many}); len(got) != 0 {
		t.Errorf("%d blocks out of -1", len(got))
	}
}

// A block that cannot be made is about the request, and the node lives on.
func TestGenerateBlock(t *testing.T) {
	f := spawn(t)
	block := do(t, f, messages.GenerateBlock{Script: trueScript, Submit: true, Tries: many})
	if tip := do(t, f, messages.GetTip{}); tip.Hash != block.Hash {
		t.Errorf("tip is %v, want %v", tip, block.Hash)
	}
	for range 64 { // each has one chance in two
		_, err := ask.Ask(t.Context(), f.Ref, messages.GenerateBlock{Script: trueScript})
		if errors.Is(err, messages.ErrNotMineable) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := ask.Ask(t.Context(), f.Ref, messages.GenerateBlock{Script: trueScript, Txs: [][]byte{{1}}, Tries: many})
	var reject *messages.RejectError
	if !errors.As(err, &reject) {
		t.Errorf("bad transaction: %v", err)
	}
	if f.generate(t, 1).Height != 2 || len(f.failures()) != 0 {
		t.Errorf("failed: %v", f.failures())
	}
}

// A block that was invalidated is refused where it is made once more, after a valid template.
func TestGenerateInvalidated(t *testing.T) {
	f := spawn(t)
	do(t, f, messages.SetMockTime{Time: time.Unix(1_400_000_000, 0)})
	tip := f.generate(t, 1)
	do(t, f, messages.InvalidateBlock{Hash: tip.Hash})
	for _, again := range []func(context.Context, *ask.Ref) error{
		request(messages.Generate{Script: trueScript, Count: 2, Tries: many}),
		request(messages.GenerateBlock{Script: trueScript, Tries: many, Submit: true}),
	} {
		if err := again(t.Context(), f.Ref); !errors.Is(err, messages.ErrNotAccepted) {
			t.Errorf("got %v", err)
		}
	}
	shown := do(t, f, messages.GenerateBlock{Script: trueScript, Tries: many})
	_, err := ask.Ask(t.Context(), f.Ref, messages.SubmitBlock{Raw: shown.Raw})
	if reject, ok := errors.AsType[*messages.RejectError](err); !ok || reject.Reason != "duplicate-invalid" {
		t.Errorf("the block is submitted: %v", err)
	}
}

// Invalidating moves to the best chain without the block, reconsidering goes
// back, and both are announced.
func TestInvalidateAndReconsider(t *testing.T) {
	f := spawn(t)
	old := f.generate(t, 10)
	fourth := f.current.Open().Active().At(4).Hash
	do(t, f, messages.InvalidateBlock{Hash: fourth})
	if tip := do(t, f, messages.GetTip{}); tip.Height != 3 {
		t.Errorf("invalidated: height %d, want 3", tip.Height)
	}
	do(t, f, messages.Generate{Script: []byte{0x52}, Count: 2, Tries: many})
	do(t, f, messages.ReconsiderBlock{Hash: fourth})
	if tip := do(t, f, messages.GetTip{}); tip != old {
		t.Errorf("reconsidered: %v, want %v", tip, old)
	}
	for _, unknown := range []func(context.Context, *ask.Ref) error{
		request(messages.InvalidateBlock{Hash: chainhash.Hash{1}}),
		request(messages.ReconsiderBlock{Hash: chainhash.Hash{1}}),
	} {
		if err := unknown(t.Context(), f.Ref); !errors.Is(err, messages.ErrBlockNotFound) {
			t.Errorf("unknown block: %v", err)
		}
	}
}

// A block from the future is refused until the clock is set.
func TestSetMockTime(t *testing.T) {
	f := spawn(t)
	do(t, f, messages.SetMockTime{Time: time.Unix(4_000_000_000, 0)})
	block := do(t, f, messages.GenerateBlock{Script: trueScript, Tries: many})
	do(t, f, messages.SetMockTime{})
	submit := messages.SubmitBlock{Raw: block.Raw}
	var reject *messages.RejectError
	if _, err := ask.Ask(t.Context(), f.Ref, submit); !errors.As(err, &reject) || reject.Reason != "time-too-new" {
		t.Errorf("got %v", err)
	}
	do(t, f, messages.SetMockTime{Time: time.Unix(4_000_000_000, 0)})
	do(t, f, submit)
}

// A plain protoactor request with the message by value is answered with a value
// or an error.
func TestPlainRequests(t *testing.T) {
	f := spawn(t)
	do(t, f, messages.WaitOpen{})
	plain := func(q any) any {
		t.Helper()
		got, err := f.sys.Root.RequestFuture(f.PID(), q, 5*time.Second).Result()
		if err != nil {
			t.Fatalf("%T: %v", q, err)
		}
		return got
	}
	if got, ok := plain(messages.Generate{Script: trueScript, Count: 2, Tries: many}).([]chainhash.Hash); !ok ||
		len(got) != 2 {
		t.Errorf("Generate: %v", got)
	}
	if got, ok := plain(messages.GetTip{}).(messages.Tip); !ok || got.Height != 2 {
		t.Errorf("GetTip: %v", got)
	}
	if err, ok := plain(messages.InvalidateBlock{}).(error); !ok || !errors.Is(err, messages.ErrBlockNotFound) {
		t.Errorf("InvalidateBlock: %v", err)
	}
	for _, q := range []any{
		messages.SubmitBlock{},
		messages.GenerateBlock{Script: trueScript, Tries: many},
		messages.ReconsiderBlock{},
		messages.SetMockTime{},
		messages.WaitImported{},
		messages.GetImportStatus{},
		messages.WaitOpen{},
	} {
		if err, ok := plain(q).(error); ok && wrong(err) {
			t.Errorf("%T: %v", q, err)
		}
	}
	if err, ok := plain(messages.AbortScan{}).(error); !ok || !errors.Is(err, ask.ErrUnhandled) {
		t.Errorf("a request of another actor: %v", err)
	}
}
