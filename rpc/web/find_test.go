package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc"
)

const (
	aTxID   = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
	aSecret = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
	aWIF    = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
)

// The box tells by the form of a text what it may be.
func TestGuess(t *testing.T) {
	for text, want := range map[string]guessed{
		"0": guessHeight, "977214": guessHeight, "977,214": guessHeight, "1234567890": guessScript, "97,72": guessName,
		aTxID: guessHash, strings.ToUpper(aTxID): guessHash, aTxID + ":0": guessOutput, aTxID + ":x": guessName,
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": guessScript, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4": guessScript,
		"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080": guessScript, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa": guessScript,
		"3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy": guessScript, aKey: guessScript, "z" + aKey[1:] + "/0/*": guessScript,
		"wpkh(" + aKey + "/0/*)": guessScript, "0014751e76e8199196d454941c45d1b3a323f1433bd6": guessScript,
		"Savings": guessName, "order-84000": guessName, "dead": guessScript, "": guessName, "a b": guessName,
		"raw(51)\nraw(52)": guessScript,
		aSecret:            guessSecret, "wpkh(" + aSecret + "/0/*)": guessSecret, aWIF: guessSecret,
		"pkh(" + aWIF + ")": guessSecret,
		" " + aWIF + "\n":   guessSecret, "K" + strings.Repeat("a", 51): guessSecret,
		"c" + strings.Repeat("a", 51): guessSecret,
	} {
		if got := guess(text); got != want {
			t.Errorf("%q is taken for %d, want %d", text, got, want)
		}
	}
}

// The box leads to the page of what there is; of several it shows all.
func TestFind(t *testing.T) {
	node := fakeNode{
		"getblock": `{}`, "getrawtransaction": `{}`, "createsearch": `{}`, "getsearch": `{}`, "getwalletinfo": `{}`,
		"getblockhash[7]": `"aa"`, "getblockhash": "error:none", `getblockheader["` + aTxID + `"]`: "error:none",
		"getblockheader": `{"height":7}`, "listwallets": `["shop","7"]`,
		"listsearches": `[{"id":"1","name":"Savings","state":"done"},{"id":"2","name":"savings two"},{"id":"3","name":"7"}]`,
	}
	other := strings.Replace(aTxID, "4", "5", 1)
	for text, want := range map[string]string{
		"7": "ui/block/7 ui/search/3 ui/wallet/7", "8": "", aTxID: "ui/tx/" + aTxID, other: "ui/block/" + other,
		strings.ToUpper(aTxID): "ui/tx/" + aTxID, aTxID + ":3": "ui/tx/" + aTxID + "#o3", aKey: "ui/new?typed=1",
		"savings": "ui/search/1 ui/search/2", "SHOP": "ui/wallet/shop", "sho": "ui/wallet/shop", "x": "",
	} {
		page, keeps := find(t.Context(), node, text)
		var got []string
		for _, h := range page.Hits {
			got = append(got, h.To)
		}
		if strings.Join(got, " ") != want || keeps != (text == aKey) || page.Text != text {
			t.Errorf("%q leads to %q, want %q", text, got, want)
		}
	}
	if page, keeps := find(t.Context(), node, aSecret); !page.Secret || page.Text != "" || page.Hits != nil || keeps {
		t.Errorf("%+v", page)
	}
	for _, text := range []string{"7", aTxID, aKey, "shop"} {
		if page, _ := find(t.Context(), fakeNode{}, text); len(page.Hits) != 0 {
			t.Errorf("%q leads who may call nothing to %+v", text, page.Hits)
		}
	}
}

