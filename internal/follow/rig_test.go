package follow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// disk is a target that survives its actor. It checks what it is told to take.
type disk struct {
	mu      sync.Mutex
	blocks  []chainhash.Hash
	wrong   string // what broke the contract
	inActor bool   // the blocks are taken in the actor
	resets  []error
	syncs   []int // blocks at each Sync

	advance func(s *follow.Step) error // before a step; may shorten it
	reset   func(why error) error      // instead of emptying; nil: it is emptied
}

func (d *disk) Position() (at messages.Tip, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.blocks)
	if n == 0 {
		return at, false
	}
	return messages.Tip{Hash: d.blocks[n-1], Height: int32(n - 1)}, true
}

func (d *disk) Advance(_ context.Context, s follow.Step) (func() error, error) {
	var err error
	if d.advance != nil {
		err = d.advance(&s)
	}
	take := func() error { d.take(&s); return nil }
	if d.inActor {
		return take, err
	}
	return nil, joinFirst(err, take())
}

func joinFirst(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (d *disk) take(s *follow.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range s.Disconnect {
		if n := len(d.blocks); n == 0 || d.blocks[n-1] != b.Hash {
			d.wrong = fmt.Sprintf("%v is disconnected, which is not the last block", b.Hash)
			return
		}
		d.blocks = d.blocks[:len(d.blocks)-1]
	}
	for _, b := range s.Connect {
		if int(b.Height) != len(d.blocks) || b.Height > 0 && d.blocks[b.Height-1] != b.Parent.Hash {
			d.wrong = fmt.Sprintf("%v is connected, which does not follow", b.Hash)
			return
		}
		d.blocks = append(d.blocks, b.Hash)
	}
}

func (d *disk) Reset(_ chainview.Reader, why error) (func() error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resets = append(d.resets, why)
	if d.reset != nil {
		return nil, d.reset(why)
	}
	d.blocks = nil
	return nil, nil
}

// durableDisk is a disk that has to be synced.
type durableDisk struct{ *disk }

func (d durableDisk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs = append(d.syncs, len(d.blocks))
	return nil
}

// check compares the target with the active chain.
func (d *disk) check(t *testing.T, chain *chaintest.Chain) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	var want []chainhash.Hash
	for h := range chain.Active().Height() + 1 {
		want = append(want, chain.Active().At(h).Hash)
	}
	if d.wrong != "" {
		t.Error(d.wrong)
	}
	if !slices.Equal(d.blocks, want) {
		t.Errorf("%d blocks were taken in, the chain has %d, or others", len(d.blocks), len(want))
	}
}

// owner is the actor that has the follower.
type owner struct {
	cfg follow.Config
	f   *follow.Follower
}

type (
	when      struct{ messages.Asks[messages.Done] }
	getStatus struct{ messages.Asks[follow.Status] }
	wake      struct{}
	damaged   struct{ err error }
)

func (o *owner) Receive(c actor.Context) {
	if _, ok := c.Message().(*actor.Started); ok {
		o.f = follow.New(o.cfg)
	}
	if o.f.Receive(c) {
		return
	}
	switch m := c.Message().(type) {
	case messages.TipChanged:
	case *ask.Call[when, messages.Done]:
		o.f.When(c, nil, func(err error) { m.Answer(messages.Done{}, err) })
	case *ask.Call[getStatus, follow.Status]:
		m.Answer(o.f.Status(), nil)
	case wake:
		o.f.Wake(c)
	case func(*owner, actor.Context):
		m(o, c)
	case damaged:
		o.f.Damaged(c, m.err)
	default:
		if strings.HasPrefix(fmt.Sprintf("%T", m), "follow.") {
			panic("the follower has left a message of its own")
		}
		ask.Unhandled(c)
	}
}

// rig is a follower over a chain, in a bubble of time.
type rig struct {
	t      *testing.T
	sys    *actortest.System
	chain  *chaintest.Chain
	disk   *disk
	cfg    follow.Config
	ref    *ask.Ref
	starts int
}

const retryAfter = time.Minute

func newRig(t *testing.T, blocks int) *rig {
	t.Helper()
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	chain.MineN(blocks)
	d := &disk{}
	r := &rig{t: t, sys: actortest.New(t), chain: chain, disk: d, cfg: follow.Config{
		Name: "test", Target: d, Chain: new(chainview.Current), Tip: new(ask.Feed[messages.TipChanged]),
		Batch: 5, Retry: retryAfter,
	}}
	r.cfg.Chain.Set(chain)
	return r
}

// start starts the actor, and returns when it has nothing to do.
func (r *rig) start() {
	r.t.Helper()
	r.starts++
	r.ref = r.sys.Spawn(fmt.Sprintf("follower%d", r.starts), func() actor.Actor { return &owner{cfg: r.cfg} })
	synctest.Wait()
}

func (r *rig) stop() {
	r.t.Helper()
	if err := r.ref.Stop(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) publish() {
	tip := r.chain.Active().Tip()
	r.cfg.Tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
	synctest.Wait()
}

// mine makes blocks and announces the last.
func (r *rig) mine(n int) {
	r.chain.MineN(n)
	r.publish()
}

func (r *rig) status() follow.Status {
	r.t.Helper()
	status, err := ask.Ask(r.t.Context(), r.ref, getStatus{})
	if err != nil {
		r.t.Fatal(err)
	}
	return status
}

// wait asks to be told when the target is at the tip. The channel gets the answer.
func (r *rig) wait() <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := ask.Ask(context.WithoutCancel(r.t.Context()), r.ref, when{})
		answer <- err
	}()
	synctest.Wait()
	return answer
}

// got returns what came over a channel, and whether something did.
func got[T any](c <-chan T) (v T, ok bool) {
	select {
	case v = <-c:
		return v, true
	default:
		return v, false
	}
}
