package hostcall

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// abortEvery is how often a discovery is aborted that has not ended: the request may come later than an abort.
const abortEvery = 20 * time.Millisecond

// Discover looks for accounts. The end of ctx aborts that, however long progress takes. Discover returns once the node
// may begin another discovery.
func Discover(
	ctx context.Context, discovery *ask.Ref, q messages.DiscoverAccounts, progress func(messages.DiscoveryStatus),
) (messages.Discovery, error) {
	uncut := context.WithoutCancel(ctx)
	for q.ID == 0 { // an abort is not that of another discovery
		q.ID = rand.Uint64() //nolint:gosec // no secret
	}
	var found messages.Discovery
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		found, err = ask.Ask(uncut, discovery, q)
	}()
	aborted := make(chan struct{})
	leave := context.AfterFunc(ctx, func() {
		defer close(aborted)
		for {
			_, _ = ask.Ask(uncut, discovery, messages.AbortDiscovery{ID: q.ID})
			select {
			case <-ended:
				return
			case <-time.After(abortEvery):
			}
		}
	})
	tellDiscovery(uncut, discovery, ended, progress)
	if !leave() {
		<-aborted
	}
	if err == nil && !found.Completed && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return found, err
}

// tellDiscovery tells how far a discovery is until it has ended.
func tellDiscovery(
	ctx context.Context, discovery *ask.Ref, ended <-chan struct{}, progress func(messages.DiscoveryStatus),
) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			if progress == nil {
				continue
			}
			if status, err := ask.Ask(ctx, discovery, messages.GetDiscovery{}); err == nil && status.Running {
				progress(status)
			}
		}
	}
}
