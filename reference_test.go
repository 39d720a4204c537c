package trawl_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options/table"
)

// spokenAs is what a node answers that speaks as a version of Bitcoin Core.
type spokenAs struct {
	version, protocol float64
	padding           string // at the end of the script of a coinbase
	packets           byte   // the version of those that createpsbt makes
	own               bool   // blocks show no coinbase_tx, and wallets have a fee rate of their own
}

// A node speaks as the version of Bitcoin Core that it is told to, and a data directory serves each.
func TestReference(t *testing.T) {
	rows := map[int]spokenAs{30: {300200, 70016, "00", 0, true}, 32: {320000, 70017, "", 2, false}}
	rows[0] = rows[dialect.DefaultReference]
	if strconv.Itoa(dialect.DefaultReference) != table.DefaultCore {
		t.Errorf("options say that %s is spoken as", table.DefaultCore)
	}
	cfg := follower(t)
	cfg.Wallets = &trawl.WalletConfig{KeyPool: 1}
	height := 16 // up to it there is always padding
	for _, reference := range []int{30, 32, 0, 30} {
		cfg.Reference = reference
		node, want := open(t, cfg), rows[reference]
		call := func(method string, params ...any) (v any) {
			t.Helper()
			if params == nil {
				params = []any{}
			}
			got, err := node.Call(t.Context(), method, params)
			if err == nil {
				err = json.Unmarshal(got, &v)
			}
			if err != nil {
				t.Fatalf("%d: %s: %v", reference, method, err)
			}
			return v
		}
		member := func(v any, key string) any { return v.(map[string]any)[key] }
		network := call("getnetworkinfo")
		if member(network, "version") != want.version || member(network, "protocolversion") != want.protocol {
			t.Errorf("%d: %v", reference, network)
		}
		if height == 16 {
			call("createwallet", "w")
			call("generatetodescriptor", height, "raw(51)")
		} else {
			call("loadwallet", "w")
		}
		if own := member(call("getwalletinfo"), "paytxfee") != nil; own != want.own {
			t.Errorf("%d: a fee rate of the wallet's own: %v", reference, own)
		}
		text := call("createpsbt", []any{}, []any{map[string]any{"data": "00"}}).(string)
		packet, err := base64.StdEncoding.DecodeString(text)
		const second = "\x01\xfb\x04\x02\x00\x00\x00" // the field that says so
		if err != nil || strings.Contains(string(packet), second) != (want.packets == 2) {
			t.Errorf("%d: %x, %v", reference, packet, err)
		}
		height++
		block := call("getblock", call("generatetodescriptor", 1, "raw(51)").([]any)[0], 2)
		if shown := member(block, "coinbase_tx") != nil; shown == want.own {
			t.Errorf("%d: shows the coinbase: %v", reference, shown)
		}
		in := member(member(block, "tx").([]any)[0], "vin").([]any)[0]
		if got, want := member(in, "coinbase"), fmt.Sprintf("01%02x%s", height, want.padding); got != want {
			t.Errorf("%d: coinbase %v, want %s", reference, got, want)
		}
		shut(t, node)
	}
}
