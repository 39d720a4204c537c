package forward_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/forward"
)

// newForwarder returns a forwarder that knows the methods of the node.
func newForwarder(t *testing.T, c forward.Config) *forward.Forwarder {
	t.Helper()
	f := forward.New(c)
	f.Serve(forward.Table(t, nil))
	return f
}

// A call that depends on the tip is answered after a look at Core, once; a call about an unknown
// block after another look.
func TestOwnFollows(t *testing.T) {
	missing := command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}
	beyond := command.Error{Code: command.InvalidParameter, Message: "Block height out of range"}
	tests := []struct {
		method        string
		fails         []error // of the first runs
		follows, runs int
		err           error
	}{
		{"getblockcount", nil, 1, 1, nil},
		{"scanblocks", nil, 1, 1, nil},
		{"getblockheader", nil, 0, 1, nil},
		{"getblockheader", []error{missing}, 1, 2, nil},
		{"getblockfilter", []error{missing, missing}, 1, 2, missing},
		{"getblockhash", []error{beyond}, 1, 2, nil},
		{"getblockfilter", []error{errors.New("disk")}, 0, 1, errors.New("disk")},
		{"validateaddress", []error{missing}, 0, 1, missing},
		{"uptime", nil, 0, 1, nil},
	}
	for _, test := range tests {
		var follows, runs int
		f := newForwarder(t, forward.Config{Follow: func(context.Context) error {
			follows++
			return nil
		}})
		_, err := f.Own(t.Context(), command.Caller{}, test.method, nil, func() (any, error) {
			if runs++; runs <= len(test.fails) {
				return nil, test.fails[runs-1]
			}
			return "x", nil
		})
		if follows != test.follows || runs != test.runs || (err == nil) != (test.err == nil) ||
			err != nil && err.Error() != test.err.Error() {
			t.Errorf("%s: looked %d times, ran %d times, %v; want %d, %d, %v",
				test.method, follows, runs, err, test.follows, test.runs, test.err)
		}
	}
}

// A Core that hangs delays an answer for a moment, and not each.
func TestOwnOfSlowCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		f := newForwarder(t, forward.Config{Follow: func(ctx context.Context) error {
			asked.Add(1)
			<-ctx.Done()
			return context.Cause(ctx)
		}})
		began := time.Now()
		for range 100 {
			if got, err := f.Own(
				t.Context(), command.Caller{}, "getblockcount", nil, func() (any, error) { return 7, nil },
			); got != 7 || err != nil {
				t.Fatal(got, err)
			}
		}
		if took := time.Since(began); took > 300*time.Millisecond || asked.Load() != 1 {
			t.Errorf("100 answers took %v, Core was asked %d times", took, asked.Load())
		}
		time.Sleep(2 * time.Second)
		_, _ = f.Own(t.Context(), command.Caller{}, "getblockcount", nil, func() (any, error) { return 7, nil })
		if asked.Load() != 2 {
			t.Error("Core is not asked again")
		}
	})
}

