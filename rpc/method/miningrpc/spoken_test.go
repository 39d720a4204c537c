package miningrpc_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

// Templates name taproot among the rules: by its vote in Core 30, with SegWit in later versions.
func TestTemplateRules(t *testing.T) {
	for _, test := range []struct {
		chain     string
		reference int
		want      string
	}{
		{"regtest", dialect.Core30, `"rules":["csv","!segwit","taproot"],"vbavailable":{}`},
		{"regtest", dialect.Core32, `"rules":["csv","!segwit","taproot"],"vbavailable":{}`},
		{"signet", dialect.Core30, `"rules":["csv","!segwit","!signet","taproot"],"vbavailable":{}`},
		{"signet", dialect.Core32, `"rules":["csv","!segwit","taproot","!signet"],"vbavailable":{}`},
	} {
		network, err := dialect.Named("", test.chain, dialect.Choices{
			Reference: test.reference, SignetChallenge: map[string][]byte{"signet": {0x51}}[test.chain],
		})
		if err != nil {
			t.Fatal(err)
		}
		got := newTemplateRig(t, network, miningrpc.Blocks{}).call("getblocktemplate", `[{"rules":["segwit","signet"]}]`)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s as %d: %s", test.chain, test.reference, got)
		}
	}
}

// The clock can be set as far as a version of Bitcoin Core lets it.
func TestMockTimeOfReferences(t *testing.T) {
	for _, test := range []struct {
		reference int
		seconds   string
		refused   string // the highest second; empty: it is taken
	}{
		{dialect.Core30, "9223372036", ""},
		{dialect.Core30, "9223372037", "9223372036"},
		{dialect.Core32, "4294967295", ""},
		{dialect.Core32, "4294967296", "4294967295"},
		{dialect.Core32, "-1", "4294967295"},
	} {
		network, err := dialect.Named("", "regtest", dialect.Choices{Reference: test.reference})
		if err != nil {
			t.Fatal(err)
		}
		r := newRigOn(t, network)
		want := `{"code":-8,"message":"Mocktime must be in the range [0, ` + test.refused + `], not ` + test.seconds + `."}`
		if test.refused == "" {
			want = "null"
			serve[messages.SetMockTime](r, messages.Done{}, nil)
		}
		if got := r.call("setmocktime", `[`+test.seconds+`]`); got != want {
			t.Errorf("%d: %s: %s", test.reference, test.seconds, got)
		}
	}
}
