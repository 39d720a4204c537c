package rawtxrpc_test

import (
	"strings"
	"testing"
)

// Copies of one transaction are combined, and nothing else.
func TestCombineRefuses(t *testing.T) {
	t.Parallel()
	table, one := rig(t, "regtest", true), spend(t)
	changed := func(from, to string) string {
		other := strings.Replace(one, from, to, 1)
		if other == one {
			t.Fatalf("%s has no %s", one, from)
		}
		return other
	}
	const few = `{"code":-22,"message":"Missing transactions. At least two transactions required."}`
	const unknown = `{"code":-25,"message":"Input not found or already spent"}`
	const notHex = `{"code":-22,"message":"TX decode failed for tx 1. Make sure the tx has at least one input."}`
	second := `{"code":-8,"message":"Transaction number 2 not compatible with first transaction"}`
	third := strings.Replace(second, "2", "3", 1)
	for params, want := range map[string]string{
		`[[]]`:                            few,
		`[["zz"]]`:                        few,
		`[["` + one + `"]]`:               few,
		`[["` + one + `","zz"]]`:          notHex,
		`[["` + one + `","` + one + `"]]`: unknown,
		`[["` + one + `","` + changed("02000000", "01000000") + `"]]`:                     second,  // version
		`[["` + one + `","` + changed("aa00000000000000", "ab00000000000000") + `"]]`:     second,  // input
		`[["` + one + `","` + changed("0000000000fdffffff", "0100000000fdffffff") + `"]]`: second,  // its output
		`[["` + one + `","` + changed("fdffffff", "fcffffff") + `"]]`:                     second,  // sequence
		`[["` + one + `","` + changed("6a0100", "6a0101") + `"]]`:                         second,  // output
		`[["` + one + `","` + changed("00fdffffff", "0151fdffffff") + `"]]`:               unknown, // script
		`[["` + one + `","` + one + `","` + changed("6a0100", "6a0101") + `"]]`:           third,
	} {
		if result, fault := call(t, table, "combinerawtransaction", parse(t, params)); fault != want {
			t.Errorf("%s: %s %s, want %s", params, result, fault, want)
		}
	}
}
