package differ_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
)

// TestWalletPackets has wallets of both nodes with the same descriptors update, sign and complete the same packets, one
// after the other, the second what the first has made.
func TestWalletPackets(t *testing.T) {
	p := differ.Start(t, differ.Config{})
	exceptPackets(p)
	x := &rolePlay{psbts: psbts{transactions{keys: keys{differ.Random(t)}}, p.Later}, pair: p}
	x.masters()
	complete := 0
	for n := range differ.Cases(t, 40) {
		complete += x.playWallets(n)
	}
	if complete == 0 {
		t.Error("no packet was completed")
	}
	p.Alive()
}

// playWallets makes two wallets and has them work on packets. It returns how many they completed.
func (x *rolePlay) playWallets(n int) (complete int) {
	names := []string{fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)}
	packet, all := x.packet()
	for _, name := range names {
		x.makeWallet(name, all)
	}
	text := packet.Encode()
	for range 4 {
		name := names[x.IntN(len(names))]
		params := []any{text, x.IntN(5) > 0, [...]any{nil, nil, nil, "ALL", "DEFAULT", "SINGLE", "bad"}[x.IntN(7)]}
		params = append(params, x.IntN(4) > 0, x.IntN(3) > 0)
		got := x.pair.Send(differ.Call{Method: "walletprocesspsbt", Params: params, Wallet: name})
		if made := x.results(got); len(made) > 0 {
			text = made[0]
		}
		var end struct{ Complete bool }
		if json.Unmarshal(got[0].Core.Result, &end) == nil && end.Complete {
			complete = 1
		}
		x.look(text)
	}
	for _, name := range names {
		x.pair.Send(differ.Call{Method: "unloadwallet", Params: []any{name}})
	}
	return complete
}

// makeWallet makes a wallet of some of the descriptors, all with private keys or none.
func (x *rolePlay) makeWallet(name string, all []spent) {
	watching := x.IntN(5) == 0
	x.pair.Send(differ.Call{Method: "createwallet", Params: []any{name, watching, true}})
	var items []any
	for _, s := range all {
		if x.IntN(3) == 0 {
			continue
		}
		text := s.text
		if watching {
			text = publicText(text)
		} else {
			text = descriptor.AddChecksum(text)
		}
		item := map[string]any{"desc": text, "timestamp": "now"}
		branches, err := descriptor.Parse(text, regtest, descriptor.Options{})
		if err == nil && branches[0].IsRanged() {
			item["range"] = 2
		}
		items = append(items, item)
	}
	if items != nil {
		x.pair.Send(differ.Call{Method: "importdescriptors", Params: []any{items}, Wallet: name})
	}
}
