package walletrpc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
)

// recordedCall is a call as Bitcoin Core 30.2 answered it. Blocks that the
// methods look up themselves are replaced by the first one.
type recordedCall struct {
	Wallet   *string
	Request  string
	Response string
}

// TestRecorded makes the recorded calls. The wallet tells what the recorded
// result tells, or fails as recorded: the text of the answer must be the same.
func TestRecorded(t *testing.T) {
	sys := actortest.New(t)
	played := map[string]int{}
	for _, c := range readLines[recordedCall](t, "testdata/recorded.jsonl.gz") {
		request, err := jsontree.Parse([]byte(c.Request))
		if err != nil {
			t.Fatal(err)
		}
		response, err := jsontree.Parse([]byte(c.Response))
		if err != nil {
			t.Fatal(err)
		}
		method := request.Get("method").Text()
		played[method]++
		want := response.Get("result")
		if fault := response.Get("error"); !fault.IsNull() {
			want = fault
		}
		got := replay(t, sys, c.Wallet, method, request.Get("params"), response)
		if want.Get("message").Text() == withoutPrivate {
			checkWithoutPrivate(t, got)
			continue
		}
		if got != want.String() {
			t.Errorf("%s %v\ngot  %s\nwant %v", method, request.Get("params"), got, want)
		}
	}
	for _, c := range newRigIn(t, sys).table.Commands() {
		if played[c.Name] == 0 && !paying[c.Name] && c.Since == 0 {
			t.Errorf("no recorded call of %s", c.Name)
		}
	}
}

// withoutPrivate is what Core 30.2 says of a wallet that has not all private keys of what gethdkeys is asked for. Later
// versions leave them out.
const withoutPrivate = "map::at"

