package web

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"testing"
)

// A limited viewer may call some of the methods of a node, and notes calls of others.
type limited struct {
	fakeNode

	may []string

	mu      sync.Mutex
	refused []string
}

func (l *limited) Has(method string) bool { return slices.Contains(l.may, method) }

func (l *limited) Call(ctx context.Context, wallet *string, method string, params ...any) (json.RawMessage, error) {
	if !l.Has(method) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused = append(l.refused, method)
	}
	return l.fakeNode.Call(ctx, wallet, method, params...)
}

// whole is a node that answers all that pages ask for.
func whole() fakeNode {
	return fakeNode{
		"getblockchaininfo": `{"chain":"main","blocks":7,"headers":7,"bestblockhash":"aa","warnings":["w"]}`,
		"getnetworkinfo":    `{"connections":1,"networkactive":true}`, "getmempoolinfo": `{"size":1,"bytes":200,"maxmempool":9}`,
		"getattachinfo": `{"state":"following","node":{}}`, "uptime": "5", "getindexinfo": `{"txindex":{"best_block_height":3}}`,
		"getpeerinfo":  `[{"id":1,"addr":"a","network":"ipv4"}]`,
		"scanblocks":   `{"progress":1,"current_height":1}`,
		"scantxoutset": `{"progress":1}`, "estimatesmartfee": `{"feerate":0.0001}`, "getblockhash": `"` + aBlock + `"`,
		"getblockcount": "7", "getblockstats": `{"txs":2,"totalfee":1}`, "getblock": blockOf(3, "00"),
		"getblockheader": `{"height":7,"confirmations":1,"nextblockhash":"n"}`,
		"getrawmempool":  `{"t":{"vsize":100,"fees":{"base":0.0001}}}`,
		"getrawtransaction": `{"txid":"` + aTxID + `","vin":[{"txid":"p","vout":0}],"vout":[{"value":1,"n":0,"scriptPubKey":` +
			script1 + `}]}`,
		"getmempoolentry": `{"time":1,"ancestorcount":1}`, "gettxout": "null",
		"gettxspendingprevout": `[{"vout":0,"spendingtxid":"by"}]`,
		"listsearches":         `[{"id":"1","name":"s","state":"running","entries":true},{"id":"2","name":"p","state":"paused"}]`,
		"getsearch": `{"id":"1","name":"s","state":"running","entries":true,"mempool":true,"descriptors":[{"desc":"d","range":[0,9],` +
			`"highest_used":9,"exhausted":true}]}`,
		"getsearchentries": `{"entries":[` + receivedHit + `],"unconfirmed":[` + receivedHit + `]}`,
		"createsearch":     "{}", "abortsearch": "{}", "pausesearch": "{}", "resumesearch": "{}", "removesearch": "{}", "extendsearch": "{}",
		"getdescriptorinfo": "{}", "listwallets": `["w"]`, "listwalletdir": `{"wallets":[{"name":"other"}]}`, "loadwallet": "{}",
		"getwalletinfo": `{"walletname":"w","scanning":{"duration":1,"progress":0.5}}`, "getbalances": `{"mine":{"trusted":1}}`,
		"abortrescan": "{}", "rescanblockchain": "{}", "listtransactions": `[{"txid":"t","amount":1}]`,
		"listreceivedbyaddress": `[{"address":"a","amount":1}]`, "previewrestore": "{}", "restorewallet": "{}",
	}
}

var (
	buttons = regexp.MustCompile(`data-call="(\w+)"`)
	links   = regexp.MustCompile(`(?:href|action)="\./(?:\.\./)*ui/(\w+/?)`)
)

// With any rights a page makes no call that would be refused, and has no button and no link that leads to a refusal.
func TestRightsMatrix(t *testing.T) {
	node := whole()
	all := slices.Sorted(maps.Keys(node))
	sets := [][]string{nil, all}
	for i, method := range all {
		sets = append(sets, []string{method}, slices.Concat(all[:i], all[i+1:]))
	}
	queries := map[string]string{"search/": "1", "wallet/": "w", "block/": aBlock, "tx/": aTxID}
	v := newView(slog.New(slog.DiscardHandler))
	for _, may := range sets {
		viewer := &limited{fakeNode: node, may: may}
		for name, page := range v.routes {
			if page.needs != "" && !viewer.Has(page.needs) {
				continue
			}
			data, err := page.model(t.Context(), viewer, url.Values{about: {queries[name]}})
			if err != nil && name != "blocks" {
				t.Errorf("%s with %v: %v", name, may, err)
			}
			if err != nil {
				continue
			}
			asks := &asker{User: "u", Token: "t", Base: "./", Methods: may, Look: appearance{Unit: "BTC"}}
			html, err := v.render("frame.html", "BTC", &shown{
				asker: asks, Page: page.template, Part: name, Base: up(depth(name)), Data: data,
			})
			if err != nil {
				t.Fatalf("%s with %v: %v", name, may, err)
			}
			for _, found := range buttons.FindAllStringSubmatch(string(html), -1) {
				if !viewer.Has(found[1]) {
					t.Errorf("%s with %v has a button for %s", name, may, found[1])
				}
			}
			for _, found := range links.FindAllStringSubmatch(string(html), -1) {
				if to, ok := v.routes[found[1]]; ok && to.needs != "" && !viewer.Has(to.needs) {
					t.Errorf("%s leads to %s, which needs %s", name, found[1], to.needs)
				}
			}
		}
		if len(viewer.refused) > 0 {
			t.Errorf("with %v: calls of %v", may, slices.Compact(slices.Sorted(slices.Values(viewer.refused))))
		}
	}
	for _, page := range v.routes {
		if !slices.Contains(append(all, ""), page.needs) {
			t.Errorf("%s is not tested", page.needs)
		}
	}
}
