package forward_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/forward"
)

// A wallet name that Core has too is refused here in every method. Where Core cannot be
// asked the name is taken, and logged.
func TestWalletNames(t *testing.T) {
	const dir = `{"jsonrpc":"2.0","result":{"wallets":[{"name":"stored"},{"name":""}]},"id":0}`
	taken, free := []string{"loaded", "stored", ""}, []string{"own", "Loaded", "stored/"}
	p := newPair(t, func(c *forward.Config) { c.OwnWallet = func(*string) bool { return false } })
	p.core.replies["listwallets"] = `{"jsonrpc":"2.0","result":["loaded"],"id":0}`
	p.core.replies["listwalletdir"] = dir
	p.forwarder.Serve(forward.Table(t, nil))
	call := func(method, name string, byName string) error {
		params := jsontree.NewArray(jsontree.NewString(name))
		if byName != "" {
			params = jsontree.NewObject()
			params.Add(byName, jsontree.NewString(name))
		}
		done := func() (any, error) { return true, nil }
		_, err := p.forwarder.Own(t.Context(), command.Caller{}, method, params, done)
		return err
	}
	for method, key := range map[string]string{
		"createwallet": "wallet_name", "loadwallet": "filename", "restorewallet": "wallet_name",
	} {
		for _, byName := range []string{"", key} {
			for _, name := range taken {
				err := call(method, name, byName)
				if e, ok := errors.AsType[command.Error](err); !ok || e.Code != command.WalletError ||
					!strings.Contains(e.Message, "-disablewallet") {
					t.Errorf("%s %q: %v", method, name, err)
				}
			}
			for _, name := range free {
				if err := call(method, name, byName); err != nil {
					t.Errorf("%s %q: %v", method, name, err)
				}
			}
		}
	}
	if err := call("unloadwallet", "loaded", ""); err != nil {
		t.Errorf("unloadwallet: %v", err)
	}
	delete(p.core.replies, "listwalletdir")
	if err := call("loadwallet", "stored", ""); err != nil || !strings.Contains(p.log.String(), "stored") {
		t.Errorf("Core does not tell: %v; log %s", err, p.log.String())
	}
	p.core.Close()
	if err := call("createwallet", "loaded", ""); err != nil {
		t.Errorf("Core is away: %v", err)
	}
}

// The activity in Core's pool is added to the activity that is found in blocks here.
func TestActivity(t *testing.T) {
	const method = "getdescriptoractivity"
	reply := func(list string) string { return `{"jsonrpc":"2.0","result":{"activity":[` + list + `]},"id":0}` }
	type own struct {
		Activity []int `json:"activity"`
	}
	yes, no := jsontree.NewBool(true), jsontree.NewBool(false)
	blocks, scripts := jsontree.NewArray(jsontree.NewString("00")), jsontree.NewArray(jsontree.NewString("raw(51)"))
	named := jsontree.NewObject()
	named.Add("blockhashes", blocks)
	named.Add("scanobjects", scripts)
	annotated := jsontree.NewArray(jsontree.NewString("raw(51)?bh=5"))
	gap, err := jsontree.Parse([]byte(`["raw(51)",{"desc":"raw(52)","gap":20}]`))
	if err != nil {
		t.Fatal(err)
	}
	namedGap := jsontree.NewObject()
	namedGap.Add("blockhashes", blocks)
	namedGap.Add("scanobjects", gap)
	tests := []struct {
		name   string
		params *jsontree.Value
		own    []int
		reply  string
		mode   forward.Mode
		want   string
	}{
		{"both", jsontree.NewArray(blocks, scripts), []int{1, 2}, reply(`3`), forward.Default, `{"activity":[1,2,3]}`},
		{"only there", jsontree.NewArray(blocks, scripts, yes), nil, reply(`3`), forward.Default, `{"activity":[3]}`},
		{"only here", named, []int{1}, reply(``), forward.Default, `{"activity":[1]}`},
		{"not asked for", jsontree.NewArray(blocks, scripts, no), []int{1}, `x`, forward.None, `{"activity":[1]}`},
		{"not passed on", named, []int{1}, reply(``), forward.None, ""},
		{"a gap", jsontree.NewArray(blocks, gap), []int{1}, reply(``), forward.Default, ""},
		{"annotations", jsontree.NewArray(blocks, annotated), []int{1}, reply(``), forward.Default, ""},
		{
			"annotations, not asked for", jsontree.NewArray(blocks, annotated, no), []int{1}, `x`, forward.Default,
			`{"activity":[1]}`,
		},
		{"a gap, named", namedGap, []int{1}, reply(``), forward.Default, ""},
		{"a gap, not asked for", jsontree.NewArray(blocks, gap, no), []int{1}, `x`, forward.Default, `{"activity":[1]}`},
		{"nonsense", named, []int{1}, `{"jsonrpc":"2.0","result":[],"id":0}`, forward.Default, ""},
		{"refused", named, []int{1}, `{"error":{"code":-8,"message":"no"},"id":0}`, forward.Default, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPair(t, func(c *forward.Config) { c.Mode = test.mode })
			p.forwarder.Serve(forward.Table(t, nil))
			p.core.replies[method] = test.reply
			got, err := p.forwarder.Own(
				t.Context(), command.Caller{}, method, test.params, func() (any, error) { return own{test.own}, nil },
			)
			text := ""
			if err == nil {
				raw, _ := jsontree.Append(nil, got)
				text = string(raw)
			}
			if text != test.want {
				t.Errorf("%s, %v; want %s", text, err, test.want)
			}
			for _, seen := range p.core.seen {
				if !strings.HasSuffix(seen, `"params":[[],["raw(51)"],true]}`) {
					t.Errorf("asked %s", seen)
				}
			}
		})
	}
}
