package nodemsg

import (
	"github.com/seed61375155/trawl/messages"
)

// GetWarnings asks for what the operator should know: of the chain as of the present
// tip, in Core's words, then of the wallets.
type GetWarnings struct{ messages.Control[[]string] }

// WarningChanged is the warning about a component of the node that the operator should
// know; it replaces the part's warning before. It is sent again while it lasts.
type WarningChanged struct {
	Of   string // the part, as in `wallet "name"`
	Text string // empty: nothing any more
}

// WarningRaised announces a warning that was not there before.
type WarningRaised struct{ Text string }
