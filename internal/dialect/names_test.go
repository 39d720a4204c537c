package dialect_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
)

// Help texts of qbit's methods name its types of addresses, and examples that are addresses there.
func TestHelpWords(t *testing.T) {
	const types = `"legacy", "p2sh-segwit", "bech32" or "bech32m"`
	for _, c := range []struct {
		any                  bool
		types, refill, other string
	}{
		{false, `"p2mr"`, `have 1 active ranged descriptor ("p2mr") with`, `["p2mr"]`},
		{
			true, `"legacy", "p2sh-segwit", "bech32", "bech32m" or "p2mr"`,
			`have 5 active ranged descriptors ("legacy", "p2sh-segwit", "bech32", "bech32m", "p2mr") with`,
			`["bech32m"]`,
		},
	} {
		n, err := dialect.Named("qbit", "regtest", dialect.Choices{AnyOutput: c.any})
		if err != nil {
			t.Fatal(err)
		}
		words := strings.NewReplacer(n.HelpWords...)
		if got := words.Replace(types); got != c.types {
			t.Errorf("types are %s", got)
		}
		got := words.Replace("Derives addresses ahead for each active descriptor.")
		if !strings.Contains(got, c.refill) {
			t.Errorf("keypoolrefill: %s", got)
		}
		if got := words.Replace(`["bech32m"]`); got != c.other {
			t.Errorf("example of a type: %s", got)
		}
	}
	main, err := dialect.Named("qbit", "main", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range main.HelpWords {
		if strings.HasPrefix(word, "qb1") {
			if _, err := descriptor.ScriptOfAddress(word, main.Descriptors()); err != nil {
				t.Errorf("%s: %v", word, err)
			}
		}
	}
}
