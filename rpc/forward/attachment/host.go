package attachment

import (
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/messages"
)

// A Host is what a node is configured to be, as far as that has to agree with a Core that validates its chain.
type Host struct {
	Chain   string   // as Config.Chain of the node has it
	Foreign string   // its dialect, where that is not Bitcoin's; else empty
	Dirs    []string // that the node writes to
	Wallets bool     // it keeps some

	Prune, TxIndex, TxoSpenderIndex, CoinStatsIndex, Reindex, LoadBlock, Peers bool // it shall do these
}

// Check refuses what does not go together with the attachment.
func (h Host) Check(a *Attachment) error {
	if h.Wallets == a.NoWallets() {
		return errors.New("trawl: Config.Wallets and AttachConfig.NoWallets contradict each other")
	}
	if h.Chain != a.chain {
		return messages.StartError(fmt.Sprintf("Bitcoin Core is on chain %q, not %q.", a.chain, h.Chain))
	}
	for _, no := range []struct {
		set    bool
		option string
	}{
		{h.Prune, "-prune"},
		{h.TxIndex, "-txindex"},
		{h.TxoSpenderIndex, "-txospenderindex"},
		{h.CoinStatsIndex, "-coinstatsindex"},
		{h.Reindex, "-reindex"},
		{h.LoadBlock, "-loadblock"},
		{h.Peers, "peers"},
		{h.Foreign != "", "-dialect=" + h.Foreign},
	} {
		if no.set {
			return messages.StartError("-attach cannot be combined with " + no.option + ".")
		}
	}
	return a.CheckDirs(h.Dirs...)
}
