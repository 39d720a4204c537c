package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// receiptVerdict is what verifyreceipt answers.
type receiptVerdict struct {
	Valid  bool
	Reason string
	Height *int
}

// A wallet's receipt is confirmed by another node, its signature by verifybip322, for addresses of all forms; the
// receipt of a search over the same says the same. After a reorganisation it is no longer true.
func TestReceipts(t *testing.T) {
	t.Parallel()
	args := []string{"-keypool=5", "-fallbackfee=0.0001", "-blockfilterindex=1"}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: args})
	other := e2e.Start(t, e2e.Config{Chain: "regtest", Args: args})
	d.Get(nil, "createwallet", "w")
	addresses := map[string]string{}
	for _, form := range []string{"legacy", "p2sh-segwit", "bech32", "bech32m"} {
		var address string
		d.Get(&address, "getnewaddress", form, form)
		addresses[form] = address
	}
	d.Get(nil, "generatetoaddress", 101, addresses["bech32"])
	for _, address := range addresses {
		d.Get(nil, "sendtoaddress", address, 1.5)
	}
	d.Get(nil, "generatetoaddress", 2, addresses["bech32m"])
	copyChain(d, other)

	var wallet struct {
		Descriptors []struct {
			Desc  string
			Range []int
		}
	}
	d.Get(&wallet, "listdescriptors")
	var objects []map[string]any
	for _, one := range wallet.Descriptors {
		objects = append(objects, map[string]any{"desc": one.Desc, "range": one.Range})
	}
	var scan, search struct{ Receipt json.RawMessage }
	options := map[string]bool{"receipt": true, "activity": true}
	d.Get(&scan, "scanblocks", "start", objects, 0, nil, "basic", options)
	var made struct{ ID string }
	d.Get(&made, "createsearch", objects)
	searched(t, d.Get, made.ID, "done")
	d.Get(&search, "getsearch", made.ID, true)
	if string(scan.Receipt) != string(search.Receipt) {
		t.Errorf("of a scan   %s\nof a search %s", scan.Receipt, search.Receipt)
	}
	var checked struct{ Receipt json.RawMessage }
	d.Get(&checked, "checkwallet", map[string]int{"gap": 30})
	for _, node := range []*e2e.Daemon{d, other} {
		for _, stated := range []json.RawMessage{scan.Receipt, checked.Receipt} {
			var verdict receiptVerdict
			node.Get(&verdict, "verifyreceipt", stated)
			if !verdict.Valid {
				t.Errorf("%+v of %s", verdict, stated)
			}
		}
	}
	proof := signedBy(t, d, other, scan.Receipt)
	var balances struct {
		Mine struct{ Trusted, Immature json.Number }
	}
	d.Get(&balances, "getbalances")
	trusted, _ := balances.Mine.Trusted.Float64()
	immature, _ := balances.Mine.Immature.Float64()
	if proof.Format != "proof_of_funds" || proof.Amount != trusted+immature {
		t.Errorf("%s of %v, the wallet has %v", proof.Format, proof.Amount, trusted+immature)
	}
	for form, address := range addresses {
		want := map[bool]string{true: "simple", false: "full"}[strings.HasPrefix(form, "bech32")]
		if s := signedBy(t, d, other, scan.Receipt, address, "simple"); s.Format != want || s.Address != address {
			t.Errorf("%s: %+v", form, s)
		}
		if s := signedBy(t, d, other, scan.Receipt, address, "full"); s.Format != "full" {
			t.Errorf("%s: %+v", form, s)
		}
	}

	var hash string
	other.Get(&hash, "getblockhash", 103)
	other.Get(nil, "invalidateblock", hash)
	other.Get(nil, "generatetoaddress", 2, addresses["legacy"])
	var verdict receiptVerdict
	other.Get(&verdict, "verifyreceipt", scan.Receipt)
	if verdict.Valid || verdict.Height == nil || *verdict.Height != 103 {
		t.Errorf("after a reorganisation: %+v", verdict)
	}
}

// copyChain gives all blocks of a node to another.
func copyChain(from, to *e2e.Daemon) {
	var height int
	from.Get(&height, "getblockcount")
	for h := 1; h <= height; h++ {
		var hash, raw string
		from.Get(&hash, "getblockhash", h)
		from.Get(&raw, "getblock", hash, 0)
		to.Get(nil, "submitblock", raw)
	}
}

// signedReceipt is what signreceipt returns.
type signedReceipt struct {
	Address, Message, Signature, Format string
	Coins                               int
	Amount                              float64
}