// The box is a form: it needs the token, and leads on by a redirection. It keeps what was typed for the form of a new
// search and nowhere else, and shows no private key.
func TestBox(t *testing.T) {
	n := startBroken(t, "")
	b := n.browser(t)
	b.login(t, "u", "p")
	form := func(text string) string { return url.Values{"q": {text}, "token": {b.token}}.Encode() }
	got := b.ask(t, http.MethodPost, "/ui/find", form(aKey), tokenHeader, "")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "./../ui/new?typed=1" {
		t.Fatal(got)
	}
	if got := b.ask(t, http.MethodGet, "/ui/new?typed=1", ""); !got.has(aKey + "</textarea>") {
		t.Error("what was typed is not in the form:", got)
	}
	if got := b.ask(t, http.MethodGet, "/ui/new", ""); got.has(aKey) {
		t.Error("what was typed is in another form")
	}
	other := n.browser(t)
	other.login(t, "u", "p")
	if got := other.ask(t, http.MethodGet, "/ui/new?typed=1", ""); got.has(aKey) {
		t.Error("what was typed is in another session")
	}
	got = b.ask(t, http.MethodPost, "/ui/find", form("w"), tokenHeader, "")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "./../ui/wallet/w" {
		t.Error(got)
	}
	for _, secret := range []string{aSecret, aWIF, "tr(" + aWIF + ")"} {
		got := b.ask(t, http.MethodPost, "/ui/find", form(secret), tokenHeader, "")
		if got.status != http.StatusBadRequest || got.has(secret) || !got.has("This is a private key") {
			t.Error(got)
		}
	}
	got = b.ask(t, http.MethodPost, "/ui/find", form("<b>nothing"), tokenHeader, "")
	if got.status != http.StatusNotFound || !got.has("“&lt;b&gt;nothing”") {
		t.Error(got)
	}
	got = b.ask(t, http.MethodGet, "/ui/find", "")
	if got.status != http.StatusOK || !got.has("What the box understands") {
		t.Error(got)
	}
	for _, sent := range []string{"q=w", "q=w&token=x"} {
		if got := b.ask(t, http.MethodPost, "/ui/find", sent, tokenHeader, ""); got.status != http.StatusForbidden {
			t.Errorf("%s: %v", sent, got)
		}
	}
	got = b.ask(t, http.MethodPost, "/ui/find", form("w"), "Origin", "http://evil.example")
	if got.status != http.StatusForbidden {
		t.Error("from another site:", got)
	}
	if got := n.browser(t).ask(t, http.MethodPost, "/ui/find", form("w")); got.status != http.StatusUnauthorized {
		t.Error("without a login:", got)
	}
	// A login by itself has no session: there is nobody to keep a text for.
	plain := n.browser(t)
	got = plain.ask(t, http.MethodPost, "/ui/find", "q="+aKey, "Authorization", "Basic dTpw")
	if got.status != http.StatusNotFound || got.has("ui/new?typed") {
		t.Error(got)
	}
}

// The unit and the colours are chosen by a form and known from the first byte on.
func TestLook(t *testing.T) {
	n := startBroken(t, "")
	b := n.browser(t)
	b.login(t, "u", "p")
	if got := b.ask(t, http.MethodGet, "/ui/wallet/w", ""); !got.has(`<span class="u">BTC</span>`) || got.has("data-theme") {
		t.Error(got)
	}
	choose := func(form, back string) answer {
		t.Helper()
		return b.ask(t, http.MethodPost, "/ui/look", form+"&back="+url.QueryEscape(back)+"&token="+b.token, tokenHeader, "")
	}
	got := choose("unit=sat", "ui/wallet/w?x=1")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "./../ui/wallet/w?x=1" {
		t.Fatal(got)
	}
	cookie := got.header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Error(cookie)
	}
	choose("theme=dark", "")
	got = b.ask(t, http.MethodGet, "/ui/part/wallet/w", "")
	if !got.has(`data-sat="100000000">100,000,000<span class="u">sat</span>`) {
		t.Error("the unit of a part:", got)
	}
	if got := b.ask(t, http.MethodGet, "/", ""); !got.has(`data-theme="dark"`) {
		t.Error(got)
	}
	choose(`theme=%22%3E<b>&unit=pieces`, "")
	if got := b.ask(t, http.MethodGet, "/", ""); !got.has(`data-theme="dark"`) || got.has("pieces") {
		t.Error("an unknown look:", got)
	}
	if got := b.ask(t, http.MethodPost, "/ui/look", "unit=BTC", tokenHeader, ""); got.status != http.StatusForbidden {
		t.Error("without a token:", got)
	}
	for back, want := range map[string]string{
		"": "", "ui/search/1?to=5&axis=time": "ui/search/1?axis=time&to=5", "//evil.example/": "", "http://evil.example/": "",
		"/x": "", `\\evil`: "", "javascript:alert(1)": "", "../../x": "", "ui/../../x": "", "ui/wallet/a%2Fb": "ui/wallet/a%2Fb",
		"ui/x\r\nSet-Cookie: a=b": "", strings.Repeat("x", maxBack+1): "", "%zz": "",
	} {
		if got := backTo(back); got != want {
			t.Errorf("%q leads back to %q, want %q", back, got, want)
		}
	}
}

// Files of the page are kept by browsers for good where their address is of their bytes, and are sent compressed.
func TestVersionedFiles(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	for name, file := range n.page.assets {
		got := b.ask(t, http.MethodGet, "/ui/assets/"+n.page.version+"/"+name, "", "Accept-Encoding", "br, gzip")
		if got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Error(name, got.status, got.header)
		}
		if packed := got.header.Get("Content-Encoding") == "gzip"; packed != (file.packed != nil) ||
			packed && got.text != string(file.packed) || len(file.body) > 4000 && !packed {
			t.Errorf("%s is compressed: %v", name, packed)
		}
	}
	if got := b.ask(t, http.MethodGet, "/ui/assets/older/page.js", ""); got.status != http.StatusNotFound {
		t.Error("of another build:", got.status)
	}
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "gzip;q=0": false, "gzip; q=0.5": true, "br": false, "identity, gzip": true,
		"gzip;q=x": false, "xgzip": false,
	} {
		r := &http.Request{Header: http.Header{"Accept-Encoding": {accept}}}
		if takesGzip(r) != want {
			t.Errorf("%q: %v", accept, !want)
		}
	}
}
