package filter

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// HeaderOf returns what looks up the filter headers of blocks.
func HeaderOf(store Lookup) func(block *chainhash.Hash) (chainhash.Hash, error) {
	return func(block *chainhash.Hash) (chainhash.Hash, error) {
		entry, err := store.Header(block)
		return entry.Header, err
	}
}

// HelpBy returns what has the actor of the cluster lease heights of passes, for
// [match.SchedulerConfig]. The actor may start later: cluster is called for each pass.
func HelpBy(cluster func() *ask.Ref) match.Helper { return helper{cluster} }

type helper struct{ cluster func() *ask.Ref }

// Help implements match.Helper.
func (h helper) Help(ctx context.Context, pass *match.Pass) error {
	cluster := h.cluster()
	if cluster.IsAbsent() {
		return nil
	}
	// Beside the slots of its callers, as many as there are passes.
	_, err := ask.Ask(ctx, cluster, match.LeaseHeights{Pass: pass})
	if ctx.Err() != nil {
		// The context has ended, and heights must come back in any case.
		_, _ = ask.Ask(context.WithoutCancel(ctx), cluster, match.EndLeases{Pass: pass})
		return nil //nolint:nilerr // the pass has its reason already
	}
	return failure(err)
}

// failure returns why a pass must fail: answers of other nodes are not true, or Keep fails for a
// hit of theirs. After any other error this node does the work itself.
func failure(err error) error {
	if kept, ok := errors.AsType[*match.KeepError](err); ok {
		return kept.Err
	}
	if wrong, ok := errors.AsType[*messages.ClusterError](err); ok {
		return wrong
	}
	return nil
}
