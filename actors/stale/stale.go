// Package stale is the actor that owns the numbers about stale blocks: blocks that left the active chain for
// a better branch, or came too late to join.
//
// It serves [nodemsg.GetStaleStats]. The numbers begin with the program. They outlive the actor: an
// instance that follows another goes on from the block that was looked at last, and so does the actor when
// the chain is opened again.
package stale

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	View    *chainview.Current
	Initial *chainview.InitialDownload
	Moved   *ask.Feed[chainview.TipMoved]
	Seen    *ask.Feed[nodemsg.StaleBlock] // blocks that are not kept
	Now     func() time.Time
	Log     *slog.Logger
}

var table = ask.TableOf(ask.AtOnce((*Stale).stats))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Stale is the actor; make one with [New].
type Stale struct {
	cfg *Config
	*state

	behind bool // the instance before this one may have failed over the last event
}

// A state is handed on from instance to instance.
type state struct {
	record *Record
	at     chainhash.Hash // tip up to which blocks are counted; zero: the chain was not open yet
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	s := &state{record: NewRecord()}
	return func() actor.Actor { return &Stale{cfg: &cfg, state: s} }
}

// Receive implements actor.Actor.
func (s *Stale) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		s.cfg.Moved.Subscribe(c)
		s.cfg.Seen.Subscribe(c)
		s.begin()
	case *actor.Restarting: // the next instance takes the events that are in the mailbox
	case *actor.Stopping:
		s.cfg.Moved.Unsubscribe(c)
		s.cfg.Seen.Unsubscribe(c)
	case chainview.TipMoved:
		s.moved(&m)
	case nodemsg.StaleBlock:
		s.note(&m.Hash, m.Height)
	default:
		table.Serve(s, c)
	}
}

// begin starts counting at the current tip, or goes on from the tip that the last instance saw last.
func (s *Stale) begin() {
	s.behind = s.at != chainhash.Hash{}
	if reader := s.cfg.View.Open(); reader != nil && !s.behind {
		s.at = reader.Active().Tip().Hash
	}
}

// stats takes over the last steps of the tip first, where the instance before this one failed over them. News
// that are in the mailbox say more, and come first.
func (s *Stale) stats(q nodemsg.GetStaleStats) (messages.StaleStats, error) {
	if reader := s.cfg.View.Open(); reader != nil && s.behind {
		tip := reader.Active().Tip()
		s.reach(reader, chainview.TipStep{To: tip, Initial: s.cfg.Initial.Lasts(tip)})
		s.behind = false
	}
	return s.record.Stats(q.Window), nil
}

// moved counts the steps of the tip.
func (s *Stale) moved(m *chainview.TipMoved) {
	reader := s.cfg.View.Open()
	if reader == nil {
		return // the chain will be opened, and its tip announced
	}
	s.behind = false
	from := m.From
	if missed := reader.Lookup(&from); missed != nil && from != s.at {
		s.reach(reader, chainview.TipStep{To: missed, Initial: m.Steps[0].Initial})
	}
	for _, step := range m.Steps {
		if from == s.at {
			s.follow(step)
		} else {
			s.reach(reader, step)
		}
		from = step.To.Hash
	}
}

// follow counts a step from the tip that was seen last.
func (s *Stale) follow(step chainview.TipStep) {
	isForward := step.To.Parent != nil && step.To.Parent.Hash == s.at
	s.at = step.To.Hash
	if step.Initial {
		return
	}
	if isForward {
		s.record.Connected()
	}
	if left := step.Left; left != nil {
		s.leave(left, step.To.ForkHeight(left))
	}
}

// reach counts the blocks between the last seen tip and a tip that is not the next: events were lost, or the
// chain was opened again. A reopened chain may be behind, and then repeats steps that were counted before.
func (s *Stale) reach(reader chainview.Reader, step chainview.TipStep) {
	to, last := step.To, reader.Lookup(&s.at)
	if last == nil || step.Initial {
		s.at = to.Hash
		return
	}
	fork := last.ForkHeight(to)
	isLeft := fork < last.Height && !last.Status().Invalid()
	if isLeft && to.CompareWork(last) < 0 {
		return // on its way to the last seen tip
	}
	s.at = to.Hash
	for range to.Height - fork {
		s.record.Connected()
	}
	if isLeft {
		s.leave(last, fork)
	}
}

// leave counts a branch that the chain has left for a better one.
func (s *Stale) leave(tip *chainview.Block, fork int32) {
	corelog.Printf(s.cfg.Log, slog.LevelInfo, "Chain reorganization: depth=%d", tip.Height-fork)
	s.record.Reorganized(tip.Height - fork)
	for height := fork + 1; height <= tip.Height; height++ {
		s.note(&tip.Ancestor(height).Hash, height)
	}
}

// note counts a stale block.
func (s *Stale) note(hash *chainhash.Hash, height int32) {
	v, isNew := s.record.Stale(hash, height, s.cfg.Now().Unix())
	if !isNew {
		return
	}
	rate := float64(v.Stale) / float64(v.Events)
	if v.Raised {
		corelog.Printf(s.cfg.Log, slog.LevelWarn,
			"Stale block rate alert: rate=%s stale=%d total=%d window=%d threshold=%s",
			fmt.Sprintf("%.4f", rate), v.Stale, v.Events, AlarmWindow, fmt.Sprintf("%.2f", AlarmRate))
	}
	corelog.Printf(s.cfg.Log, slog.LevelInfo,
		"Stale block detected: height=%d hash=%v (orphan rate: %.1f%% over last %d blocks)",
		height, hash, 100*rate, v.Events)
}
