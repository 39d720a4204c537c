package trawl

import (
	"context"

	"github.com/seed61375155/trawl/messages"
)

// Stats returns numbers about the node as it is now. What is not known when ctx ends is left
// out: no part is waited for, and none has more than one request of it in its mailbox,
// however often it is called.
func (n *Node) Stats(ctx context.Context) messages.NodeStats { return n.numbers.Read(ctx) }
