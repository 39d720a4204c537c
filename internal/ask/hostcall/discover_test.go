package hostcall_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/ask/hostcall"
	"github.com/seed61375155/trawl/messages"
)

// A discovery takes a second, or until it is aborted. It passes over the first aborts, as if they came early.
type discovery struct {
	call    *ask.Call[messages.DiscoverAccounts, messages.Discovery]
	early   int32 // aborts to pass over
	aborted atomic.Int32
	other   atomic.Int32 // aborts of another
}

func (d *discovery) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.DiscoverAccounts, messages.Discovery]:
		d.call = m
		self, root := c.Self(), c.ActorSystem().Root
		time.AfterFunc(time.Second, func() { root.Send(self, true) })
	case bool:
		if d.call != nil {
			d.call.Answer(messages.Discovery{To: 9, Completed: m}, nil)
			d.call = nil
		}
	case *ask.Call[messages.AbortDiscovery, bool]:
		if d.call == nil || m.Req.ID == 0 || m.Req.ID != d.call.Req.ID {
			d.other.Add(1)
		} else if d.aborted.Add(1) > d.early {
			c.Send(c.Self(), false)
		}
		m.Answer(true, nil)
	case *ask.Call[messages.GetDiscovery, messages.DiscoveryStatus]:
		m.Answer(messages.DiscoveryStatus{ScanStatus: messages.ScanStatus{Running: true}, Pass: 2}, nil)
	}
}

// A discovery tells how far it is. The end of the context aborts it, as often as is necessary.
func TestDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		d := &discovery{early: 3}
		ref := actortest.New(t).Spawn("discovery", func() actor.Actor { return d })
		told := 0
		progress := func(s messages.DiscoveryStatus) {
			told++
			if s.Pass != 2 {
				t.Errorf("%+v", s)
			}
		}
		found, err := hostcall.Discover(t.Context(), ref, messages.DiscoverAccounts{}, progress)
		if err != nil || !found.Completed || found.To != 9 || told < 3 || d.aborted.Load() != 0 {
			t.Errorf("%+v, %v, told %d times", found, err, told)
		}
		if _, err = hostcall.Discover(t.Context(), ref, messages.DiscoverAccounts{}, nil); err != nil {
			t.Error(err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
		began := time.Now()
		_, err = hostcall.Discover(ctx, ref, messages.DiscoverAccounts{ID: 5}, nil)
		if !errors.Is(err, why) || d.aborted.Load() != 4 || d.other.Load() != 0 {
			t.Errorf("%v, aborted %d times, others %d times", err, d.aborted.Load(), d.other.Load())
		}
		if took := time.Since(began); took > 400*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}
