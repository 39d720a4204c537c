package chainrpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/discovery"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// realDiscovery has discoveries served by an actor over a real scanner.
func (r *rig) realDiscovery() {
	r.t.Helper()
	r.realScanner()
	r.deps.Index.Discovery = r.sys.Spawn("discovery", discovery.New(discovery.Config{
		Network: r.net, Chain: r.deps.Chain, Scanner: r.deps.Index.Scanner, Log: r.sys.Log,
	}), discovery.Requests...)
	r.build()
}

// mine makes blocks that pay to scripts. Each block spends what the one before has paid.
func (r *rig) mine(blocks [][][]byte) {
	r.t.Helper()
	funding := r.chain.MineN(1)
	var before *wire.MsgTx
	for _, scripts := range blocks {
		tx := r.spend(funding, 0)
		tx.TxOut = nil
		if before != nil {
			id := before.TxHash()
			for n := range before.TxOut {
				tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&id, uint32(n)), nil, nil))
			}
		}
		for _, script := range scripts {
			tx.AddTxOut(wire.NewTxOut(1000, script))
		}
		if len(scripts) == 0 {
			tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
		}
		before = tx
		funding = r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{tx}})
	}
	r.chain.Mine(chaintest.Template{})
}

// aboutWords are words of BIP39.
const aboutWords = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

type discovered struct {
	Accounts []struct {
		Descriptors []json.RawMessage
	}
	Receipt json.RawMessage
}

