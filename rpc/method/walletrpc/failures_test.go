package walletrpc_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// callsOf are arguments for methods that need some.
var callsOf = map[string]string{
	"createwallet": `["w"]`, "migratewallet": `["w"]`, "loadwallet": `["w"]`, "restorewallet": `["w", "b"]`, "previewrestore": `["b"]`,
	"unloadwallet": `["a"]`, "importlabels": `[""]`,
	"signreceipt":          "[" + string(new(receipt.Receipt).AppendJSON(nil)) + `, "` + own + `", "simple"]`,
	"walletdisplayaddress": `["` + own + `"]`,
	"backupwallet":         `["b"]`, "createwalletdescriptor": `["legacy", {"hdkey": "k"}]`, "encryptwallet": `["p"]`,
	"derivehdkey": `["m/0h"]`, "exportwatchonlywallet": `["b"]`,
	"getaddressesbylabel": `["l"]`, "getaddressinfo": `["` + own + `"]`, "getreceivedbyaddress": `["` + own + `"]`,
	"getreceivedbylabel": `["l"]`, "gettransaction": `["` + strings.Repeat("0", 64) + `"]`, "importdescriptors": `[[]]`,
	"setlabel": `["` + own + `", "l"]`, "signrawtransactionwithwallet": `["` + spendTx + `"]`,
	"fundrawtransaction": `["` + spendTx + `"]`, "lockunspent": `[true]`, "settxfee": `[0]`,
	"signmessage": `["mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "m"]`, "sendtoaddress": `["` + own + `", 1]`,
	"sendmany": `["", {"` + own + `": 1}]`,
	"send":     `[{"` + own + `": 1}]`, "walletcreatefundedpsbt": `[[], {"` + own + `": 1}]`,
	"removeprunedfunds":  `["` + strings.Repeat("0", 64) + `"]`,
	"abandontransaction": `["` + strings.Repeat("0", 64) + `"]`, "simulaterawtransaction": `[[]]`,
	"setwalletflag": `["avoid_reuse"]`, "sendall": `[["` + own + `"]]`,
	"bumpfee": `["` + strings.Repeat("0", 64) + `"]`, "psbtbumpfee": `["` + strings.Repeat("0", 64) + `"]`,
	"walletprocesspsbt": `["` + somePSBT + `"]`, "walletpassphrase": `["p", 1]`, "walletpassphrasechange": `["p", "q"]`,
}

// somePSBT is a partially signed transaction without inputs.
const somePSBT = "cHNidP8BAAoCAAAAAAAAAAAAAA=="

// The error of a wallet or of the registry reaches the client unchanged, from every method: the error of the request
// itself, and of a request before.
func TestFailures(t *testing.T) {
	wrong := error(&messages.WalletError{Code: -4, Text: "no"})
	for name, set := range map[string]func(w *double){
		"request": func(w *double) { failAll(w, wrong) },
		"state": func(
			w *double,
		) {
			failAll(w, wrong)
			gives[messages.GetWalletInfo](w, messages.WalletInfo{}, wrong)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			failAll(r.registry, wrong)
			calls := maps.Clone(callsOf)
			calls["importprunedfunds"], _ = proven(nil)
			for _, c := range r.table.Commands() {
				state := plain
				switch c.Name {
				case "listwallets", "getwalletinfo": // ask for nothing else
					continue
				case "walletlock", "walletpassphrase", "walletpassphrasechange":
					state = unlocked
				}
				set(r.load("a", state))
				params := cmp.Or(calls[c.Name], "[]")
				if got := r.call(nil, c.Name, params); got != `{"code":-4,"message":"no"}` {
					t.Errorf("%s: got %s", c.Name, got)
				}
				r.directory.Remove("a")
			}
		})
	}
}

