package e2e_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// coreWallet makes a wallet in Core with coins, and one here that watches the same scripts.
func coreWallet(t *testing.T, c *bitcoind, d *e2e.Daemon) {
	t.Helper()
	c.get(nil, "createwallet", "theirs")
	var address string
	c.get(&address, "getnewaddress")
	c.get(nil, "generatetoaddress", 110, address)
	var list struct {
		Descriptors []struct {
			Desc     string `json:"desc"`
			Internal bool   `json:"internal"`
		} `json:"descriptors"`
	}
	c.get(&list, "listdescriptors")
	d.Get(nil, "createwallet", "ours", true)
	var requests []map[string]any
	for _, desc := range list.Descriptors {
		requests = append(requests, map[string]any{
			"desc": desc.Desc, "timestamp": 0, "active": true, "internal": desc.Internal, "range": []int{0, 20},
		})
	}
	d.Get(nil, "importdescriptors", requests)
}

// sameWallets waits until both wallets report the same.
func sameWallets(t *testing.T, c *bitcoind, d *e2e.Daemon, what string, txids ...string) {
	t.Helper()
	calls := [][]any{{"getbalances"}, {"getreceivedbylabel", "", 0}}
	for _, txid := range txids {
		calls = append(calls, []any{"gettransaction", txid})
	}
	var ours, theirs any
	for _, call := range calls {
		method, _ := call[0].(string)
		e2e.Eventually(t, 20*time.Second, what+": "+method, func() bool {
			ours, theirs = walletReport(t, d.Client, call), walletReport(t, c.Client, call)
			return reflect.DeepEqual(ours, theirs)
		})
	}
}

// walletReport calls a method and drops what depends on when a wallet heard of something, and on
// who made it.
func walletReport(t *testing.T, of *jsonrpc.Client, call []any) any {
	t.Helper()
	var result any
	method, _ := call[0].(string)
	if err := of.Call(t.Context(), &result, method, call[1:]...); err != nil {
		return err.Error()
	}
	if tx, ok := result.(map[string]any); ok {
		for _, key := range []string{"time", "timereceived", "comment", "replaces_txid", "replaced_by_txid"} {
			delete(tx, key)
		}
	}
	return result
}

// A wallet beside a Core hears of transactions that enter Core's pool, are replaced or mined
// there. It keeps its state while Core is away.
func TestLiveAttachPool(t *testing.T) {
	t.Parallel()
	c := startBitcoind(t, "fallbackfee=0.0001")
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir}})
	coreWallet(t, c, d)
	err := d.Call(t.Context(), nil, "createwallet", "theirs")
	if err == nil || !strings.Contains(err.Error(), "Bitcoin Core has a wallet") {
		t.Errorf("a name of Core's: %v", err)
	}
	sameWallets(t, c, d, "confirmed")
	var address, first, second string
	c.get(&address, "getnewaddress")
	c.get(&first, "sendtoaddress", address, 1)
	c.get(&second, "sendtoaddress", address, 2)
	sameWallets(t, c, d, "sent", first, second)
	var bumped struct{ TxID string }
	c.get(&bumped, "bumpfee", second)
	sameWallets(t, c, d, "replaced", first, bumped.TxID)
	e2e.Eventually(t, 20*time.Second, "the replaced one has left", func() bool {
		var tx struct{ WalletConflicts, MempoolConflicts []string }
		d.Get(&tx, "gettransaction", second)
		return len(tx.WalletConflicts) == 1 && len(tx.MempoolConflicts) == 1
	})
	sameActivity(t, c, d, address)

	sendsHere(t, c, d, address)

	// A transaction that is passed on to Core.
	var raw string
	var funded struct{ Hex string }
	c.get(&raw, "createrawtransaction", []any{}, map[string]any{address: 3})
	c.get(&funded, "fundrawtransaction", raw)
	c.get(&funded, "signrawtransactionwithwallet", funded.Hex)
	var third string
	d.Get(&third, "sendrawtransaction", funded.Hex)
	sameWallets(t, c, d, "sent from here", third)

	c.stop()
	e2e.Eventually(t, 20*time.Second, "it is said that Core is away", func() bool {
		var info struct {
			Mempool struct {
				Size   int
				Reason string
			}
		}
		d.Get(&info, "getattachinfo")
		return info.Mempool.Size == 2 && strings.Contains(info.Mempool.Reason, "does not answer")
	})
	got := walletReport(t, d.Client, []any{"gettransaction", third})
	if !strings.Contains(text(t, got), `"confirmations":0`) {
		t.Errorf("while Core is away: %v", got)
	}
	c.start()
	c.get(nil, "loadwallet", "theirs")
	c.get(nil, "generatetoaddress", 1, address)
	sameWallets(t, c, d, "mined", first, bumped.TxID, third)
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// sameActivity compares what happened to a script in blocks and in the pool.
func sameActivity(t *testing.T, c *bitcoind, d *e2e.Daemon, address string) {
	t.Helper()
	var tip string
	c.get(&tip, "getbestblockhash")
	call := []any{"getdescriptoractivity", []string{tip}, []string{"addr(" + address + ")"}}
	ours, theirs := walletReport(t, d.Client, call), walletReport(t, c.Client, call)
	if !reflect.DeepEqual(ours, theirs) {
		t.Errorf("activity %v, Core's %v", ours, theirs)
	}
}

// sendsHere has a wallet here send what it got from Core's pool.
func sendsHere(t *testing.T, c *bitcoind, d *e2e.Daemon, back string) {
	t.Helper()
	d.Get(nil, "unloadwallet", "ours")
	d.Get(nil, "createwallet", "spending")
	var own, paid, sent string
	d.Get(&own, "getnewaddress")
	c.get(&paid, "sendtoaddress", own, 1)
	c.get(nil, "generatetoaddress", 1, back)
	e2e.Eventually(t, 20*time.Second, "it is confirmed here", func() bool {
		var balance float64
		d.Get(&balance, "getbalance")
		return balance == 1
	})
	d.Get(&sent, "sendtoaddress", back, 0.5, "", "", false, false, nil, "unset", false, 5)
	c.get(nil, "getmempoolentry", sent)
	d.Get(nil, "unloadwallet", "spending")
	d.Get(nil, "loadwallet", "ours")
}
