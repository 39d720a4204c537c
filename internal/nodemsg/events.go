package nodemsg

import "github.com/seed61375155/trawl/messages"

// Subscribe asks for the events of some kinds that come from now on.
type Subscribe struct {
	messages.Control[messages.Subscription]

	Kinds []messages.EventKind // none: all
}
