package web

import (
	"log/slog"
	"strings"
	"testing"
)

// An upload is restored from its own place, and the texts that the page sends back are
// shown as text.
func TestUploadedPreview(t *testing.T) {
	const reply = `{"intact":true,"descriptors":[{"desc":"<b>"}],"restore":{"name":"<i>","possible":true}}`
	for _, test := range []struct {
		reply, says, never string
		may                bool
	}{
		{reply, `id="restore-upload" data-name="&lt;i&gt;"`, "data-call", true},
		{reply, "&lt;b&gt;", "restore-upload", false},
		{`{"intact":false,"problem":"<u>"}`, "&lt;u&gt;", "restore-upload", true},
		{"{", "cannot be read", "restore-upload", true},
	} {
		node := fakeNode{}
		if test.may {
			node["restorewallet"] = "{}"
		}
		html, err := newView(slog.New(slog.DiscardHandler)).render("preview", "BTC", shown{asker: node.asks(), Data: uploaded(node,
			"b.dat", test.reply)})
		if err != nil || !strings.Contains(string(html), test.says) || strings.Contains(string(html), test.never) {
			t.Errorf("%s: %v\n%s", test.reply, err, html)
		}
	}
}

func TestPreview(t *testing.T) {
	const whole = `{"size":2048,"format":"sqlite","intact":true,"flags":["descriptors"],"private_keys":true,` +
		`"encrypted":true,"birthtime":1600000000,"txcount":3,"labels":1,"descriptorcount":30,` +
		`"lastprocessedblock":{"hash":"00aa","height":120},"descriptors":[{"desc":"<b>","active":true,` +
		`"internal":true,"fingerprints":["d34db33f"],"addresses":["bc1qa"]}],"restore":{"name":"<i>","possible":true,` +
		`"rescan_blocks":1200,"rescan_from":5,"rescan_to":1204,"filters":true,"blocks_to_fetch":2,"estimated_seconds":90}}`
	for _, test := range []struct {
		reply string
		may   bool
		says  []string
		never string
	}{
		{whole, true, []string{
			"2.0 KiB", "private keys, encrypted", "120", "3 transactions, 1 label, 30 descriptors", "&lt;b&gt;", "d34db33f",
			"1,200 blocks, from 5 to 1,204, by their filters", "2 blocks that are not on the disk", "1 min 30 s",
			`data-call="restorewallet"`, "The first 1 of 30", "change",
		}, "<i>"},
		{whole, false, []string{"d34db33f"}, "data-call"},
		{
			strings.Replace(whole, `"possible":true`, `"possible":false,"problem":"there is one"`, 1), true,
			[]string{"there is one"},
			"data-call",
		},
		{`{"size":1,"format":"bdb","intact":false,"problem":"legacy"}`, true, []string{"legacy", "bdb"}, "data-call"},
		{
			strings.Replace(whole, `"intact":true`, `"intact":false,"recovered":["rolled back"],"warnings":["<lost>"]`, 1), true,
			[]string{"only a part can be restored", "rolled back", "&lt;lost&gt;", `data-call="restorewallet"`},
			"intact<",
		},
		{
			strings.TrimSuffix(whole, "}") + `,"beyond":{"payments":true,"gap":1501}}`, true,
			[]string{"payments to addresses beyond", `ui/wallet?name=%3Ci%3E&amp;gap=1501"`},
			"no payments",
		},
		{strings.TrimSuffix(whole, "}") + `,"beyond":{"payments":false}}`, true, []string{"no payments shortly"}, "gap="},
		{"error:No such file", true, []string{"No such file"}, "data-call"},
	} {
		node := fakeNode{`previewrestore["/b","w"]`: test.reply, "previewrestore": "error:wrong parameters"}
		if test.may {
			node["restorewallet"] = "{}"
		}
		data := shown{asker: node.asks(), Data: look(t.Context(), node, "/b", "w")}
		html, err := newView(slog.New(slog.DiscardHandler)).render("preview", "BTC", data)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range test.says {
			if !strings.Contains(string(html), words) {
				t.Errorf("no %q in\n%s", words, html)
			}
		}
		if strings.Contains(string(html), test.never) {
			t.Errorf("there is %q in\n%s", test.never, html)
		}
	}
}