// signedBy has a node sign a receipt, and another verify the signature and the coins that it proves.
func signedBy(t *testing.T, d, other *e2e.Daemon, params ...any) (s signedReceipt) {
	t.Helper()
	d.Get(&s, "signreceipt", params...)
	var result struct {
		Valid  bool
		Reason string
		Format string
		Funds  []struct{ Unspent bool }
	}
	other.Get(&result, "verifybip322", s.Address, s.Signature, s.Message)
	if !result.Valid || result.Format != s.Format || len(result.Funds) != s.Coins {
		t.Errorf("%+v: %+v", s, result)
	}
	for i := range result.Funds {
		if !result.Funds[i].Unspent {
			t.Errorf("coin %d is spent", i)
		}
	}
	return s
}

// A copy of a wallet that imports the exported labels exports the same bytes, after a kill, too.
func TestLabelsBothWays(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=5", "-fallbackfee=0.0001"}})
	d.Get(nil, "createwallet", "w", false, false, "", false, true, true)
	in := func(wallet string, result any, method string, params ...any) {
		t.Helper()
		if err := d.CallWallet(t.Context(), wallet, result, method, params...); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	var first, second string
	in("w", &first, "getnewaddress", "")
	in("w", &second, "getnewaddress", "\"quoted\"\n€😀")
	const foreign = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	in("w", nil, "setlabel", foreign, "paid")
	d.Get(nil, "generatetoaddress", 101, first)
	var paid string
	in("w", &paid, "sendtoaddress", second, 1, "for the cat")
	d.Get(nil, "generatetoaddress", 1, foreign)
	in("w", nil, "lockunspent", false, []map[string]any{{"txid": paid, "vout": outputOf(in, paid, second)}}, true)
	var lines string
	in("w", &lines, "exportlabels")
	for _, part := range []string{
		`"ref":"` + first + `","label":""`, `"label":"\"quoted\"\n€😀"`, `"ref":"` + foreign + `","label":"paid"`,
		`{"type":"tx","ref":"` + paid + `","label":"for the cat"}`, `"spendable":false`,
	} {
		if !strings.Contains(lines, part) {
			t.Errorf("%s is missing in\n%s", part, lines)
		}
	}

	var history string
	in("w", &history, "exporthistory")
	if rows := strings.Split(history, "\n"); len(rows) < 103 || !strings.Contains(history, ","+second+",") {
		t.Errorf("the history has %d lines:\n%s", len(rows), history)
	}

	// A copy of the wallet without labels.
	in("w", nil, "backupwallet", d.Dir+"/copy.dat")
	d.Get(nil, "restorewallet", "copy", d.Dir+"/copy.dat", true)
	edit := strings.NewReplacer(`"paid"`, `"other"`, "for the cat", "", `spendable":false`, `spendable":true`)
	changed := edit.Replace(lines)
	var done struct{ Imported, Skipped int }
	in("copy", &done, "importlabels", changed)
	if done.Skipped != 0 || done.Imported != strings.Count(lines, "\n")+1 {
		t.Errorf("%+v", done)
	}
	var was string
	in("copy", &was, "exportlabels")
	if !strings.Contains(was, `"other"`) || strings.Contains(was, "for the cat") || strings.Contains(was, "spendable") {
		t.Errorf("after other labels: %s", was)
	}
	more := []string{
		lines, `{"type":"xpub","ref":"xpub6","label":"x"}`, `{"type":"addr","ref":"` + first + `x","label":"x"}`,
		`{"type":"tx","ref":"` + strings.Repeat("0", 64) + `","label":"x"}`,
	}
	in("copy", &done, "importlabels", strings.Join(more, "\n"))
	if done.Skipped != 3 {
		t.Errorf("%+v", done)
	}
	d.Kill()
	d.Restart()
	var now string
	if in("copy", &now, "exportlabels"); now != lines {
		t.Errorf("got  %s\nwant %s", now, lines)
	}
	err := d.CallWallet(t.Context(), "copy", nil, "importlabels", "{}")
	if err == nil || !strings.Contains(err.Error(), "-8: line 1: not a label of BIP329: it has no type") {
		t.Error(err)
	}
}

// outputOf returns which output of a transaction pays to an address.
func outputOf(in func(wallet string, result any, method string, params ...any), id, address string) int {
	var coins []struct {
		TxID, Address string
		Vout          int
	}
	in("w", &coins, "listunspent")
	for _, c := range coins {
		if c.TxID == id && c.Address == address {
			return c.Vout
		}
	}
	return -1
}