// failAll makes a double fail every request but those for its state.
func failAll(d *double, err error) {
	gives[messages.CreateWallet](d, messages.WalletLoaded{}, err)
	gives[messages.LoadWallet](d, messages.WalletLoaded{}, err)
	gives[messages.PreviewRestore](d, messages.RestorePreview{}, err)
	gives[messages.RestoreWallet](d, messages.WalletLoaded{}, err)
	gives[messages.MigrateWallet](d, messages.WalletMigrated{}, err)
	gives[messages.UnloadWallet](d, messages.WalletUnloaded{}, err)
	gives[messages.ListWalletDir](d, nil, err)
	gives[messages.BackupWallet](d, messages.Done{}, err)
	gives[messages.ExportWatchOnly](d, messages.Done{}, err)
	gives[messages.DisplayAddress](d, messages.Done{}, err)
	gives[messages.ListDescriptors](d, nil, err)
	gives[messages.GetHDKeys](d, nil, err)
	gives[messages.ImportDescriptors](d, nil, err)
	gives[messages.CreateWalletDescriptor](d, nil, err)
	gives[messages.AddHDKey](d, "", err)
	gives[messages.DeriveHDKey](d, messages.DerivedHDKey{}, err)
	gives[messages.NewAddress](d, "", err)
	gives[messages.GetAddressInfo](d, messages.AddressInfo{}, err)
	gives[messages.SetLabel](d, messages.Done{}, err)
	gives[messages.ListLabels](d, nil, err)
	gives[messages.GetLabels](d, messages.WalletLabels{}, err)
	gives[messages.PutLabels](d, messages.LabelsPut{}, err)
	gives[messages.GetAddressesByLabel](d, nil, err)
	gives[messages.KeypoolRefill](d, messages.Done{}, err)
	gives[messages.EncryptWallet](d, messages.Done{}, err)
	gives[messages.UnlockWallet](d, messages.Done{}, err)
	gives[messages.LockWallet](d, messages.Done{}, err)
	gives[messages.ChangePassphrase](d, messages.Done{}, err)
	gives[messages.Rescan](d, messages.Rescanned{}, err)
	gives[messages.CheckWallet](d, messages.WalletChecked{}, err)
	gives[messages.AbortRescan](d, false, err)
	gives[messages.SignWithWallet](d, messages.Signed{}, err)
	gives[messages.GetBalances](d, messages.Balances{}, err)
	gives[messages.ListReceived](d, nil, err)
	gives[messages.GetReceived](d, btcutil.Amount(0), err)
	gives[messages.ListUnspent](d, nil, err)
	gives[messages.ListTransactions](d, nil, err)
	gives[messages.ListSinceBlock](d, messages.SinceBlock{}, err)
	gives[messages.GetTransaction](d, messages.TxDetails{}, err)
	gives[messages.Spend](d, messages.Spent{}, err)
	gives[messages.FillPacket](d, messages.FilledPacket{}, err)
	gives[messages.LockCoins](d, messages.Done{}, err)
	gives[messages.ListLocked](d, nil, err)
	gives[messages.SetPayFee](d, messages.Done{}, err)
	gives[messages.SignMessage](d, nil, err)
	gives[messages.SignDataHash](d, messages.DataSignature{}, err)
	gives[messages.ImportTx](d, messages.Done{}, err)
	gives[messages.RemoveTx](d, messages.Done{}, err)
	gives[messages.BumpFee](d, messages.Bumped{}, err)
	gives[messages.AbandonTx](d, messages.Done{}, err)
	gives[messages.ListGroupings](d, nil, err)
	gives[messages.SimulateTxs](d, btcutil.Amount(0), err)
	gives[messages.SetWalletFlag](d, messages.Done{}, err)
}

