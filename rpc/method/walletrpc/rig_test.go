package walletrpc_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/walletrpc"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// A double stands in for an actor: it answers requests as a test says, and keeps
// them. A request that no answer was set for ends the test.
type double struct {
	t     testing.TB
	ref   *ask.Ref
	mu    sync.Mutex
	seen  []any
	serve []func(msg any) bool
}

// doubles counts them, so that each has a name of its own.
var doubles atomic.Int64

func newDouble(tb testing.TB, sys *actortest.System, name string) *double {
	tb.Helper()
	d := &double{t: tb}
	d.ref = sys.Spawn(fmt.Sprintf("%s-%d", name, doubles.Add(1)), func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch c.Message().(type) {
			case actor.AutoReceiveMessage, actor.SystemMessage:
			default:
				d.receive(c)
			}
		})
	})
	return d
}

func (d *double) receive(c actor.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, serve := range d.serve {
		if serve(c.Message()) {
			return
		}
	}
	d.t.Errorf("%s was asked %T", d.ref.Name(), c.Message())
	ask.Unhandled(c)
}

// answer makes the double answer requests of the type of Q. It goes before what
// was set earlier.
func answer[Q messages.Request[R], R any](d *double, reply func(Q) (R, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serve = append([]func(any) bool{func(msg any) bool {
		call, ok := msg.(*ask.Call[Q, R])
		if ok {
			d.seen = append(d.seen, call.Req)
			call.Answer(reply(call.Req))
		}
		return ok
	}}, d.serve...)
}

// asked returns the last request of a type.
func asked[Q any](d *double) Q {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.seen) - 1; i >= 0; i-- {
		if q, ok := d.seen[i].(Q); ok {
			return q
		}
	}
	d.t.Fatalf("%s was not asked %v", d.ref.Name(), reflect.TypeFor[Q]())
	panic("unreachable")
}

// A rig is the methods over doubles, with two wallets.
type rig struct {
	t         testing.TB
	sys       *actortest.System
	chain     *chaintest.Chain
	directory *ask.Directory
	registry  *double
	deps      walletrpc.Deps
	table     *command.Table
	kept      []string // the words of -deprecatedrpc
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	return newRigIn(tb, actortest.New(tb))
}

// newRigIn is newRig within a system that exists.
func newRigIn(tb testing.TB, sys *actortest.System) *rig {
	tb.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	r := &rig{
		t: tb, sys: sys, chain: chaintest.New(network.Params), directory: new(ask.Directory),
		registry: newDouble(tb, sys, "wallets"),
	}
	current := new(chainview.Current)
	current.Set(r.chain)
	r.deps = walletrpc.Deps{
		Network: network, Chain: current, Wallets: r.registry.ref, Directory: r.directory, Currency: "Bitcoin",
		SetTxFee: true,
	}
	r.build()
	return r
}

func (r *rig) build() {
	r.t.Helper()
	table, err := command.NewTable(walletrpc.Commands(r.deps))
	if err != nil {
		r.t.Fatal(err)
	}
	r.table = table.Speak(r.deps.Network.Reference, r.kept...)
}

// load adds a wallet in a state.
func (r *rig) load(name string, info messages.WalletInfo) *double {
	d := newDouble(r.t, r.sys, "wallet-"+name)
	info.Name = name
	answer(d, func(messages.GetWalletInfo) (messages.WalletInfo, error) { return info, nil })
	r.directory.Add(name, d.ref)
	return d
}

// The states of wallets.
var (
	plain    = messages.WalletInfo{Format: "sqlite", PrivateKeys: true}
	locked   = messages.WalletInfo{Format: "sqlite", PrivateKeys: true, Encrypted: true}
	unlocked = messages.WalletInfo{
		Format: "sqlite", PrivateKeys: true, Encrypted: true, UnlockedUntil: time.Unix(1_800_000_000, 0),
	}
	watching = messages.WalletInfo{Format: "sqlite"}
)

// call returns the text of a result or of an error. path is the wallet's name in
// the path, nil for none.
func (r *rig) call(path *string, method, params string) string {
	r.t.Helper()
	v, err := jsontree.Parse([]byte(params))
	if err != nil {
		r.t.Fatalf("%s: %v", params, err)
	}
	return r.run(r.t.Context(), path, method, v)
}

func (r *rig) run(ctx context.Context, path *string, method string, params *jsontree.Value) string {
	r.t.Helper()
	var result any
	call, err := r.table.Prepare(command.Caller{WalletPath: path}, method, params)
	if err == nil {
		result, err = call.Run(ctx)
	}
	if err != nil {
		e, known := r.table.Reveal(err)
		if !known {
			r.t.Errorf("%s %v: error without words: %v", method, params, err)
		}
		result = e
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		r.t.Errorf("%s %v: %v", method, params, err)
	}
	return string(text)
}

// readLines decodes a compressed file with one JSON value a line.
func readLines[T any](tb testing.TB, path string) []T {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var all []T
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			tb.Fatal(err)
		}
		all = append(all, v)
	}
	if lines.Err() != nil || len(all) == 0 {
		tb.Fatalf("%s: %d lines, %v", path, len(all), lines.Err())
	}
	return all
}
