package notify_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/eventstream"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/notify"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// rig is the actor over a chain in memory, with commands that end when they are let.
type rig struct {
	t       *testing.T
	chain   *chaintest.Chain
	view    chainview.Current
	tip     ask.Feed[messages.TipChanged]
	wallets ask.Feed[messages.WalletTxChanged]
	raised  ask.Feed[nodemsg.WarningRaised]
	pool    ask.Feed[messages.PoolChanged]
	broken  atomic.Bool // the next command panics
	hold    chan struct{}
	ref     *ask.Ref
	events  *eventstream.EventStream
	log     bytes.Buffer

	mu   sync.Mutex
	ran  []string
	left int // commands that were running when the actor stopped
}

func newRig(t *testing.T, change ...func(*notify.Config)) *rig {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	sys := actortest.New(t)
	r := &rig{t: t, chain: chaintest.New(net.Params), events: sys.Root.ActorSystem().EventStream}
	r.view.Set(r.chain)
	now := func() time.Time { return r.chain.Active().Tip().Time() }
	cfg := notify.Config{
		Orders: notify.Orders{
			Block: "block %s", Wallet: "tx %s %w %b %h", Alert: "alert %s", Run: r.run,
		},
		View: &r.view, Tip: &r.tip, Initial: chainview.NewInitialDownload(&r.view, "", 0, now, func() {}),
		Wallets: &r.wallets, Raised: &r.raised, Pool: &r.pool, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
	for _, c := range change {
		c(&cfg)
	}
	r.ref = sys.Spawn("notify", notify.New(cfg))
	synctest.Wait()
	return r
}

func (r *rig) run(ctx context.Context, command string) {
	if r.broken.Swap(false) {
		panic("broken")
	}
	r.mu.Lock()
	r.ran = append(r.ran, command)
	hold := r.hold
	r.mu.Unlock()
	if hold == nil {
		return
	}
	select {
	case <-hold:
	case <-ctx.Done():
		r.mu.Lock()
		r.left++
		r.mu.Unlock()
	}
}

// holdAll keeps the commands that begin from now on from ending.
func (r *rig) holdAll() chan struct{} {
	hold := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = hold
	return hold
}

// took returns what was run since the last time, sorted.
func (r *rig) took() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	ran := r.ran
	r.ran = nil
	slices.Sort(ran)
	return ran
}

// expect announces the tip and wants commands for blocks.
func (r *rig) expect(blocks ...*chainview.Block) {
	r.t.Helper()
	tip := r.chain.Active().Tip()
	r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
	var want []string
	for _, b := range blocks {
		want = append(want, "block "+b.Hash.String())
	}
	slices.Sort(want)
	if got := r.took(); !slices.Equal(got, want) {
		r.t.Errorf("commands for\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (r *rig) mine(n int) []*chainview.Block {
	from := r.chain.Active().Height()
	for range n {
		r.chain.Mine(chaintest.Template{})
	}
	var mined []*chainview.Block
	for height := from + 1; height <= r.chain.Active().Height(); height++ {
		mined = append(mined, r.chain.Active().At(height))
	}
	return mined
}

// Each block that becomes the best one has its command once, none of those that are
// there before, none in the initial download.
func TestBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.expect()
		r.expect(r.mine(1)...)
		r.expect()
		r.expect(r.mine(7)...)
		r.view.SetImporting(true)
		r.expect(r.mine(1)...) // the initial download is over for good
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.view.SetImporting(true)
		r.mine(3)
		r.expect()
		r.view.SetImporting(false)
		r.expect(r.mine(2)...)
	})
}

// After a reorganisation the command runs for the blocks of the new branch that have more work than
// the old tip. If the chain was taken back, it runs for the new tip.
func TestReorganisation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.expect(r.mine(5)...)
		fork := r.chain.Active().At(2)
		branch := []*chainview.Block{fork}
		grow := func() *chainview.Block {
			next := r.chain.MineOn(branch[len(branch)-1], chaintest.Template{})
			branch = append(branch, next)
			return next
		}
		for range 3 {
			grow()
		}
		r.expect() // as much work, but later
		r.expect(grow(), grow())
		r.expect()
		r.expect(grow())
		for _, b := range branch[5:] {
			r.chain.SetStatus(b, b.Status()|chainview.Failed)
		}
		r.chain.SetActive(branch[4])
		r.expect(branch[4])
	})
}

