package chain

import (
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine"
)

// logMoves writes Core's line about each step of the tip, because programs look for these lines.
// No worker may be running.
func (s *Chain) logMoves() {
	reader := s.engine.Reader()
	active := reader.Active()
	moves := s.engine.Moves()
	if tip := active.Tip(); len(moves) == 0 && tip.Hash != s.tip.Hash { // it was opened, or another node's is followed
		moves = []engine.Move{{Tip: tip, Totals: s.engine.Totals()}}
	}
	s.publishMoves(moves)
	for i := range moves {
		s.logMove(reader, active, &moves[i])
	}
	if len(moves) > 0 {
		s.logProgress(reader, active, &moves[len(moves)-1])
	}
}

// publishMoves notifies listeners of the steps of the tip.
func (s *Chain) publishMoves(moves []engine.Move) {
	if s.cfg.Initial == nil || !s.cfg.Network.CountsStale || len(moves) == 0 {
		return
	}
	moved := chainview.TipMoved{From: s.tip.Hash}
	for _, m := range moves {
		step := chainview.TipStep{To: m.Tip, Left: m.Left, Initial: s.cfg.Initial.Lasts(m.Tip)}
		if n := len(moved.Steps); n > 0 && step.Initial && moved.Steps[n-1].Initial {
			moved.Steps = moved.Steps[:n-1] // a sync has very many
		}
		moved.Steps = append(moved.Steps, step)
	}
	s.cfg.Moved.Publish(moved)
}

// logProgress logs every 30 seconds how far the chain is behind the best header, if it is. An
// import logs its own progress.
func (s *Chain) logProgress(reader chainview.Reader, active *chainview.Chain, to *engine.Move) {
	now := time.Now()
	if !s.progress.Due(now) || s.status.Running {
		return
	}
	height, best := to.Tip.Height, chainview.BestHeader(reader, active).Height
	if height >= best {
		s.progress = corelog.Progress{}
		return
	}
	share := float64(height) / float64(best)
	if to.Totals.Txs > 0 { // recent blocks have more transactions
		ahead := func() int32 { return best - height }
		share = s.cfg.Network.Progress(int64(to.Totals.Txs), to.Tip.Time(), s.cfg.Now(), ahead)
	}
	if words := s.progress.Words(now, int64(height), share, "blocks"); words != "" {
		s.printf("Synchronizing blocks: height %d of %d, %s", height, best, words)
	}
}

func (s *Chain) logMove(reader chainview.Reader, active *chainview.Chain, to *engine.Move) {
	tip := to.Tip
	work, _ := new(big.Float).SetInt(tip.Work()).Float64()
	corelog.Unlimited(s.cfg.Log, slog.LevelInfo,
		"UpdateTip: new best=%s height=%d version=0x%08x log2_work=%f%s date='%s'%s",
		tip.Hash, tip.Height, uint32(tip.Version()), math.Log2(work), countText(to.Totals),
		tip.Time().UTC().Format("2006-01-02T15:04:05Z"), s.progressText(reader, active, to))
}

func countText(t engine.Totals) string {
	if t.Txs == 0 {
		return "" // it is not counted
	}
	return fmt.Sprintf(" tx=%d", t.Txs)
}

// progressText says how far the validation is, and what waits in memory.
func (s *Chain) progressText(reader chainview.Reader, active *chainview.Chain, to *engine.Move) string {
	tip, t := to.Tip, to.Totals
	if t.Txs == 0 {
		return ""
	}
	ahead := func() int32 { return chainview.BestHeader(reader, active).Height - tip.Height }
	return fmt.Sprintf(" progress=%f cache=%.1fMiB(%dtxo)",
		s.cfg.Network.Progress(int64(t.Txs), tip.Time(), s.cfg.Now(), ahead), float64(t.CachedBytes)/(1<<20),
		t.CachedCoins)
}