// A wallet's state is looked at before the arguments.
func TestStates(t *testing.T) {
	scanning := func(info messages.WalletInfo) messages.WalletInfo {
		info.Scanning = true
		return info
	}
	const rescanning = `{"code":-4,"message":"Wallet is currently rescanning. Abort existing rescan or wait."}`
	const inUse = `{"code":-4,"message":"Error: the wallet is currently being used to rescan the blockchain for related transactions. ` +
		"Please call `abortrescan` before "
	tests := []struct {
		name           string
		state          messages.WalletInfo
		method, params string
		want           string
	}{
		{"import while scanning", scanning(locked), "importdescriptors", `[[5]]`, rescanning},
		{"rescan while scanning", scanning(locked), "rescanblockchain", `[-1]`, rescanning},
		{"encrypt while scanning", scanning(plain), "encryptwallet", `[""]`, inUse + `encrypting the wallet."}`},
		{"change while scanning", scanning(unlocked), "walletpassphrasechange", `["", ""]`, inUse + `changing the passphrase."}`},
		{"lock while scanning", scanning(unlocked), "walletlock", `[]`, inUse + `locking the wallet."}`},
		{
			"encrypt twice", locked, "encryptwallet", `[""]`,
			`{"code":-15,"message":"Error: running with an encrypted wallet, but encryptwallet was called."}`,
		},
		{
			"change without encryption", plain, "walletpassphrasechange", `["", ""]`,
			`{"code":-15,"message":"Error: running with an unencrypted wallet, but walletpassphrasechange was called."}`,
		},
		{"empty old passphrase", locked, "walletpassphrasechange", `["", "x"]`, `{"code":-8,"message":"passphrase cannot be empty"}`},
		{"empty new passphrase", locked, "walletpassphrasechange", `["x", ""]`, `{"code":-8,"message":"passphrase cannot be empty"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.load("a", test.state)
			if got := r.call(nil, test.method, test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Only a wallet that avoids reuse can be asked to leave out used coins.
func TestBalanceAvoidReuse(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	gives[messages.GetBalances](w, messages.Balances{Trusted: 5}, nil)
	if got := r.call(nil, "getbalance", `["*", 0, true, false]`); got != "0.00000005" {
		t.Errorf("got %s", got)
	}
	if got := r.call(nil, "getbalance", `["*", 0, true, true]`); !strings.Contains(got, `feature enabled`) {
		t.Errorf("got %s", got)
	}
}

// No answer, error or printed message holds a passphrase.
func TestSecrets(t *testing.T) {
	const secret = "correct horse"
	r := newRig(t)
	w := r.load("a", locked)
	wrong := &messages.WalletError{Code: -14, Text: "Error: The wallet passphrase entered was incorrect."}
	gives[messages.UnlockWallet](w, messages.Done{}, error(wrong))
	gives[messages.ChangePassphrase](w, messages.Done{}, error(wrong))
	gives[messages.CreateWallet](r.registry, messages.WalletLoaded{}, error(wrong))
	for method, params := range map[string]string{
		"walletpassphrase":       `["` + secret + `", 1]`,
		"walletpassphrasechange": `["` + secret + `", "` + secret + `"]`,
		"createwallet":           `["w", null, null, "` + secret + `"]`,
	} {
		if got := r.call(nil, method, params); strings.Contains(got, secret) || !strings.Contains(got, "-14") {
			t.Errorf("%s: got %s", method, got)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range w.seen {
		if text := jsonOf(t, q); strings.Contains(text, secret) {
			t.Errorf("%T prints its passphrase: %s", q, text)
		}
	}
}

// A wallet that goes away while it is asked is not there.
func TestUnloadedMeanwhile(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.GetBalances) (messages.Balances, error) {
		r.directory.Remove("a")
		return messages.Balances{}, ask.ErrStopped
	})
	want := `{"code":-18,"message":"Requested wallet does not exist or is not loaded"}`
	if got := r.call(nil, "getbalance", `[]`); got != want {
		t.Errorf("got %s", got)
	}
	r.registry.serve = nil
	gives[messages.UnloadWallet](r.registry, messages.WalletUnloaded{}, messages.ErrWalletNotFound)
	r.load("b", plain)
	if got := r.call(nil, "unloadwallet", `["b"]`); got != want {
		t.Errorf("got %s", got)
	}
}

// A node that stops is not a wallet that was unloaded.
func TestStopping(t *testing.T) {
	r := newRig(t)
	r.table.Know(command.KnownError{Err: ask.ErrStopped, As: command.Error{
		Code: command.ClientNotConnected, Message: "Shutting down",
	}})
	w := r.load("a", plain)
	gives[messages.GetBalances](w, messages.Balances{}, ask.ErrStopped)
	if got := r.call(nil, "getbalance", `[]`); got != `{"code":-9,"message":"Shutting down"}` {
		t.Errorf("got %s", got)
	}
}

// A wallet that is being loaded is not there for calls, as in Core. How far it is stands in the list of wallets, and
// it can be given up by its name.
func TestLoading(t *testing.T) {
	r := newRig(t)
	r.load("other", plain)
	gives[messages.GetLoading](r.registry, []messages.WalletLoading{
		{Name: "x"},
		{Name: "w", Step: "looking through blocks", Progress: 0.25, Since: time.Now().Add(-90 * time.Second)},
	}, nil)
	gives[messages.ListWalletDir](r.registry, []messages.WalletDirEntry{{Name: "other"}, {Name: "w"}}, nil)
	answer(r.registry, func(q messages.AbortRestore) (bool, error) { return q.Name == "w", nil })
	want := `{"wallets":[{"name":"other","warnings":[]},` +
		`{"name":"w","warnings":[],"loading":{"step":"looking through blocks","duration":90,"progress":0.25}}]}`
	if got := strings.ReplaceAll(r.call(nil, "listwalletdir", `[]`), "null", "[]"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, name := range []string{"w", "y"} {
		for _, call := range [][2]string{
			{"getwalletinfo", `[]`},
			{"getbalance", `[]`},
			{"listdescriptors", `[]`},
			{"unloadwallet", `[]`},
			{"rescanblockchain", `[]`},
			{"getnewaddress", `[]`},
		} {
			if got := r.call(&name, call[0], call[1]); !strings.Contains(got, `"code":-18`) {
				t.Errorf("%s of %s: got %s", call[0], name, got)
			}
		}
	}
	if got := r.call(new("w"), "abortrescan", `[]`); got != "true" {
		t.Errorf("abortrescan: got %s", got)
	}
	if got := r.call(new("y"), "abortrescan", `[]`); !strings.Contains(got, `"code":-18`) {
		t.Errorf("abortrescan: got %s", got)
	}
	gives[messages.GetLoading](r.registry, nil, &messages.WalletError{Code: -4, Text: "no"})
	gives[messages.AbortRestore](r.registry, false, &messages.WalletError{Code: -4, Text: "no"})
	if got := r.call(new("w"), "abortrescan", `[]`); got != `{"code":-4,"message":"no"}` {
		t.Errorf("abortrescan: got %s", got)
	}
	if got := r.call(nil, "listwalletdir", `[]`); got != `{"code":-4,"message":"no"}` {
		t.Errorf("listwalletdir: got %s", got)
	}
}

// A running scan shows in getwalletinfo.
func TestScanning(t *testing.T) {
	info := unlocked
	info.Scanning, info.ScanDuration, info.ScanProgress = true, 1500*time.Millisecond, 1.0/3
	info.Flags = []string{"external_signer"}
	r := newRig(t)
	r.load("a", info)
	got := r.call(nil, "getwalletinfo", `[]`)
	for _, want := range []string{
		`"unlocked_until":1800000000,`, `"scanning":{"duration":1,"progress":0.3333333333333333},`, `"external_signer":true,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// Only abortrescan may pass calls that wait.
func TestControl(t *testing.T) {
	for _, c := range newRig(t).table.Commands() {
		if got, want := c.Control != nil && c.Control(command.NewArgs()), c.Name == "abortrescan"; got != want {
			t.Errorf("%s: control is %v", c.Name, got)
		}
	}
}

// Texts kept with a transaction replace members of the same name.
func TestTextsOfTransaction(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	gives[messages.ListTransactions](w, []messages.TxEntry{{
		Category: "receive", Tx: messages.WalletTx{
			Replaceable: "no", Values: map[string]string{"to": "b", "comment": "a", "txid": "x"},
		},
	}}, nil)
	got := r.call(nil, "listtransactions", `[]`)
	if !strings.Contains(got, `"txid":"x","wtxid"`) || !strings.HasSuffix(got, `"bip125-replaceable":"no","comment":"a","to":"b"}]`) {
		t.Errorf("got %s", got)
	}
}

// An entry about a fee alone has neither address nor label nor output.
func TestFeeEntry(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	gives[messages.ListTransactions](w, []messages.TxEntry{{
		Category: "send", NoOutput: true, Fee: -250, HasFee: true, Tx: messages.WalletTx{Replaceable: "no"},
	}}, nil)
	got := r.call(nil, "listtransactions", `[]`)
	if !strings.HasPrefix(got, `[{"category":"send","amount":0.00000000,"fee":-0.00000250,"confirmations":0,`) {
		t.Errorf("got %s", got)
	}
}

func TestBrokenTransaction(t *testing.T) {
	r := newRig(t)
	r.table.Know(command.KnownError{Err: chainview.ErrNotReady, As: command.Error{
		Code: command.InWarmup, Message: "warming up",
	}})
	w := r.load("a", plain)
	gives[messages.GetTransaction](w, messages.TxDetails{Tx: messages.WalletTx{Raw: []byte{1}}}, nil)
	params, _ := jsontree.Parse([]byte(`["` + strings.Repeat("0", 64) + `", null, true]`))
	call, err := r.table.Prepare(command.Caller{}, "gettransaction", params)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call.Run(t.Context()); err == nil {
		t.Error("a transaction of one byte was shown")
	}
	r.deps.Chain.Set(nil)
	if got := r.call(nil, "listsinceblock", `["`+strings.Repeat("0", 64)+`"]`); got != `{"code":-28,"message":"warming up"}` {
		t.Errorf("got %s", got)
	}
}

// An error while coins are looked up is no fault of the client's.
func TestCoinLookupFails(t *testing.T) {
	r := newRig(t)
	broken := errors.New("disk")
	r.deps.Unspent = func(context.Context, *wire.OutPoint) (*wire.TxOut, error) { return nil, broken }
	r.build()
	r.table.Know(command.KnownError{Err: broken, As: command.Error{Code: command.DatabaseError, Message: "broken"}})
	r.load("a", plain)
	if got := r.call(nil, "signrawtransactionwithwallet", `["`+spendTx+`"]`); got != `{"code":-20,"message":"broken"}` {
		t.Errorf("got %s", got)
	}
}
