// Package knobs is what tests of this module, and options of the daemon that are for tests, change of a node. Hosts
// have no use for it: so it comes with the context of a node's start, and not with its configuration.
package knobs

import (
	"context"
	"time"
)

// Knobs change a node for a test. The zero value changes nothing.
type Knobs struct {
	MockTime     time.Time       // what the clock shows from the start on
	FilterKernel string          // one of filters.KernelNames; empty: the fastest
	SmallFiles   bool            // block files of 64 KiB
	WroteCoins   func(bytes int) // told of each change of the unspent outputs while they are written
	FixedKey     bool            // of new tables of peers' addresses
	CheckAddrs   int             // one in so many uses of these tables checks them; 0: none
}

// key is that of the knobs in a context.
type key struct{}

// With returns a context that starts a node with knobs.
func With(ctx context.Context, k Knobs) context.Context { return context.WithValue(ctx, key{}, k) }

// Of returns the knobs of a context.
func Of(ctx context.Context) Knobs {
	k, _ := ctx.Value(key{}).(Knobs)
	return k
}
