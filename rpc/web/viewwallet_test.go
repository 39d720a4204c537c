package web

import (
	"strings"
	"testing"
)

// Viewers with the right to it are offered to look for payments beyond the addresses of a wallet, with the gap that a
// preview has found.
func TestBeyondIsOffered(t *testing.T) {
	for _, test := range []struct {
		query       string
		may         bool
		says, never string
	}{
		{"about=w", true, `data-call="checkwallet" data-params="[]"`, "beyond-h"},
		{"about=w&gap=1501", true, `data-call="checkwallet" data-params="[{&#34;gap&#34;:1501}]"`, "no such thing"},
		{"about=w&gap=1501", true, "1,501 unused addresses", "no such thing"},
		{"about=w&gap=-1", true, `data-params="[]"`, "beyond-h"},
		{"about=w&gap=100001", true, `data-params="[]"`, "beyond-h"},
		{"about=w&gap=1501", false, "not encrypted", "checkwallet"},
	} {
		node := fakeNode{"getwalletinfo": `{"walletname":"w","scanning":false,"private_keys_enabled":true}`}
		if test.may {
			node["checkwallet"] = "{}"
		}
		html := node.page(t, "wallet/", test.query)
		if !strings.Contains(html, test.says) || strings.Contains(html, test.never) {
			t.Errorf("%s: want %q, not %q\n%s", test.query, test.says, test.never, html)
		}
	}
	rescans := fakeNode{"getwalletinfo": `{"scanning":{"duration":1,"progress":0.5}}`, "checkwallet": "{}"}
	if html := rescans.page(t, "wallet/", "about=w&gap=7"); strings.Contains(html, "checkwallet") {
		t.Error("a check is offered during a rescan")
	}
}
