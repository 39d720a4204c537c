package forward_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/forward"
)

// status answers with an HTTP status and a body.
func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

// hangUp gives no answer.
func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// endless announces more than can be kept, and ends early.
func endless(w http.ResponseWriter) {
	w.Header().Set("Content-Length", strconv.Itoa(corenode.MaxReply+1))
	_, _ = w.Write([]byte(beginV2 + `{"activity":[`))
}

// A status with which Core refuses a request is that of the reply; a Core without wallets has no method of wallets.
func TestStatuses(t *testing.T) {
	p := newPair(t, func(c *forward.Config) { c.Mode = forward.All })
	for _, test := range []struct {
		reply func(http.ResponseWriter)
		want  error
	}{
		{status(403, ""), command.Refused(403)},
		{status(503, "Work queue depth exceeded"), command.Refused(503)},
		{status(404, ""), command.ErrMethodNotFound},
		{status(404, `{"error":{"code":-5,"message":"no"},"id":0}`), command.Error{Code: -5, Message: "no"}},
		{status(500, `{"error":{"code":-5,"message":"no"},"id":0}`), command.Error{Code: -5, Message: "no"}},
	} {
		p.core.answer("sendmany", test.reply)
		_, err := p.forwarder.Forward(t.Context(), command.Caller{}, "sendmany", nil)
		if !errors.Is(err, test.want) {
			t.Errorf("%v, want %v", err, test.want)
		}
	}
	for code, want := range map[int]int{401: 401, 403: 403, 503: 503, 301: 500} {
		p.core.answer("sendmany", status(code, ""))
		if got, reply := p.post(t, asAlice, "/", `{"method":"sendmany","id":1}`); got != want {
			t.Errorf("Core's user gets %d %s for %d", got, reply, code)
		}
	}
	p.core.answer("sendmany", status(301, ""))
	_, err := p.forwarder.Forward(t.Context(), command.Caller{}, "sendmany", nil)
	if refusal, _ := errors.AsType[command.Error](err); refusal.Code != command.MiscError {
		t.Errorf("%v for what is none of Core's answers", err)
	}
}