// Where the node waits in vain to follow Core, Core is asked whether it is there at all.
func TestSlowCoreIsPinged(t *testing.T) {
	asked := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{} }))
	defer server.Close()
	address, err := corenode.ParseAddress(server.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	client, err := corenode.New(corenode.Config{Address: address, User: "a", Password: "b"})
	if err != nil {
		t.Fatal(err)
	}
	f := newForwarder(t, forward.Config{Core: client, Follow: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	if _, err := f.Own(
		t.Context(), command.Caller{}, "getblockcount", nil, func() (any, error) { return 7, nil },
	); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Error("Core is not asked")
	}
}

// getindexinfo has Core's indexes too, except an index that this node keeps itself, and only for
// callers with the right to Core's indexes.
func TestOwnIndexes(t *testing.T) {
	const (
		theirs = `{"txindex":{"synced":true,"best_block_height":9},"basic block filter index":{"synced":false}}`
		both   = `{"txindex":{"synced":true,"best_block_height":9},"basic block filter index":5}`
		ours   = `{"basic block filter index":5}`
	)
	tests := []struct {
		name, login, reply, params string
		mode                       forward.Mode
		want                       string
	}{
		{"both", asCookie, theirs, `[]`, forward.Default, both},
		{"for an own login", asOwn, theirs, `[]`, forward.Default, both},
		{"one by name", asCookie, theirs, `["txindex"]`, forward.Default, both},
		{"another by name", asCookie, theirs, `["coinstatsindex"]`, forward.Default, ours},
		{"nothing is passed on", asOwn, theirs, `[]`, forward.None, ours},
		{"nonsense", asCookie, `7`, `[]`, forward.Default, ours},
		{"broken", asCookie, `{`, `[]`, forward.Default, ours},
	}
	for _, test := range tests {
		p := newPair(t, func(c *forward.Config) { c.Mode = test.mode })
		p.core.replies["getindexinfo"] = `{"jsonrpc":"2.0","result":` + test.reply + `,"id":0}`
		_, reply := p.post(t, test.login, "/", `{"jsonrpc":"2.0","id":1,"method":"getindexinfo","params":`+test.params+`}`)
		if want := `{"jsonrpc":"2.0","result":` + test.want + `,"id":1}`; strings.TrimSpace(reply) != want {
			t.Errorf("%s: got %s, want %s", test.name, reply, want)
		}
	}
}

// A block that is not known here may be known to Core: it answers, or the node where that
// is away or the call may not be passed on.
func TestOwnUnknownBlock(t *testing.T) {
	const known = `{"jsonrpc":"2.0","result":{"height":-1},"id":0}`
	notHere := command.Error{Code: command.MiscError, Message: "Block not available (not fully downloaded)"}
	missing := command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}
	tests := []struct {
		name, method, reply string
		mode                forward.Mode
		result              string
		err                 error
	}{
		{"Core knows it", "getblockheader", known, forward.Default, `{"height":-1}`, nil},
		{"Core knows its header", "getblock", `{"jsonrpc":"2.0","error":{"code":-1,"message":"` + notHere.Message +
			`"},"id":0}`, forward.Default, "", notHere},
		{"it cannot be read here", "getblockstats", known, forward.Default, `{"height":-1}`, nil},
		{"nothing is passed on", "getblockheader", known, forward.None, "", missing},
		{"nonsense", "getblockheader", `x`, forward.Default, "", missing},
		{"another method", "getblockhash", known, forward.Default, "", missing},
	}
	for _, test := range tests {
		p := newPair(t, func(c *forward.Config) { c.Mode = test.mode })
		p.forwarder.Serve(forward.Table(t, nil))
		p.core.replies[test.method] = test.reply
		result, err := p.forwarder.Own(
			t.Context(), command.Caller{}, test.method, nil, func() (any, error) { return nil, missing },
		)
		text := ""
		if result != nil {
			raw, err := jsontree.Append(nil, result)
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if !errors.Is(err, test.err) || text != test.result {
			t.Errorf("%s: %s, %v; want %s, %v", test.name, text, err, test.result, test.err)
		}
	}
}

// Before anything is known of Core's chain, answers about it would be those of an empty one: they
// are refused, and all others are given.
func TestChainUnknown(t *testing.T) {
	unknown := command.Error{Code: command.InWarmup, Message: "not reached yet"}
	for method, refused := range map[string]bool{
		"getblockcount": true, "getbestblockhash": true, "getblockhash": true, "getblock": true, "getblockfilter": true,
		"scanblocks": true, "getindexinfo": true, "getdescriptoractivity": true, "waitfornewblock": true,
		"getattachinfo": false, "uptime": false, "stop": false, "validateaddress": false, "help": false,
	} {
		f := newForwarder(t, forward.Config{Known: func(context.Context) error { return unknown }})
		ran := false
		_, err := f.Own(t.Context(), command.Caller{}, method, nil, func() (any, error) { ran = true; return 0, nil })
		if ran == refused || refused != errors.Is(err, unknown) {
			t.Errorf("%s: ran %t, %v", method, ran, err)
		}
	}
}