// A chain that was rebuilt, without the block that was the best one, is followed from where it is.
func TestChainRebuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.expect(r.mine(5)...)
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		r.chain = chaintest.New(net.Params)
		r.mine(2)
		r.view.Set(r.chain)
		r.expect()
		r.expect(r.mine(4)...)
		if stats := r.ref.Stats(); stats.Restarts > 0 {
			t.Errorf("it panicked %d times", stats.Restarts)
		}
	})
}

// Text from other programs cannot become a command.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, block := chainhash.Hash{1}, messages.Tip{Hash: chainhash.Hash{2}, Height: 7}
		r.wallets.Publish(messages.WalletTxChanged{Wallet: "it's; $(x) %s\x00", TxID: id})
		r.wallets.Publish(messages.WalletTxChanged{TxID: id, Block: &block})
		r.wallets.Publish(messages.WalletTxChanged{TxID: chainhash.Hash{3}, Quiet: true})
		r.raised.Publish(nodemsg.WarningRaised{Text: "Unknown rules; $(rm -rf '/')\n`x` (bit 27)"})
		want := []string{
			`alert 'Unknown rules; (rm -rf /)x (bit 27)'`,
			fmt.Sprintf("tx %s '' %s 7", id, block.Hash),
			fmt.Sprintf(`tx %s 'it'"'"'s; $(x) %%s' unconfirmed -1`, id),
		}
		if got := r.took(); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// Of the text of a warning a command gets letters, digits and what means nothing to a shell between quotes.
func TestCharactersOfWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var all []byte
		for c := range 256 {
			all = append(all, byte(c))
		}
		r.raised.Publish(nodemsg.WarningRaised{Text: string(all) + "äöü"})
		const want = "alert ' (),-./0123456789:;?@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'"
		if got := r.took(); len(got) != 1 || got[0] != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// 16 commands run at a time and 10,000 wait, in order; further commands are dropped, which is logged
// once a minute.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		hold := r.holdAll()
		text := func(i int) string { return fmt.Sprintf("%05d", i) }
		for i := range 10_116 {
			r.raised.Publish(nodemsg.WarningRaised{Text: text(i)})
		}
		if got := r.took(); len(got) != 16 {
			t.Errorf("%d run at a time", len(got))
		}
		time.Sleep(time.Minute)
		r.raised.Publish(nodemsg.WarningRaised{Text: "late"})
		synctest.Wait()
		if lines := strings.Split(strings.TrimSpace(r.log.String()), "\n"); len(lines) != 2 ||
			!strings.HasSuffix(lines[0], "commands=1") || !strings.HasSuffix(lines[1], "commands=100") {
			t.Errorf("logged %q", lines)
		}
		close(hold)
		got := r.took()
		if len(got) != 10_000 || got[0] != "alert '00016'" || got[9_999] != "alert '10015'" {
			t.Errorf("%d ran, from %s", len(got), got[0])
		}
	})
}

// A stop ends soon, whatever runs, and nothing that waits begins.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.holdAll()
		for range 20 {
			r.raised.Publish(nodemsg.WarningRaised{Text: "x"})
		}
		synctest.Wait()
		begun := time.Now()
		if err := r.ref.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("stopped after %v", took)
		}
		if got := r.took(); len(got) != 16 || r.left != 16 {
			t.Errorf("%d ran, %d were left", len(got), r.left)
		}
		if !strings.Contains(r.log.String(), "commands=4") {
			t.Errorf("logged %s", r.log.String())
		}
	})
}

// An actor that has stopped is sent nothing more.
func TestStopEndsSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := publishing(t, true)
		if err := r.ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		sub := r.events.Subscribe(func(e any) {
			if lost, ok := e.(*actor.DeadLetterEvent); ok {
				t.Errorf("it was sent %T", lost.Message)
			}
		})
		defer r.events.Unsubscribe(sub)
		r.tip.Publish(messages.TipChanged{})
		r.wallets.Publish(messages.WalletTxChanged{})
		r.raised.Publish(nodemsg.WarningRaised{})
		r.pool.Publish(messages.PoolChanged{})
		synctest.Wait()
	})
}

// A stop waits for the event that is being published.
func TestPublishUntilStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, b := publishing(t, true)
		b.hold = make(chan struct{})
		first, second := payment(1), payment(2)
		r.pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{first}})
		r.pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{second}})
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- r.ref.Stop(t.Context()) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("it has stopped while an event was published")
		default:
		}
		close(b.hold)
		b.want(t, "the first alone", r.txWords(first.Tx), []string{"sequence " + first.ID.String() + "A1"})
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// After a panic later events run their commands.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.broken.Store(true)
		r.mine(1)
		r.expect()
		r.expect(r.mine(2)...)
	})
}
