package nodemsg

import "github.com/seed61375155/trawl/messages"

// FollowNode has the chain become that of the node that this one is attached to. It is
// answered when this node's tip is what the other one's was after the request came, or is
// kept for a reason that [messages.GetAttachState] tells.
//
// Errors: [messages.ErrNodeAway], or another refusal that says why it cannot be followed
// now; [messages.ErrNotAttached] where the node is attached to none.
type FollowNode struct{ messages.Asks[messages.Tip] }

// FollowPool has the copy of the pool of the node that this one is attached to become what
// that pool is after the request came. It is answered when listeners have been notified.
//
// Errors: [messages.ErrNodeAway], or another refusal that says why it cannot be copied.
type FollowPool struct{ messages.Asks[messages.Done] }
