package utilrpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/utilrpc"
)

// p2mrNetworks are those of the recordings of qbit 1.0.0.
var p2mrNetworks = map[string]*descriptor.Network{
	"main": {
		PubKeyHashID: 58, ScriptHashID: 63, PrivateKeyID: 159, Bech32HRP: "qb",
		HDPublicKeyID: [4]byte{0x03, 0xf7, 0x28, 0x15}, HDPrivateKeyID: [4]byte{0x03, 0xf7, 0x23, 0xdb},
		Dialect: descriptor.P2MR, Restricted: true, Reserved: true,
		Foreign: &descriptor.KeyVersions{
			PrivateKeyID:  128,
			HDPublicKeyID: [4]byte{0x04, 0x88, 0xb2, 0x1e}, HDPrivateKeyID: [4]byte{0x04, 0x88, 0xad, 0xe4},
		},
	},
	"regtest": {
		PubKeyHashID: 120, ScriptHashID: 125, PrivateKeyID: 166, Bech32HRP: "qbrt",
		HDPublicKeyID: [4]byte{0x03, 0xf7, 0xd7, 0xb5}, HDPrivateKeyID: [4]byte{0x03, 0xf7, 0xd8, 0x3a},
		Dialect: descriptor.P2MR, Restricted: true,
		Foreign: &descriptor.KeyVersions{
			PrivateKeyID:  239,
			HDPublicKeyID: [4]byte{0x04, 0x35, 0x87, 0xcf}, HDPrivateKeyID: [4]byte{0x04, 0x35, 0x83, 0x94},
		},
	},
}

// TestRecordedP2MR plays recorded calls of qbit 1.0.0.
func TestRecordedP2MR(t *testing.T) {
	for chain, net := range p2mrNetworks {
		t.Run(chain, func(t *testing.T) {
			t.Parallel()
			table := newTableOf(t, net)
			played := 0
			for i, r := range recordings(t, "../../../descriptor/testdata/p2mr-"+chain+".jsonl.gz") {
				// Keys take milliseconds each, and are made alike on all chains.
				if strings.HasPrefix(r.Name, "derivation/") && i%8 != 0 {
					continue
				}
				played++
				play(t, table, r)
			}
			if played < 250 {
				t.Errorf("played only %d", played)
			}
		})
	}
}

// TestUnrestrictedP2MR looks at what a network with all forms of outputs does.
func TestUnrestrictedP2MR(t *testing.T) {
	net := *p2mrNetworks["regtest"]
	net.Restricted = false
	table := newTableOf(t, &net)
	for _, test := range []struct{ method, params, want string }{
		{
			"validateaddress", `["qPdE7mgcBYC4prDfBpJvihPxjpWHWMgvNh"]`,
			`{"isvalid":true,"address":"qPdE7mgcBYC4prDfBpJvihPxjpWHWMgvNh","scriptPubKey":` +
				`"76a914428adf8a08f1a3da5890feed2253c1ba5b670e3f88ac","isscript":false,"iswitness":false}`,
		},
		{
			"deriveaddresses", `["wpkh(02b5a21a26fc18bc6a57627c97ad16b06345c1e9c07d2fba085d77a4f99d82969c)#uqk5yevv"]`,
			`["qbrt1qg29dlzsg7x3a5kyslmkjy57phfdkwr3l8qwtyy"]`,
		},
		{
			"deriveaddresses", `["mr(pk(994bae1382df37391a02c55cde700874805558acb4d7bc9d1d27527df71577b1))#sk2yex0x"]`,
			`["qbrt1zxf5ykj6zyrzmufgpx2ypq0hana078y9u80ncvdq6xe6k3ra2jrgqmqssy8"]`,
		},
	} {
		if got := reply(t, table, test.method, parse(t, test.params)); got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.method, test.params, got, test.want)
		}
	}
}

func newTableOf(tb testing.TB, net *descriptor.Network) *command.Table {
	tb.Helper()
	table, err := command.NewTable(utilrpc.Commands(utilrpc.Deps{Net: net}))
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

// Messages are signed by keys of Bitcoin's addresses, of which a restricted network has none.
func TestNoMessagesOfP2MR(t *testing.T) {
	table := newTableOf(t, p2mrNetworks["regtest"])
	for method, want := range map[string]string{
		"verifymessage": "Legacy message verification is disabled on this chain",

		"signmessagewithprivkey": "Legacy message signing is disabled on this chain",
	} {
		params, err := jsontree.Parse([]byte(`["a", "b"]`))
		if method == "verifymessage" {
			params, err = jsontree.Parse([]byte(`["a", "b", "c"]`))
		}
		if err != nil {
			t.Fatal(err)
		}
		call, err := table.Prepare(command.Caller{}, method, params)
		if err != nil {
			t.Fatal(err)
		}
		_, err = call.Run(t.Context())
		var refused command.Error
		if !errors.As(err, &refused) || refused.Code != command.MethodDeprecated || refused.Message != want {
			t.Errorf("%s: %v", method, err)
		}
	}
}
