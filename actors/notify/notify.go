// Package notify is the actor that notifies other programs of events. It runs commands
// when the best block or a transaction of a wallet changes, and when there is a
// warning. It publishes blocks and transactions to subscribers.
//
// The block command runs for each new best block: for each block on the way to a new tip that
// has more work than the tip before. It does not run during the initial download. Events between
// a panic of the actor and its restart are lost.
//
// Up to maxRunning commands run at a time; the rest wait in order, as far as there is room. When
// the actor stops, running commands get some time to end, and are then left alone.
package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

const (
	// maxRunning is how many commands run at a time.
	maxRunning = 16

	// maxWaiting is how many commands wait for their turn.
	maxWaiting = 10_000

	// logDroppedEvery is how often commands there was no room for are logged.
	logDroppedEvery = time.Minute
)

// Orders are the commands to run for events, and where to publish messages. At most 16 commands
// run at a time, and up to 10,000 more wait for their turn. An empty command is none.
type Orders struct {
	// Block is run when the best block changes, but not during the initial
	// download; %s is replaced by its hash.
	Block string

	// Wallet is run when a transaction of a wallet changes. In it, %s is replaced
	// by the transaction's id, and %w by the name of the wallet between single
	// quotes. The hash of its block, or "unconfirmed", replaces %b; the height of
	// that block, or -1, replaces %h.
	Wallet string

	// Alert is run when there is a new warning; %s is replaced by its text, cut
	// down to harmless characters, between single quotes.
	Alert string

	// Run runs a command. It returns when the command has ended, or a few seconds
	// after ctx has, which ends when the node stops. It is called by several
	// goroutines at a time.
	Run func(ctx context.Context, command string)

	// Publisher is handed blocks, transactions and their hashes as Bitcoin Core publishes
	// them by ZeroMQ, and closed by nobody. Nil: nothing is published.
	Publisher Publisher
}

// Config is what the actor is made of.
type Config struct {
	Orders

	Pool      *ask.Feed[messages.PoolChanged]
	PoolTells bool // Pool has the blocks too, else the chain is looked at

	View    *chainview.Current
	Tip     *ask.Feed[messages.TipChanged]
	Initial *chainview.InitialDownload
	Wallets *ask.Feed[messages.WalletTxChanged]
	Raised  *ask.Feed[nodemsg.WarningRaised]
	Log     *slog.Logger
}

// Notify is the actor; make one with [New].
type Notify struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the commands when the actor stops
	cancel context.CancelFunc

	best    *chainview.Block // last block that was announced or skipped; nil: the chain is not open yet
	running ask.Tasks
	waiting []string
	dropped int       // since the last line of the log
	logged  time.Time // when that was
	queue   *queue    // nil: nothing is published
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	begun := false
	return func() actor.Actor {
		n := &Notify{cfg: cfg}
		n.ctx, n.cancel = context.WithCancel(context.Background())
		if cfg.Publisher != nil {
			n.queue = &queue{stream: &stream{to: cfg.Publisher, view: cfg.View, initial: cfg.Initial, log: cfg.Log}}
			if begun {
				n.queue.stream.gap()
			}
		}
		begun = true
		return n
	}
}

// Receive implements actor.Actor.
func (n *Notify) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		n.cfg.Tip.SubscribeLatest(c)
		n.cfg.Wallets.Subscribe(c)
		n.cfg.Raised.Subscribe(c)
		n.best = n.tip()
		if n.queue != nil {
			n.cfg.Pool.Subscribe(c)
			n.queue.end = n.best
		}
	case *actor.Stopping, *actor.Restarting:
		n.stop(c)
	case messages.TipChanged:
		n.blocks(c)
		if n.queue != nil && !n.cfg.PoolTells {
			n.queue.follow(n.ctx, c)
		}
	case messages.PoolChanged:
		n.queue.add(n.ctx, c, m)
	case messages.WalletTxChanged:
		if !m.Quiet {
			n.start(c, n.cfg.Wallet, func() string { return walletCommand(n.cfg.Wallet, m) })
		}
	case nodemsg.WarningRaised:
		n.start(c, n.cfg.Alert, func() string { return alertCommand(n.cfg.Alert, m.Text) })
	default:
		ask.Unhandled(c)
	}
}

func (n *Notify) stop(c actor.Context) {
	n.cfg.Tip.Unsubscribe(c)
	n.cfg.Wallets.Unsubscribe(c)
	n.cfg.Raised.Unsubscribe(c)
	if n.queue != nil {
		n.cfg.Pool.Unsubscribe(c)
		n.queue.worker.Drop()
	}
	if len(n.waiting) > 0 {
		n.cfg.Log.Warn("notify commands that waited are not run", "commands", len(n.waiting))
	}
	n.cancel()
	n.running.Drop()
}

// tip is the end of the active chain, nil before it is open.
func (n *Notify) tip() *chainview.Block {
	if reader := n.cfg.View.Open(); reader != nil {
		return reader.Active().Tip()
	}
	return nil
}

// blocks runs the command for the blocks that have become best since the last call.
func (n *Notify) blocks(c actor.Context) {
	reader := n.cfg.View.Open()
	if reader == nil {
		return
	}
	active, before := reader.Active(), n.best
	n.best = active.Tip()
	if before == nil || n.cfg.Initial.Lasts(n.best) {
		return
	}
	if reader.Lookup(&before.Hash) == nil { // the chain was rebuilt
		return
	}
	fork := active.ForkHeight(before)
	if fork == n.best.Height && fork < before.Height { // blocks were taken back
		n.block(c, n.best)
	}
	for height := fork + 1; height <= n.best.Height; height++ {
		if b := active.At(height); b.CompareWork(before) > 0 || height == n.best.Height {
			n.block(c, b)
		}
	}
}

func (n *Notify) block(c actor.Context, b *chainview.Block) {
	n.start(c, n.cfg.Block, func() string { return blockCommand(n.cfg.Block, b.Hash) })
}

// start runs a command, now or when it is its turn. Nothing is done without one.
func (n *Notify) start(c actor.Context, configured string, command func() string) {
	switch {
	case configured == "":
	case len(n.waiting) >= maxWaiting:
		n.drop()
	default:
		n.waiting = append(n.waiting, command())
		n.next(c)
	}
}

// drop counts a command that there is no room for.
func (n *Notify) drop() {
	n.dropped++
	if now := time.Now(); now.Sub(n.logged) >= logDroppedEvery {
		n.cfg.Log.Warn("notify commands are not run: too many wait", "commands", n.dropped)
		n.dropped, n.logged = 0, now
	}
}

// next runs commands that wait.
func (n *Notify) next(c actor.Context) {
	for len(n.waiting) > 0 && n.running.Len() < maxRunning {
		command := n.waiting[0]
		n.waiting = n.waiting[1:]
		n.running.Go(c, func() func() {
			n.cfg.Run(n.ctx, command)
			return func() { n.next(c) }
		})
	}
}
