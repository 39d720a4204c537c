package peers

import "testing"

func TestNewerAgents(t *testing.T) {
	for _, test := range []struct {
		theirs, ours string
		want         bool
	}{
		{"/qbit:1.0.1/", "/qbit:1.0.0/", true},
		{"/qbit:1.1.0/", "/qbit:1.0.9/", true},
		{"/qbit:2.0.0/", "/qbit:1.9.9/", true},
		{"/qbit:1.0.0/", "/qbit:1.0.0/", false},
		{"/qbit:1.0.0/", "/qbit:1.0.1/", false},
		{"/qbit:0.9.9/", "/qbit:1.0.0/", false},
		{"/qbit:1.0.10/", "/qbit:1.0.9/", true},
		{"/qbit:1.0.1(a; b)/", "/qbit:1.0.0(c)/Trawl:0.1.0/", true},
		{"/qbit:1.0.1/Trawl:0.2.0/", "/qbit:1.0.0/Trawl:0.1.0/", true},
		{"/qbit:1.0.0/Trawl:0.2.0/", "/qbit:1.0.0/Trawl:0.1.0/", false},
		{"/qbit:1.0.0-testnet2/", "/qbit:1.0.0-testnet1/", true},
		{"/qbit:1.0.0-testnet1/", "/qbit:1.0.0-testnet1-rc1/", true},
		{"/qbit:1.0.0-testnet1-rc2/", "/qbit:1.0.0-testnet1-rc1/", true},
		{"/qbit:1.0.0-testnet1-rc1/", "/qbit:1.0.0-testnet1/", false},
		{"/qbit:1.0.0/", "/qbit:1.0.0-rc1/", true},
		{"/qbit:1.0.0-rc2/", "/qbit:1.0.0-rc1/", true},
		{"/qbit:1.0.1-beta1/", "/qbit:1.0.0-testnet1/", true},
		{"/qbit:1.0.0-beta2/", "/qbit:1.0.0-testnet1/", false},
		{"/qbit:1.0.0-testnet2/", "/qbit:1.0.0/", false},
		{"/qbit:1.0.0-testnet2/", "/qbit:1.0.0-testnet/", false},
		{"/qbit:1.0.1-/", "/qbit:1.0.0/", false},
		{"/qbit:1.0.1-rcx/", "/qbit:1.0.0/", false},
		{"/qbit:1.0.1-rc1-testnet1/", "/qbit:1.0.0/", false},
		{"/qbit:1.0/", "/qbit:1.0.0/", false},
		{"/qbit:99999999999.0.0/", "/qbit:1.0.0/", false},
		{"/Satoshi:30.2.0/", "/qbit:1.0.0/", false},
		{"/qbit:1.0.1", "/qbit:1.0.0/", false},
		{"", "/qbit:1.0.0/", false},
	} {
		if got := isNewer("qbit", test.theirs, test.ours); got != test.want {
			t.Errorf("%s beside %s: got %v, want %v", test.theirs, test.ours, got, test.want)
		}
	}
}
