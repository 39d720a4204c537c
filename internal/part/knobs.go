package part

import (
	"context"
	"time"
)

// Knobs are what tests of this module, and options of the daemon that are for tests, change of a node. Hosts have no
// use for them: so they come with the context of a node's start, and not with its configuration. The zero value changes
// nothing.
type Knobs struct {
	MockTime     time.Time       // what the clock shows from the start on
	FilterKernel string          // one of filters.KernelNames; empty: the fastest
	SmallFiles   bool            // block files of 64 KiB
	WroteCoins   func(bytes int) // is notified of each change of the unspent outputs while they are written
	FixedKey     bool            // of new tables of peers' addresses
	CheckAddrs   int             // one in so many uses of these tables checks them; 0: none
}

// knobsKey is the key of the knobs in a context.
type knobsKey struct{}

// WithKnobs returns a context that starts a node with knobs.
func WithKnobs(ctx context.Context, k Knobs) context.Context {
	return context.WithValue(ctx, knobsKey{}, k)
}

// KnobsOf returns the knobs of a context.
func KnobsOf(ctx context.Context) Knobs {
	k, _ := ctx.Value(knobsKey{}).(Knobs)
	return k
}
