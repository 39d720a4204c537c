package options

import (
	"slices"
	"strings"
	"testing"
)

// dialectTable is small with the option that chooses.
var dialectTable = append(slices.Clone(small), Option{Name: "dialect", Flags: NoNegation | NeedsValue})

func TestDialect(t *testing.T) {
	files := disk{
		"/data/bitcoin.conf": []byte("foo=bitcoin"), "/data-qbit/qbit.conf": []byte("foo=qbit"),
		"/both": nil, "/both/bitcoin.conf": []byte("foo=bitcoin"), "/both/qbit.conf": []byte("foo=qbit"),
	}
	for _, test := range []struct {
		line             []string
		dialect, foo, at string
		port             uint16
	}{
		{[]string{"/bin/trawld"}, "bitcoin", "bitcoin", "/data", 8332},
		{[]string{"/bin/trawld-qbit"}, "qbit", "qbit", "/data-qbit", 8352},
		{[]string{"trawld-moon", "-regtest"}, "bitcoin", "bitcoin", "/data/regtest", 18443},
		{[]string{"trawld", "-dialect=qbit", "-regtest"}, "qbit", "qbit", "/data-qbit/regtest", 18452},
		{[]string{"trawld-qbit", "-dialect=bitcoin", "-datadir=/both"}, "bitcoin", "bitcoin", "/both", 8332},
		{[]string{"trawld-qbit", "-datadir=/both", "-testnet4"}, "qbit", "qbit", "/both/testnet4", 48352},
	} {
		s := New(dialectTable, "/data")
		if err := s.ParseArgs(ProgramArgs(test.line)); err != nil {
			t.Fatal(err)
		}
		if err := s.ReadConfig(files); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SelectChain(); err != nil {
			t.Fatal(err)
		}
		if s.Dialect() != test.dialect || s.String("foo", "") != test.foo || s.NetDir() != test.at ||
			s.RPCPort() != test.port {
			t.Errorf("%q: %s, %s, %s, %d", test.line, s.Dialect(), s.String("foo", ""), s.NetDir(), s.RPCPort())
		}
	}
	if err := New(dialectTable, "").ParseArgs([]string{"-dialect=moon"}); err == nil ||
		err.Error() != "Unknown dialect moon." {
		t.Errorf("got %v", err)
	}
	if err := New(dialectTable, "/data").ReadConfig(disk{"/data/trawl.conf": []byte("dialect=qbit")}); err == nil {
		t.Error("the configuration file chooses the dialect")
	}
	if ProgramArgs(nil) != nil {
		t.Error("arguments out of nothing")
	}
}

// The sizes of the networks' block files are those of the networks' programs (chainparams.cpp).
func TestFullSize(t *testing.T) {
	for line, want := range map[string]uint64{
		"": 810, "-testnet": 240, "-testnet4": 22, "-signet": 20, "-signet -signetchallenge=51": 0, "-regtest": 0,
		"-dialect=qbit": 0, "-dialect=qbit -testnet4": 1,
	} {
		s := New(append(slices.Clone(dialectTable), Option{Name: "signetchallenge"}), "/data")
		if err := s.ParseArgs(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SelectChain(); err != nil {
			t.Fatal(err)
		}
		if got := FullSize(s); got != want {
			t.Errorf("%q: %d GB, want %d", line, got, want)
		}
	}
}
