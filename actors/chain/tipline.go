package chain

import (
	"fmt"
	"log/slog"
	"math"
	"math/big"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine"
)

// tellTip writes Core's line about a new tip, for programs that look for it. No worker
// may be running.
func (s *Chain) tellTip(reader chainview.Reader, totals engine.Totals) {
	active := reader.Active()
	tip := active.Tip()
	work, _ := new(big.Float).SetInt(tip.Work()).Float64()
	corelog.Printf(s.cfg.Log, slog.LevelInfo,
		"UpdateTip: new best=%s height=%d version=0x%08x log2_work=%f%s date='%s'%s",
		tip.Hash, tip.Height, uint32(tip.Version()), math.Log2(work), countText(totals),
		tip.Time().UTC().Format("2006-01-02T15:04:05Z"), s.progressText(reader, active, totals))
}

func countText(t engine.Totals) string {
	if t.Txs == 0 {
		return "" // it is not counted
	}
	return fmt.Sprintf(" tx=%d", t.Txs)
}

// progressText says how far the validation is, and what waits in memory.
func (s *Chain) progressText(reader chainview.Reader, active *chainview.Chain, t engine.Totals) string {
	if t.Txs == 0 {
		return ""
	}
	tip := active.Tip()
	ahead := func() int32 { return chainview.BestHeader(reader, active).Height - tip.Height }
	return fmt.Sprintf(" progress=%f cache=%.1fMiB(%dtxo)",
		s.cfg.Network.Progress(int64(t.Txs), tip.Time(), s.cfg.Now(), ahead), float64(t.CachedBytes)/(1<<20),
		t.CachedCoins)
}
