package dialect_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
)

// The operator of a regtest chooses from which block on a rule holds, by names that
// are not those of the deployments.
func TestActivation(t *testing.T) {
	for _, test := range []struct{ rule, deployment string }{
		{"segwit", "segwit"}, {"bip34", "bip34"}, {"dersig", "bip66"}, {"cltv", "bip65"}, {"csv", "csv"},
	} {
		for _, family := range []string{"", dialect.NameBitcoin, dialect.NameQbit} {
			n := named(t, family, dialect.Choices{Activation: map[string]int32{test.rule: 432}})
			if n.Active(test.deployment, 431) || !n.Active(test.deployment, 432) {
				t.Errorf("%s: %s does not begin at 432", family, test.rule)
			}
			for _, other := range []string{"segwit", "bip34", "bip66", "bip65", "csv"} {
				if other != test.deployment && !n.Active(other, 1) {
					t.Errorf("%s: %s changes %s", family, test.rule, other)
				}
			}
		}
	}
	p := named(
		t, "", dialect.Choices{Activation: map[string]int32{"csv": 0, "segwit": 9, "bip34": 2, "dersig": 3, "cltv": 4}},
	).Params
	if p.BIP0034Height != 2 || p.BIP0066Height != 3 || p.BIP0065Height != 4 ||
		p.Deployments[chaincfg.DeploymentCSV].AlwaysActiveHeight != 1 ||
		p.Deployments[chaincfg.DeploymentSegwit].AlwaysActiveHeight != 9 ||
		p.Deployments[chaincfg.DeploymentTaproot].AlwaysActiveHeight != 1 {
		t.Errorf("parameters %+v", p)
	}
}

func TestVersionBitsChoices(t *testing.T) {
	want := dialect.VersionBits{Start: 1199145601, Timeout: 1230767999, MinActivationHeight: 403}
	n := named(t, "", dialect.Choices{VersionBits: map[string]dialect.VersionBits{"testdummy": want}})
	for _, d := range n.Deployments {
		got := dialect.VersionBits{Start: d.Start, Timeout: d.Timeout, MinActivationHeight: d.MinActivationHeight}
		switch d.Name {
		case "testdummy":
			if got != want || d.Bit != 28 || d.Period != 144 || d.Threshold != 108 {
				t.Errorf("testdummy is %+v", d)
			}
		case "taproot":
			if d.Start != dialect.AlwaysActive || d.Timeout != dialect.NoTimeout {
				t.Errorf("taproot is %+v", d)
			}
		}
	}
}

// A regtest refuses choices of rules that it does not have, and its choices
// change no other chain.
func TestChoicesOfOtherChains(t *testing.T) {
	for _, c := range []dialect.Choices{
		{Activation: map[string]int32{"bip66": 1}},
		{Activation: map[string]int32{"cadence": 1}},
		{VersionBits: map[string]dialect.VersionBits{"segwit": {}}},
	} {
		if _, err := dialect.Named("", "regtest", c); err == nil {
			t.Errorf("takes %+v", c)
		}
	}
	c := dialect.Choices{
		Activation:  map[string]int32{"segwit": 5},
		VersionBits: map[string]dialect.VersionBits{"testdummy": {Start: 5}},
	}
	for _, chain := range []string{"main", "test", "testnet4", "signet"} {
		n, err := dialect.Named("", chain, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range n.Deployments {
			if d.Name == "segwit" && d.Height == 5 || d.Name == "testdummy" && d.Start != dialect.NeverActive {
				t.Errorf("%s follows choices: %+v", chain, d)
			}
		}
	}
}

func named(t *testing.T, family string, c dialect.Choices) *dialect.Network {
	t.Helper()
	n, err := dialect.Named(family, "regtest", c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ReadBlock also reads a block that breaks the size limits; the limits are for
// callers to check.
func TestReadBlockOfAnySize(t *testing.T) {
	n := named(t, "", dialect.Choices{})
	block := *n.Params.GenesisBlock
	tx := block.Transactions[0].Copy()
	tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 5_000_000)}
	block.Transactions = []*wire.MsgTx{tx}
	var raw bytes.Buffer
	if err := block.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	size := raw.Len()
	raw.WriteString("more")
	got, end, err := n.ReadBlock(raw.Bytes())
	if err != nil || end != size || len(got.Transactions[0].TxIn[0].Witness[0]) != 5_000_000 ||
		got.BlockHash() != block.BlockHash() {
		t.Errorf("%d of %d bytes: %v", end, size, err)
	}
}
