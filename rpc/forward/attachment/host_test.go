package attachment_test

import (
	"testing"

	"github.com/seed61375155/trawl/rpc/forward/attachment"
)

// A node that does what its Core does is refused, with the name of the option.
func TestHostIsChecked(t *testing.T) {
	a, err := attachment.New(attachment.Config{Core: coreDir(t, "regtest=1\n"), NoWallets: true})
	if err != nil {
		t.Fatal(err)
	}
	type host = attachment.Host
	for want, change := range map[string]func(*host){
		"": func(*host) {},
		"trawl: Config.Wallets and AttachConfig.NoWallets contradict each other": func(h *host) { h.Wallets = true },
		`Bitcoin Core is on chain "regtest", not "main".`:                        func(h *host) { h.Chain = "main" },
		"-attach cannot be combined with -txindex.":                              func(h *host) { h.TxIndex = true },
		"-attach cannot be combined with -txospenderindex.":                      func(h *host) { h.TxoSpenderIndex = true },
		"-attach cannot be combined with -dialect=qbit.":                         func(h *host) { h.Foreign = "qbit" },
		"-attach cannot be combined with -prune.":                                func(h *host) { h.Prune, h.Peers = true, true },
	} {
		h := host{Chain: "regtest", Dirs: []string{t.TempDir(), ""}}
		change(&h)
		if err := h.Check(a); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
