package differ_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// TestExportWatchOnly exports the same wallet without its private keys here and from a later Core. The files have the
// same records but for the version of the program, and each node restores both.
func TestExportWatchOnly(t *testing.T) {
	p := differ.Start(t, differ.Config{Later: true, Args: []string{"-keypool=4"}})
	nodes := map[string]*jsonrpc.Client{"trawl": p.Trawl.Client, "core": p.Core}
	p.Get(nil, "setmocktime", 1_700_000_000)
	p.Get(nil, "createwallet", "w", false, true)
	const xprv = "tprv8ZgxMBicQKsPeuVhWwi6wuMQGfPKi9Li5GtX35jVNknACgqe3CY4g5xgkfDDJcmtF7o1QnxWDRYw4H5P26PXq7sbcUkEqeR4fg3Kxp2tigg"
	const xpub = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
	var items []map[string]any
	for _, desc := range []string{
		"wpkh(" + xprv + "/84h/1h/0h/0/*)", "pkh(" + xprv + "/44'/1'/0'/0/*)", "sh(wpkh(" + xprv + "/0'/*'))",
		"wsh(multi(1," + xpub + "/*," + xprv + "/1h/*))", "pkh(cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW)",
		"tr(" + xpub + "/9/*,{pk(" + xprv + "/2'/3h/*),pk(" + xprv + "/5h/*)})",
	} {
		item := map[string]any{"desc": descriptor.AddChecksum(desc), "timestamp": 0}
		if strings.HasPrefix(desc, "wpkh") {
			item["active"] = true
		}
		items = append(items, item)
	}
	p.Get(nil, "importdescriptors", items)
	var address, foreign string
	p.Get(&address, "getnewaddress", "paid")
	p.Get(&foreign, "getnewaddress", "", "bech32")
	p.Get(nil, "setlabel", foreignAddress, "elsewhere")
	p.Get(nil, "addhdkey", "tprv8ZgxMBicQKsPeEsFp13ComgBi5ciWYmEa21i1DydTSvtaLWPStfbF6SVz3Wuw8ApDTGpM5TF7jycqG8qNUozDT9AwNv1EyrnEeFC4D6veSs")
	sameBlocks(t, p, address, 3)
	var list []struct {
		TxID string `json:"txid"`
	}
	p.Get(&list, "listtransactions")
	lock := []map[string]any{{"txid": list[0].TxID, "vout": 0}}
	p.Get(nil, "lockunspent", false, lock, true)
	dir := t.TempDir()
	exported := map[string]string{}
	for name, node := range nodes {
		path := filepath.Join(dir, name, "wallet.dat")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := node.Call(t.Context(), nil, "exportwatchonlywallet", path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		exported[name] = path
	}
	if got, want := recordsOf(t, exported["trawl"]), recordsOf(t, exported["core"]); !slices.Equal(got, want) {
		t.Errorf("records\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	want := map[string]string{}
	for name, node := range nodes {
		for of, path := range exported {
			if err := node.Call(t.Context(), nil, "restorewallet", of, path); err != nil {
				t.Fatalf("%s restores what %s has exported: %v", name, of, err)
			}
			for method, got := range watchedReplies(t, node, of) {
				if want[method] == "" {
					want[method] = got
				}
				if got != want[method] {
					t.Errorf("%s of what %s has exported, at %s:\n%s\nwant\n%s", method, of, name, got, want[method])
				}
			}
		}
	}
	p.Alive()
}

// sameBlocks has Core make blocks that pay to an address, and hands them to both.
func sameBlocks(t *testing.T, p *differ.Pair, address string, n int) {
	t.Helper()
	var hashes []string
	if err := p.Core.Call(t.Context(), &hashes, "generatetoaddress", n, address); err != nil {
		t.Fatal(err)
	}
	for _, hash := range hashes {
		var raw string
		if err := p.Core.Call(t.Context(), &raw, "getblock", hash, 0); err != nil {
			t.Fatal(err)
		}
		p.Trawl.Get(nil, "submitblock", raw)
	}
	p.Trawl.WaitTip(hashes[len(hashes)-1], int32(n), false)
}

// watchedReplies are replies about a wallet, without its name.
func watchedReplies(t *testing.T, node *jsonrpc.Client, wallet string) map[string]string {
	t.Helper()
	replies := map[string]string{}
	for _, method := range []string{
		"listdescriptors", "listlabels", "listlockunspent", "listreceivedbyaddress", "getwalletinfo", "getnewaddress",
	} {
		var got any
		if err := node.CallWallet(t.Context(), wallet, &got, method); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if object, ok := got.(map[string]any); ok {
			for _, name := range []string{"wallet_name", "walletname", "walletversion", "paytxfee"} {
				delete(object, name)
			}
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		replies[method] = string(text)
	}
	return replies
}

// recordsOf returns the records of a wallet file in order, as its dump has them, but for the version of its program.
func recordsOf(t *testing.T, path string) []string {
	t.Helper()
	text := filepath.Join(t.TempDir(), "dump")
	tool := e2e.Run(t, e2e.Program(t, "trawl-wallet"), "-regtest", "-datadir="+t.TempDir(), "-wallet="+filepath.Dir(path),
		"-dumpfile="+text, "dump")
	if status := tool.Wait(t); status != 0 {
		t.Fatalf("status %d: %s", status, tool.Stderr())
	}
	content, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	lines = lines[2 : len(lines)-1]
	const version = "0776657273696f6e,"
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, version) })
	slices.Sort(lines)
	return lines
}
