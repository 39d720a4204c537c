package walletrpc_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
)

// The labels that a wallet may have are put in one request; the rest is counted.
func TestImportLabels(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	id := strings.Repeat("0", 62) + "07"
	lines := []string{
		`{"type":"addr","ref":"` + own + `","label":"x"}`,
		`{"type":"addr","ref":"bc1q","label":"of another network"}`,
		`{"type":"tx","ref":"` + id + `","label":"y"}`,
		`{"type":"tx","ref":"07","label":"too short"}`,
		`{"type":"output","ref":"` + id + `:3","spendable":false}`,
		`{"type":"output","ref":"` + id + `:3","label":"of an output"}`,
		`{"type":"output","ref":"` + id + `","spendable":true}`,
		`{"type":"output","ref":"` + id + `:-1","spendable":true}`,
		`{"type":"pubkey","ref":"02","label":"z"}`,
	}
	tx := chainhash.Hash{7}
	want := messages.WalletLabels{
		Addresses: []messages.AddressLabel{{Script: ownScript, Label: "x"}},
		Txs:       []messages.TxLabel{{TxID: tx, Label: "y"}},
		Outputs:   []messages.OutputLabel{{Out: wire.OutPoint{Hash: tx, Index: 3}}},
	}
	params := "[" + strconv.Quote(strings.Join(lines, "\n")) + "]"
	check[messages.PutLabels](t, r, w, nil, []request{{"importlabels", params, messages.PutLabels{Labels: want}}})
	answer(w, func(messages.PutLabels) (messages.LabelsPut, error) { return messages.LabelsPut{Put: 2, Left: 1}, nil })
	if got := r.call(nil, "importlabels", params); got != `{"imported":2,"skipped":7}` {
		t.Error(got)
	}
	if got := refusedBy(r, nil, "importlabels", `["\n{}"]`); got != "-8 line 2: not a label of BIP329: it has no type" {
		t.Error(got)
	}
}

// A receipt is signed only where the wallet can know what it signs for.
func TestSignReceiptRefusals(t *testing.T) {
	r := newRig(t)
	tip := r.chain.MineN(5)
	w := r.load("a", plain)
	answer(w, func(messages.ListUnspent) ([]messages.Unspent, error) {
		return []messages.Unspent{{Script: foreignScript, Amount: 5}}, nil
	})
	text := func(edit func(*receipt.Receipt)) string {
		s := &receipt.Receipt{To: tip.Height, Block: tip.Hash}
		s.SetDescriptors([]receipt.Descriptor{{Text: "addr(" + own + ")"}})
		edit(s)
		return string(s.AppendJSON(nil))
	}
	whole := text(func(*receipt.Receipt) {})
	const none = "-8 The wallet has no coins that the receipt is about"
	swapped := func(old, now string) string { return "[" + strings.Replace(whole, old, now, 1) + "]" }
	elsewhere := "[" + text(func(s *receipt.Receipt) { s.Block[0]++ }) + "]"
	hidden := "[" + text(func(s *receipt.Receipt) { s.Descriptors = nil }) + "]"
	wrong := "[" + text(func(s *receipt.Receipt) { s.Descriptors[0].Text = "x" }) + "]"
	for params, want := range map[string]string{
		`[{"version":1}]`: "-8 not a receipt: genesis is no hash in lower case",
		swapped(`"to_height":5`, `"to_height":5,"x":1`): `-8 not a receipt: member "x" is not known`,
		swapped(`"scripts":0`, `"scripts":1`):           "-8 The digest is not the receipt's",
		"[" + whole + `, null, "x"]`:                    "-8 Unknown format 'x'",
		"[" + whole + `, null, "simple"]`:               "-8 That format needs an address",
		"[" + whole + `, "x", "full"]`:                  "-5 Invalid Bitcoin address",
		"[" + whole + "]":                               none,
		"[" + whole + `, "` + own + `"]`:                none,
		elsewhere:                                       "-8 The last block of the receipt is not in the active chain",
		hidden: "-8 The receipt tells no descriptors: it does not say which " +
			"coins it is about",
		wrong: "-5 'x' is not a valid descriptor function",
	} {
		if got := refusedBy(r, nil, "signreceipt", params); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	asked := asked[messages.ListUnspent](w)
	if asked.MinConf != 1 || !asked.IncludeImmature {
		t.Errorf("%+v", asked)
	}
	answer(w, func(messages.FillPacket) (messages.FilledPacket, error) { return messages.FilledPacket{}, nil })
	const cannot = "-4 The wallet cannot sign for the address and all coins"
	if got := refusedBy(r, nil, "signreceipt", "["+whole+`, "`+own+`", "simple"]`); got != cannot {
		t.Errorf("%s, want %s", got, cannot)
	}
	r.load("b", locked)
	if got := refusedBy(r, new("b"), "signreceipt", "["+whole+"]"); !strings.HasPrefix(got, "-13 ") {
		t.Error(got)
	}
}

// refusedBy returns code and message of a refusal.
func refusedBy(r *rig, path *string, method, params string) string {
	r.t.Helper()
	var e struct {
		Code    int
		Message string
	}
	if err := json.Unmarshal([]byte(r.call(path, method, params)), &e); err != nil {
		r.t.Error(err)
	}
	return strconv.Itoa(e.Code) + " " + e.Message
}
