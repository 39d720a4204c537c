package walletrpc_test

import "testing"

// A path is judged before the wallet is asked.
func TestDeriveHDKeyPath(t *testing.T) {
	r := newRig(t)
	r.load("a", plain)
	const hardened = `{"code":-8,"message":"Derivation path requires at least one hardened step"}`
	const invalid = `{"code":-8,"message":"Invalid BIP32 keypath"}`
	for params, want := range map[string]string{
		`["m"]`: hardened, `["m/87/0/0"]`: hardened, `[""]`: hardened,
		`["m/2147483648"]`: invalid, `["m/2147483648h"]`: invalid, `["m/2147483648'"]`: invalid,
		`["x", {"hdkey": "k"}]`: invalid,
	} {
		if got := r.call(nil, "derivehdkey", params); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
}