// A reply that may be secret is overwritten once it is sent; a public reply is not searched for secrets.
func TestSecretReplies(t *testing.T) {
	p := newPair(t, func(c *forward.Config) { c.Mode = forward.All })
	for method, secret := range map[string]bool{"sendmany": true, "getmempoolinfo": false} {
		result, err := p.forwarder.Forward(t.Context(), command.Caller{}, method, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := jsontree.Append(nil, result)
		teller, shows := result.(command.Teller)
		if shows != secret {
			t.Errorf("%s shows secrets: %v", method, shows)
			continue
		}
		if shows {
			for _, s := range teller.Secrets() {
				clear(s)
			}
			if after, _ := jsontree.Append(nil, result); len(before) == 0 || strings.Trim(string(after), "\x00") != "" {
				t.Errorf("%s is left of %s", after, before)
			}
		}
	}
}

// Parameters are sent as they came; without any, none are.
func TestParametersPassedOn(t *testing.T) {
	p := newPair(t, nil)
	text, err := jsontree.Parse([]byte(`{"a": [1.50, null], "b": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		params *jsontree.Value
		want   string
	}{
		{nil, `}`}, {jsontree.NewArray(), `,"params":[]}`}, {text, `,"params":{"a":[1.50,null],"b":{}}}`},
	} {
		if _, err := p.forwarder.Forward(t.Context(), command.Caller{}, "getmempoolinfo", test.params); err != nil {
			t.Fatal(err)
		}
		want := `__cookie__ {"jsonrpc":"2.0","id":0,"method":"getmempoolinfo"` + test.want
		if got := p.core.seen[len(p.core.seen)-1]; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// getindexinfo is answered with the node's own indexes alone where those of Core cannot be had as a short list.
func TestOwnIndexesAlone(t *testing.T) {
	list := func(n int) string { // of an index with a name of so many bytes
		return `{"` + strings.Repeat("x", n) + `":{}}`
	}
	frame := len(`{"jsonrpc":"2.0","result":,"id":0}`)
	reply := func(result string) func(http.ResponseWriter) {
		return status(200, `{"jsonrpc":"2.0","result":`+result+`,"id":0}`)
	}
	ours := jsontree.Members{{Key: corenode.FilterIndex, Value: 5}}
	named := jsontree.NewObject()
	named.Add("index_name", jsontree.NewString("txindex"))
	other := jsontree.NewObject()
	other.Add("index_name", jsontree.NewString("coinstatsindex"))
	const both = `{"txindex":1,"basic block filter index":5}`
	tests := []struct {
		name   string
		reply  func(http.ResponseWriter)
		params *jsontree.Value
		own    any
		want   string
	}{
		{"by name", reply(`{"txindex":1}`), named, ours, both},
		{"by another name", reply(`{"txindex":1}`), other, ours, `{"basic block filter index":5}`},
		{"without a name", reply(`{"txindex":1}`), jsontree.NewObject(), ours, both},
		{"no list here", reply(`{"txindex":1}`), nil, jsontree.NewString("x"), `"x"`},
		{"refused", status(200, `{"error":{"code":-1,"message":"no"},"id":0}`), nil, ours, `{"basic block filter index":5}`},
		{"endless", endless, nil, ours, `{"basic block filter index":5}`},
		{"longer than a list of indexes", reply(list(1<<16 + 1 - frame - len(list(0)))), nil, ours, `{"basic block filter index":5}`},
		{
			"as long as that may be", reply(list(1<<16 - frame - len(list(0)))), nil, ours,
			strings.TrimSuffix(list(1<<16-frame-len(list(0))), "}") + `,"basic block filter index":5}`,
		},
		{"away", hangUp, nil, ours, `{"basic block filter index":5}`},
	}
	for _, test := range tests {
		p := newPair(t, nil)
		p.core.answer("getindexinfo", test.reply)
		got, err := p.forwarder.Own(t.Context(), command.Caller{}, "getindexinfo", test.params,
			func() (any, error) { return test.own, nil })
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := jsontree.Append(nil, got); string(text) != test.want {
			t.Errorf("%s: %.200s, want %.200s", test.name, text, test.want)
		}
	}
}

// Activity in Core's pool that cannot be read, or is more than can be kept, is never left out without a word. A
// request in a wrong form is refused.
func TestActivityIsWhole(t *testing.T) {
	const method = "getdescriptoractivity"
	scripts := jsontree.NewArray(jsontree.NewString("raw(51)"))
	all := jsontree.NewArray(jsontree.NewArray(), scripts)
	for _, test := range []struct {
		name   string
		reply  func(http.ResponseWriter)
		params *jsontree.Value
		own    string
		code   command.Code // 0: no error of the protocol
	}{
		{"more than can be kept", endless, all, `{"activity":[]}`, command.OutOfMemory},
		{"the end is missing", status(200, `{"result":{"activity":[1],"x":1},"id":0}`), all, `{"activity":[]}`, command.MiscError},
		{"another beginning", status(200, `{"result":{"x":[1]},"id":0}`), all, `{"activity":[]}`, command.MiscError},
		{"another form here", status(200, `{"result":{"activity":[]},"id":0}`), all, `{"x":[]}`, command.MiscError},
		{"away", hangUp, all, `{"activity":[]}`, command.ClientNotConnected},
		{
			"no boolean", status(200, `{"result":{"activity":[]},"id":0}`),
			jsontree.NewArray(jsontree.NewArray(), scripts, jsontree.NewString("x")), `{"activity":[]}`, 0,
		},
	} {
		p := newPair(t, nil)
		p.forwarder.Serve(forward.Table(t, nil))
		p.core.answer(method, test.reply)
		got, err := p.forwarder.Own(t.Context(), command.Caller{}, method, test.params,
			func() (any, error) { return jsontree.Parse([]byte(test.own)) })
		refusal, _ := errors.AsType[command.Error](err)
		if err == nil || test.code != 0 && refusal.Code != test.code {
			t.Errorf("%s: %v, %v; want the code %d", test.name, got, err, test.code)
		}
	}
}

// After a call that changes Core's pool the node's wallets hear of it before the reply, if that takes but a moment.
func TestPoolIsFollowed(t *testing.T) {
	for _, test := range []struct {
		method  string
		wallets bool
		want    int
	}{
		{"sendrawtransaction", true, 1},
		{"submitpackage", true, 1},
		{"sendrawtransaction", false, 0},
		{"getmempoolinfo", true, 0},
		{"generatetoaddress", true, 0},
	} {
		followed := 0
		p := newPair(t, func(c *forward.Config) {
			c.FollowPool = func(ctx context.Context) error {
				followed++
				if end, bounded := ctx.Deadline(); !bounded || time.Until(end) > time.Second {
					t.Errorf("%s: the reply waits until %v", test.method, end)
				}
				return nil
			}
			if test.wallets {
				c.OwnWallet = func(*string) bool { return false }
			}
		})
		p.forwarder.Serve(forward.Table(t, nil))
		p.core.replies[test.method] = `{"jsonrpc":"2.0","result":1,"id":0}`
		if _, err := p.forwarder.Forward(t.Context(), command.Caller{}, test.method, nil); err != nil {
			t.Fatal(err)
		}
		if followed != test.want {
			t.Errorf("%s: followed %d times, want %d", test.method, followed, test.want)
		}
	}
}

// A call of whose Core nothing was heard moves nothing that has to be followed.
func TestNothingFollowedWithoutReply(t *testing.T) {
	p := newPair(t, nil)
	p.core.Close()
	if _, err := p.forwarder.Forward(t.Context(), command.Caller{}, "generate", nil); err == nil {
		t.Fatal("an answer")
	}
	if n := p.moved.Load(); n != 0 {
		t.Errorf("followed %d times", n)
	}
}

// A look at Core that fails at once, or whose caller leaves, says nothing of how fast Core is: the next call looks.
func TestFailedLookIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		leave := func() {}
		f := newForwarder(t, forward.Config{Follow: func(ctx context.Context) error {
			looks++
			leave()
			return cmp.Or(ctx.Err(), errors.New("no"))
		}})
		own := func(ctx context.Context) {
			_, _ = f.Own(ctx, command.Caller{}, "getblockcount", nil, func() (any, error) { return 7, nil })
		}
		own(t.Context())
		own(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		leave = cancel
		own(ctx)
		own(t.Context())
		if looks != 4 {
			t.Errorf("looked %d times", looks)
		}
	})
}

// A Core that is slow is not looked at for a second, and after it is.
func TestSlowCoreIsSparedForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		f := newForwarder(t, forward.Config{Follow: func(ctx context.Context) error {
			looks++
			<-ctx.Done()
			return ctx.Err()
		}})
		own := func() {
			_, _ = f.Own(t.Context(), command.Caller{}, "getblockcount", nil, func() (any, error) { return 7, nil })
		}
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {0, 1}, {time.Second - 1, 1}, {1, 2}, {time.Second - 1, 2}, {1, 3}} {
			time.Sleep(step.after)
			if own(); looks != step.want {
				t.Errorf("after %v more: looked %d times, want %d", step.after, looks, step.want)
			}
		}
	})
}

// An error of the node that Core could not correct stays as it is: if the caller has left, and if Core's answer is
// unusable.
func TestOwnErrorStays(t *testing.T) {
	missing := command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}
	p := newPair(t, nil)
	p.forwarder.Serve(forward.Table(t, nil))
	ctx, cancel := context.WithCancel(t.Context())
	run := func() (any, error) { return nil, missing }
	_, err := p.forwarder.Own(ctx, command.Caller{}, "getblock", nil, func() (any, error) { cancel(); return run() })
	if !errors.Is(err, missing) || len(p.core.seen) != 0 {
		t.Errorf("the caller has left: %v, Core was asked %q", err, p.core.seen)
	}
	for name, reply := range map[string]func(http.ResponseWriter){
		"away": hangUp, "nonsense": status(200, "x"),
		"too large": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", strconv.Itoa(corenode.MaxReply+1))
			_, _ = w.Write([]byte(strings.Repeat("x", 100)))
		},
	} {
		p.core.answer("getblock", reply)
		_, err := p.forwarder.Own(t.Context(), command.Caller{}, "getblock", nil, run)
		if !errors.Is(err, missing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error for a caller that has left is the cause of the context's end, and not that Core is away.
func TestCallerHasLeft(t *testing.T) {
	p := newPair(t, nil)
	why := errors.New("left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := p.forwarder.Forward(ctx, command.Caller{}, "getmempoolinfo", nil); !errors.Is(err, why) {
		t.Error(err)
	}
}

// Answers about the node's wallets are about the chain, those about which wallets there are are not, unless they need
// the tip.
func TestChainUnknownForWallets(t *testing.T) {
	unknown := command.Error{Code: command.InWarmup, Message: "not reached yet"}
	for method, refused := range map[string]bool{
		"getbalance": true, "previewrestore": true, "restorewallet": true,
		"listwallets": false, "createwallet": false, "unloadwallet": false,
	} {
		f := newForwarder(t, forward.Config{Known: func(context.Context) error { return unknown }})
		ran := false
		_, err := f.Own(t.Context(), command.Caller{}, method, nil, func() (any, error) { ran = true; return 0, nil })
		if ran == refused || refused != errors.Is(err, unknown) {
			t.Errorf("%s: ran %t, %v", method, ran, err)
		}
	}
}

// A name that is no text is left to the method, which says so; and a node without wallets asks nobody about names.
func TestNamesThatAreNotLookedUp(t *testing.T) {
	run := func() (any, error) { return "ran", nil }
	for _, wallets := range []bool{true, false} {
		asked := fmt.Sprintf("with wallets: %v", wallets)
		p := newPair(t, func(c *forward.Config) {
			if wallets {
				c.OwnWallet = func(*string) bool { return false }
			}
			c.NameUnknown = nil
		})
		p.forwarder.Serve(forward.Table(t, nil))
		name := jsontree.NewArray(jsontree.NewBool(true))
		if !wallets {
			name = jsontree.NewArray(jsontree.NewString("w"))
		}
		got, err := p.forwarder.Own(t.Context(), command.Caller{}, "createwallet", name, run)
		if got != "ran" || err != nil || len(p.core.seen) != 0 {
			t.Errorf("%s: %v, %v; Core was asked %q", asked, got, err, p.core.seen)
		}
	}
}

// Where Core cannot be asked about a name, and nobody wants to be told, the wallet comes.
func TestNameUnknownToNobody(t *testing.T) {
	p := newPair(t, func(c *forward.Config) {
		c.OwnWallet, c.NameUnknown = func(*string) bool { return false }, nil
	})
	p.forwarder.Serve(forward.Table(t, nil))
	p.core.Close()
	got, err := p.forwarder.Own(t.Context(), command.Caller{}, "createwallet",
		jsontree.NewArray(jsontree.NewString("w")), func() (any, error) { return "ran", nil })
	if got != "ran" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
