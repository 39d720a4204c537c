package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// TestStates: how far the node, its indexes and what it looks through are, at which pace, and how long it will take.
func TestStates(t *testing.T) {
	for _, test := range []struct{ method, reply, says string }{
		{"getblockchaininfo", `{"blocks":5,"headers":9,"verificationprogress":0.5}`, "of 9, catching up"},
		{"getblockchaininfo", `{"blocks":9,"headers":9,"initialblockdownload":true}`, "waiting for newer blocks"},
		{"getblockchaininfo", `{"blocks":9,"headers":9,"time":1}`, "up to date"},
		{"getblockchaininfo", `{"blocks":9,"headers":9,"pruned":true,"pruneheight":4}`, "pruned, blocks from 4 on"},
		{"getattachinfo", `{"state":"away","behind":2,"reason":"refused","node":{"subversion":"/S/"}}`, "/S/, 2 blocks behind it: refused"},
		{
			"getindexinfo", `{"txindex":{"synced":false,"best_block_height":4}}`,
			`up to block 4</div><progress max="1" value="0.5" aria-label="Transaction index">50.0 %</progress>`,
		},
		{"getindexinfo", `{"txindex":{"synced":true,"best_block_height":9}}`, "complete</span>"},
		{"uptime", `3725`, "1 h 2 min"},
		{"scantxoutset", `{"progress":40}`, "Scan of unspent outputs"},
		{
			"listsearches", `[{"id":"a","name":"x","state":"running","height":7,"progress":12,"found":1,"rate":1234,"eta":90}]`,
			"at block 7, 1,234 blocks a second, 1 min 30 s left, 1 entry",
		},
		{"listsearches", `[{"id":"a","name":"x","state":"queued"}]`, "waits for its turn"},
	} {
		node := fakeNode{"getblockchaininfo": `{"blocks":9,"headers":9}`}
		node[test.method] = test.reply
		if html := node.page(t, "index", ""); !strings.Contains(html, test.says) {
			t.Errorf("%s of %s: no %q in\n%s", test.method, test.reply, test.says, html)
		}
	}
	for listed, every := range map[string]string{"[]": `data-every="10"`, `[{"id":"a","state":"running"}]`: `data-every="2"`} {
		node := fakeNode{
			"getblockchaininfo": `{"blocks":9,"headers":9}`, "listsearches": listed, "listwallets": `["w"]`,
			"getwalletinfo": `{"scanning":false}`,
		}
		html := node.page(t, "index", "")
		if !strings.Contains(html, every) || strings.Contains(html, "Running now") != (listed != "[]") {
			t.Errorf("with %s: no %s in\n%s", listed, every, html)
		}
	}
	rescan := fakeNode{
		"listwallets": `["w"]`, "getwalletinfo": `{"scanning":{"duration":10,"progress":0.25}}`, "abortrescan": `true`,
	}
	html := rescan.page(t, "index", "")
	for _, says := range []string{"Rescan of wallet w", "since 10 s, 31 s left", "25.0 %", `data-call="abortrescan"`} {
		if !strings.Contains(html, says) {
			t.Errorf("no %q in\n%s", says, html)
		}
	}
}

// A wallet that is being loaded has a page with the progress, for viewers with the right to list wallets.
func TestWalletThatIsBeingLoaded(t *testing.T) {
	node := fakeNode{
		"listwalletdir": `{"wallets":[{"name":"v"},{"name":"w","loading":{"step":"<i>","duration":90,"progress":0.25}}]}`,
		"abortrescan":   `true`,
	}
	html := node.page(t, "wallet/", "about=w")
	for _, want := range []string{"being loaded since", "&lt;i&gt; 25.0 %", `data-call="abortrescan"`, `data-every="2"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q:\n%s", want, html)
		}
	}
	if html := node.page(t, "wallet/", "about=v"); strings.Contains(html, "being loaded") {
		t.Errorf("a wallet that is not being loaded:\n%s", html)
	}
}

// The frame of a page names the network, unless the login may not know it.
func TestNetworkInTheFrame(t *testing.T) {
	table, err := command.NewTable([]command.Command{{
		Name: "getblockchaininfo",
		Run:  func(context.Context, *command.Args) (any, error) { return map[string]any{"chain": "signet"}, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := unready(t, rpc.Config{
		Auth:      []string{"u:s$" + rpcauth.Hash("s", "p"), "v:s$" + rpcauth.Hash("s", "p")},
		Whitelist: []string{"u:getblockchaininfo", "v:getindexinfo"},
	})
	n.Ready(table)
	for user, want := range map[string]bool{"u": true, "v": false} {
		b := n.browser(t)
		b.login(t, user, "p")
		got := b.ask(t, http.MethodGet, "/", "")
		if sees := strings.Contains(got.text, `title="network">signet<`); got.status != http.StatusOK || sees != want {
			t.Errorf("%s sees the network: %v\n%s", user, sees, got.text)
		}
	}
}