func checkWithoutPrivate(t *testing.T, got string) {
	t.Helper()
	if want := `[{"xpub":"xpub","has_private":false,"descriptors":[]}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// paying are methods that have tests of their own. Some are not Core's, and some answer otherwise each time. The others
// are about what was paid.
var paying = map[string]bool{
	"importprunedfunds": true, "removeprunedfunds": true, "migratewallet": true,
	"previewrestore": true, "walletdisplayaddress": true,
	"checkwallet": true, "exporthistory": true, "exportlabels": true, "importlabels": true, "signreceipt": true,
	"bumpfee": true, "psbtbumpfee": true, "sendall": true,
	"abandontransaction": true, "listaddressgroupings": true, "setwalletflag": true, "simulaterawtransaction": true,
	"fundrawtransaction": true, "listlockunspent": true, "lockunspent": true, "send": true, "sendmany": true, "sendtoaddress": true,
	"settxfee": true, "signmessage": true, "walletcreatefundedpsbt": true, "walletprocesspsbt": true,
}

// replay makes one call over wallets that answer as recorded.
func replay(
	tb testing.TB, sys *actortest.System, name *string, method string, params, response *jsontree.Value,
) string {
	tb.Helper()
	r := newRigIn(tb, sys)
	fault := response.Get("error")
	text := fault.Get("message").Text()
	w := newDouble(tb, r.sys, "nobody")
	switch {
	case strings.HasPrefix(text, "No wallet is loaded."):
	case name != nil && text != "Requested wallet does not exist or is not loaded":
		w = r.load(*name, stateFor(method, text))
	case method == "loadwallet" && !fault.IsNull(), method == "unloadwallet" && fault.IsNull():
		w = r.load(params.At(0).Text(), plain)
	default:
		w = r.load("first", plain)
		r.load("second", plain)
	}
	play(r, w, method, shown{tb, response.Get("result")}, failureOf(fault))
	return r.run(tb.Context(), name, method, params)
}

// stateFor returns the state that a wallet has in a recorded call.
func stateFor(method, fault string) messages.WalletInfo {
	state := plain
	switch method {
	case "walletpassphrase", "walletpassphrasechange", "walletlock":
		if !strings.Contains(fault, "unencrypted wallet") {
			state = unlocked
		}
	}
	state.LastProcessedHeight = 1000
	return state
}

// failureOf returns what a wallet says where the recorded call failed. It knows
// nothing of zero bytes in passphrases.
func failureOf(fault *jsontree.Value) error {
	if fault.IsNull() {
		return nil
	}
	code, _ := fault.Get("code").AsInt32()
	e := &messages.WalletError{Code: int(code), Text: fault.Get("message").Text()}
	if code == -14 {
		e.Text = "Error: The wallet passphrase entered was incorrect."
	}
	if e.Text == withoutPrivate {
		return nil
	}
	return e
}

// gives makes a double answer requests of the type of Q with a value, or with an
// error.
func gives[Q messages.Request[R], R any](d *double, value R, err error) {
	answer(d, func(Q) (R, error) { return value, err })
}

// play sets what the actors answer.
func play(r *rig, w *double, method string, s shown, err error) {
	if method == "gethdkeys" && s.v.IsNull() { // a key without private key
		gives[messages.GetHDKeys](w, []messages.HDKey{{XPub: "xpub"}}, err)
		return
	}
	if err != nil && s.v.IsNull() {
		s.v = jsontree.NewObject()
	}
	var done messages.Done
	text := s.v.Text()
	loaded := messages.WalletLoaded{Name: s.text("name"), Warnings: s.texts("warnings")}
	if i := slices.Index(loaded.Warnings, "Empty string given as passphrase, wallet will not be encrypted."); i >= 0 {
		loaded.Warnings = slices.Delete(loaded.Warnings, i, i+1)
	}
	gives[messages.CreateWallet](r.registry, loaded, err)
	gives[messages.LoadWallet](r.registry, loaded, err)
	gives[messages.RestoreWallet](r.registry, loaded, err)
	gives[messages.UnloadWallet](r.registry, messages.WalletUnloaded{}, err)
	answerNothingLoading(r)

	gives[messages.BackupWallet](w, done, err)
	gives[messages.SetLabel](w, done, err)
	gives[messages.KeypoolRefill](w, done, err)
	gives[messages.EncryptWallet](w, done, err)
	gives[messages.UnlockWallet](w, done, err)
	gives[messages.LockWallet](w, done, err)
	gives[messages.ChangePassphrase](w, done, err)
	gives[messages.NewAddress](w, text, err)
	gives[messages.AbortRescan](w, false, err)
	playLists(r, w, method, s, err)
}

func playLists(r *rig, w *double, method string, s shown, err error) {
	switch method {
	case "listwallets":
		r.directory.Remove("first")
		r.directory.Remove("second")
		for _, name := range each(s, func(s shown) string { return s.v.Text() }) {
			r.directory.Add(name, w.ref)
		}
	case "listwalletdir":
		gives[messages.ListWalletDir](r.registry, each(s.at("wallets"), func(s shown) messages.WalletDirEntry {
			return messages.WalletDirEntry{Name: s.text("name"), Warnings: s.texts("warnings")}
		}), err)
	case "listdescriptors":
		gives[messages.ListDescriptors](w, each(s.at("descriptors"), descriptorOf), err)
	case "gethdkeys":
		gives[messages.GetHDKeys](w, each(s, keyOf), err)
	case "createwalletdescriptor":
		gives[messages.CreateWalletDescriptor](w, s.texts("descs"), err)
	case "importdescriptors":
		gives[messages.ImportDescriptors](w, each(s, importOf), err)
	case "listlabels":
		gives[messages.ListLabels](w, each(s, func(s shown) string { return s.v.Text() }), err)
	case "getaddressesbylabel":
		var found []messages.LabelledAddress
		for key, v := range s.v.Members() {
			found = append(found, messages.LabelledAddress{Address: key, Purpose: v.Get("purpose").Text()})
		}
		gives[messages.GetAddressesByLabel](w, found, err)
	case "getaddressinfo":
		gives[messages.GetAddressInfo](w, addressInfoOf(s), err)
	case "listreceivedbyaddress", "listreceivedbylabel":
		gives[messages.ListReceived](w, each(s, receivedOf), err)
	case "getreceivedbyaddress", "getreceivedbylabel":
		gives[messages.GetReceived](w, amountOrZero(s, err), err)
	default:
		playHistory(w, method, s, err)
	}
}

func playHistory(w *double, method string, s shown, err error) {
	switch method {
	case "getwalletinfo":
		gives[messages.GetWalletInfo](w, infoOf(s), err)
	case "getbalances":
		gives[messages.GetBalances](w, balancesOf(s), err)
	case "getbalance":
		reuse := err == nil
		gives[messages.GetBalances](w, messages.Balances{Trusted: amountOrZero(s, err), HasUsed: reuse}, nil)
	case "listunspent":
		gives[messages.ListUnspent](w, each(s, unspentOf), err)
	case "listtransactions":
		gives[messages.ListTransactions](w, each(s, entryOf), err)
	case "listsinceblock":
		gives[messages.ListSinceBlock](w, messages.SinceBlock{
			Transactions: each(s.at("transactions"), entryOf), Removed: each(s.at("removed"), entryOf),
			LastBlock: s.hash("lastblock"),
		}, err)
	case "gettransaction":
		gives[messages.GetTransaction](w, detailsOf(s), err)
	case "rescanblockchain":
		rescanned := messages.Rescanned{Start: int32(s.number("start_height"))}
		if s.has("stop_height") {
			rescanned.Stop = new(int32(s.number("stop_height")))
		}
		gives[messages.Rescan](w, rescanned, err)
	case "signrawtransactionwithwallet":
		gives[messages.SignWithWallet](w, signedOf(s), err)
	}
}

// amountOrZero returns a result that is an amount.
func amountOrZero(s shown, err error) btcutil.Amount {
	if err != nil {
		return 0
	}
	return amountOf(s.t, s.v)
}