// The answer has descriptors that other methods take, and a receipt that is verified.
func TestDiscoverAccounts(t *testing.T) {
	r := newRig(t, "regtest")
	net := r.net.Descriptors()
	key := func(path string) string { // of the words, by the methods that others have tested
		branches, err := descriptor.Parse(path, net, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := branches[0].NormalizedString()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const master = "tprv8ZgxMBicQKsPe5YMU9gHen4Ez3ApihUfykaqUorj9t6FDqy3nP6eoXiAo2ssvpAjoLroQxHqr3R5nE3a5dU3DHTjTgJDd" +
		"7zrbniJr6nrCzd"
	receive, change := key("wpkh("+master+"/84h/1h/0h/0/*)"), key("wpkh("+master+"/84h/1h/0h/1/*)")
	script := func(text string, index uint32) []byte {
		branches, err := descriptor.Parse(text, net, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		scripts, err := branches[0].Expand(index)
		if err != nil {
			t.Fatal(err)
		}
		return scripts[0]
	}
	r.mine([][][]byte{{script(receive, 2), script(change, 0)}, {}, {script(receive, 4)}})
	r.realDiscovery()
	const options = `{"gap":3,"account_gap":2}`
	got := r.call("discoveraccounts", `["start","`+aboutWords+`","",`+options+`]`)
	tip := r.chain.Active().Tip()
	at := func(height int32) int64 { return r.chain.Active().At(height).Time().Unix() }
	want := fmt.Sprintf(`{"accounts":[{"purpose":84,"account":0,"form":"wpkh(KEY)","descriptors":[`+
		`{"desc":"%s","range":[0,7],"timestamp":%d,"internal":false,"next_index":5,"gap":3,"exhausted":false,`+
		`"received":0.00002000,"spent":0.00001000,"balance":0.00001000,"first_height":2,"last_height":4},`+
		`{"desc":"%s","range":[0,3],"timestamp":%d,"internal":true,"next_index":1,"gap":3,"exhausted":false,`+
		`"received":0.00001000,"spent":0.00001000,"balance":0.00000000,"first_height":2,"last_height":3}],`+
		`"received":0.00003000,"spent":0.00002000,"balance":0.00001000,"first_height":2,"last_height":4}],`+
		`"from_height":0,"to_height":%d,"blockhash":"%s","passes":3,`+
		`"received":0.00003000,"spent":0.00002000,"balance":0.00001000,"completed":true,"receipt":`,
		receive, at(2), change, at(2), tip.Height, tip.Hash)
	if !strings.HasPrefix(got, want) || strings.Contains(got, "tprv") || strings.Contains(got, "abandon") {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	var answer discovered
	if err := json.Unmarshal([]byte(got), &answer); err != nil {
		t.Fatal(err)
	}
	if got := r.call("verifyreceipt", "["+string(answer.Receipt)+"]"); got != `{"valid":true}` {
		t.Error(got)
	}
	for _, part := range []string{`"scripts":60,`, `"activity":{"entries":5,"received":"3000","spent":"2000"}`} {
		if !strings.Contains(string(answer.Receipt), part) {
			t.Errorf("the receipt %s has no %s", answer.Receipt, part)
		}
	}
	objects := fmt.Sprintf(`[%s,%s]`, answer.Accounts[0].Descriptors[0], answer.Accounts[0].Descriptors[1])
	scanned := r.call("scanblocks", `["start",`+objects+`]`)
	if !strings.Contains(scanned, `"to_height":5`) || strings.Count(scanned, `"gap":3,"exhausted":false`) != 2 {
		t.Error(scanned)
	}

	const secret = `{"gap":3,"private":true,"receipt_descriptors":false}`
	private := r.call("discoveraccounts", `["start","`+aboutWords+`","",`+secret+`]`)
	want = `{"desc":"` + descriptor.AddChecksum("wpkh("+master+"/84h/1h/0h/1/*)") + `",`
	if !strings.Contains(private, want) {
		t.Errorf("%s has no %s", private, want)
	}
	_, receipt, _ := strings.Cut(private, `"receipt":`)
	if strings.Contains(receipt, "prv") || strings.Contains(receipt, "desc") {
		t.Error(receipt)
	}
	got = r.call("discoveraccounts", `["start","`+aboutWords+`","other",`+options+`]`)
	if !strings.HasPrefix(got, `{"accounts":[],`) {
		t.Error(got)
	}
}

func TestDiscoverAccountsRefusals(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(2)
	r.realDiscovery()
	for params, want := range map[string]string{
		`["begin"]`:                             "-8 Invalid action 'begin'",
		`["start"]`:                             "-3 JSON value of type null is not of expected type string",
		`["start",""]`:                          "-5 An extended key, a descriptor or words are needed",
		`["start","zoo zoo"]`:                   "-5 12, 15, 18, 21 or 24 words are needed, not 2",
		`["start","x","",{"gap":0}]`:            "-8 gap must be between 1 and 100000",
		`["start","x","",{"account_gap":1001}]`: "-8 account_gap must be between 1 and 1000",
		`["start","x","",{"gap":"9"}]`:          "-3 JSON value of type string is not of expected type number",
		`["start","x","",{"gaps":9}]`:           "-3 Unexpected key gaps",
		`["start","x","y"]`:                     "-5 A passphrase goes with words alone",
		`["status"]`:                            "null",
		`["abort"]`:                             "false",
		`["start","x","",{"private":1}]`:        "-3 JSON value of type number is not of expected type bool",
	} {
		if got := r.call("discoveraccounts", params); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	slot, err := ask.Ask(t.Context(), r.deps.Index.Scanner, messages.ReserveScan{})
	if err != nil {
		t.Fatal(err)
	}
	const busy = `-8 Scan already in progress, use action "abort" or "status"`
	if got := r.call("discoveraccounts", `["start","`+aboutWords+`"]`); got != busy {
		t.Error(got)
	}
	if _, err := ask.Ask(t.Context(), r.deps.Index.Scanner, messages.ReleaseScan{Slot: slot.ID}); err != nil {
		t.Error(err)
	}
	r.deps.ScriptLimit, r.deps.Index = 0, nil
	r.build()
	for params, want := range map[string]string{
		`["start","` + aboutWords + `"]`: "-1 Index is not enabled for filtertype basic", `["status"]`: "null", `["abort"]`: "false",
	} {
		if got := r.call("discoveraccounts", params); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
}

// The status of a discovery has its stage, and an aborted discovery says that it is not complete.
func TestDiscoverAccountsAborted(t *testing.T) {
	r := newRig(t, "regtest")
	r.chain.MineN(2)
	r.realDiscovery()
	done := r.start("discoveraccounts", `["start","`+aboutWords+`","",{"gap":100000}]`)
	status := ""
	for status = "null"; status == "null"; {
		status = r.call("discoveraccounts", `["status"]`)
	}
	if !strings.HasPrefix(status, `{"progress":0,"current_height":0,"stage":"deriving scripts","pass":`) {
		t.Error(status)
	}
	if got := r.call("discoveraccounts", `["abort"]`); got != "true" {
		t.Error(got)
	}
	tip := r.chain.Active().Tip()
	want := fmt.Sprintf(`{"accounts":[],"from_height":0,"to_height":2,"blockhash":"%s","passes":`, tip.Hash)
	if got := <-done; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `,"completed":false}`) {
		t.Errorf("got %s, want %s", got, want)
	}
}
