package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/rpcclient"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// TestRPCClient drives the daemon with btcd's client for Bitcoin Core, as many
// Go programs do.
func TestRPCClient(t *testing.T) {
	t.Parallel()
	d := startRegtest(t, "-blockfilterindex=1")
	client, err := rpcclient.New(&rpcclient.ConnConfig{
		Host: d.Addr, CookiePath: filepath.Join(d.NetDir, ".cookie"),
		HTTPPostMode: true, DisableTLS: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Shutdown()

	net := &chaincfg.RegressionNetParams
	address, err := btcutil.NewAddressWitnessPubKeyHash(make([]byte, 20), net)
	if err != nil {
		t.Fatal(err)
	}
	script, err := txscript.PayToAddrScript(address)
	if err != nil {
		t.Fatal(err)
	}
	hashes, err := client.GenerateToAddress(3, address, nil)
	if err != nil || len(hashes) != 3 {
		t.Fatalf("generatetoaddress: %v, %v", hashes, err)
	}
	if height, err := client.GetBlockCount(); err != nil || height != 3 {
		t.Errorf("getblockcount: %d, %v", height, err)
	}
	if best, err := client.GetBestBlockHash(); err != nil || *best != *hashes[2] {
		t.Errorf("getbestblockhash: %v, %v", best, err)
	}
	block, err := client.GetBlock(hashes[1])
	if err != nil || string(block.Transactions[0].TxOut[0].PkScript) != string(script) {
		t.Errorf("getblock: %v, %v", block, err)
	}
	if info, err := client.GetBlockChainInfo(); err != nil || info.Chain != "regtest" || info.Blocks != 3 {
		t.Errorf("getblockchaininfo: %+v, %v", info, err)
	}
	if _, err := client.GetBlockHash(99); err == nil {
		t.Error("getblockhash 99 succeeded")
	}
	checkTransactionCalls(t, client, address, block)
	checkScan(t, client, address, len(hashes))
	d.Stop()
}

// checkTransactionCalls makes a transaction and reads it back.
func checkTransactionCalls(t *testing.T, client *rpcclient.Client, to btcutil.Address, block *wire.MsgBlock) {
	t.Helper()
	txid := block.Transactions[0].TxHash()
	raw := call[string](t, client, "createrawtransaction",
		[]map[string]any{{"txid": txid.String(), "vout": 0}},
		map[string]float64{to.EncodeAddress(): 0.12345678})
	decoded := call[struct {
		Vin []struct {
			TxID string `json:"txid"`
		} `json:"vin"`
		Vout []struct {
			Value json.Number `json:"value"`
		} `json:"vout"`
	}](t, client, "decoderawtransaction", raw)
	if len(decoded.Vin) != 1 || decoded.Vin[0].TxID != txid.String() || decoded.Vout[0].Value != "0.12345678" {
		t.Errorf("decoderawtransaction: %+v", decoded)
	}
}

// checkScan finds every block that pays to an address.
func checkScan(t *testing.T, client *rpcclient.Client, to btcutil.Address, want int) {
	t.Helper()
	found := call[struct {
		Blocks    []string `json:"relevant_blocks"`
		Completed bool     `json:"completed"`
	}](t, client, "scanblocks", "start", []string{"addr(" + to.EncodeAddress() + ")"})
	if !found.Completed || len(found.Blocks) != want {
		t.Errorf("scanblocks: %+v", found)
	}
}

// call makes a call that the client has no method for.
func call[R any](t *testing.T, client *rpcclient.Client, method string, params ...any) R {
	t.Helper()
	raw := make([]json.RawMessage, len(params))
	for i, p := range params {
		var err error
		if raw[i], err = json.Marshal(p); err != nil {
			t.Fatal(err)
		}
	}
	reply, err := client.RawRequest(method, raw)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	var result R
	if err := json.Unmarshal(reply, &result); err != nil {
		t.Fatalf("%s: %s: %v", method, reply, err)
	}
	return result
}
