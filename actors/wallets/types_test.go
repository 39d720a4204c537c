package wallets_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// Addresses have the types of the options if the request names no type, in new
// wallets and in loaded wallets.
func TestDefaultTypes(t *testing.T) {
	const legacy, p2sh, bech32, bech32m = "mn", "2", "bcrt1q", "bcrt1p"
	for _, test := range []struct {
		types           keys.AddressTypes
		receive, change string // what addresses begin with
	}{
		{keys.AddressTypes{}, bech32, bech32},
		{keys.AddressTypes{Receive: "legacy"}, legacy, legacy},
		{keys.AddressTypes{Receive: "bech32m"}, bech32m, bech32m},
		{keys.AddressTypes{Change: "p2sh-segwit"}, bech32, p2sh},
		{keys.AddressTypes{Receive: "p2sh-segwit", Change: "bech32"}, p2sh, bech32},
	} {
		t.Run(test.types.Receive+"/"+test.types.Change, func(t *testing.T) {
			r := newRig(t, newChain(), setup{noFilters: true, keyPool: 2, types: test.types})
			do(t, r.ref, messages.CreateWallet{Name: "w"})
			begins := func(q messages.NewAddress, want string) {
				t.Helper()
				got := do(t, r.wallet(t, "w"), q)
				if want == legacy && !strings.ContainsAny(got[:1], want) || want != legacy &&
					!strings.HasPrefix(got, want) {
					t.Errorf("%+v: %s, want one that begins with %s", q, got, want)
				}
			}
			for range 2 {
				begins(messages.NewAddress{}, test.receive)
				begins(messages.NewAddress{Change: true}, test.change)
				begins(messages.NewAddress{Type: "bech32m", HasType: true}, bech32m)
				do(t, r.ref, messages.UnloadWallet{Name: "w"})
				do(t, r.ref, messages.LoadWallet{Name: "w"})
			}
		})
	}
}

// Names of types that a network does not have are refused in Core's words.
func TestCheckTypes(t *testing.T) {
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		net   *dialect.Network
		types keys.AddressTypes
		want  string
	}{
		{enginetest.Regtest(t), keys.AddressTypes{}, ""},
		{enginetest.Regtest(t), keys.AddressTypes{Receive: "bech32m", Change: "legacy"}, ""},
		{enginetest.Regtest(t), keys.AddressTypes{Receive: "Bech32", Change: "x"}, "Unknown address type 'Bech32'"},
		{enginetest.Regtest(t), keys.AddressTypes{Receive: "p2mr"}, "Unknown address type 'p2mr'"},
		{enginetest.Regtest(t), keys.AddressTypes{Change: "0"}, "Unknown change type '0'"},
		{qbit, keys.AddressTypes{Receive: "p2mr", Change: "p2mr"}, ""},
		{qbit, keys.AddressTypes{Receive: "legacy"}, "Address type 'legacy' is not available on this chain"},
		{qbit, keys.AddressTypes{Change: "bech32m"}, "Change type 'bech32m' is not available on this chain"},
		{qbit, keys.AddressTypes{Receive: "bech32", Change: "x"}, "Unknown change type 'x'"},
	} {
		got := ""
		if err := keys.CheckTypes(test.net.Wallet(), test.types); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.types, got, test.want)
		}
	}
}
