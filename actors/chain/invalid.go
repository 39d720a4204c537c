package chain

import (
	"log/slog"
	"math/big"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// farAhead is from how many blocks on, by the work of the tip, a chain that is not valid is spoken of.
const farAhead = 6

// warnOfInvalid tells of a chain that is not valid and has far more work than the active one: this node or its
// peers have wrong rules, or its disk is damaged. No worker may be running.
func (s *Chain) warnOfInvalid() {
	if s.cfg.Warned == nil {
		return
	}
	words, said := &s.cfg.Network.Traffic.InvalidChain, ""
	tip := s.engine.Reader().Active().Tip()
	if bad := s.engine.Invalid(); bad != nil && isFarAhead(bad, tip) &&
		(words.Initially || s.cfg.Initial == nil || !s.cfg.Initial.Lasts(tip)) {
		said = words.Warning
	}
	if s.warned != nil && *s.warned == said {
		return
	}
	if said != "" {
		corelog.Printf(s.cfg.Log, slog.LevelWarn, "%s", words.Log)
	}
	s.warned = &said
	s.cfg.Warned.Publish(nodemsg.WarningChanged{Of: "invalid chain", Text: said})
}

func isFarAhead(b, tip *chainview.Block) bool {
	if b.CompareWork(tip) <= 0 {
		return false
	}
	adds := tip.Work()
	if tip.Parent != nil {
		adds.Sub(adds, tip.Parent.Work())
	}
	limit := adds.Mul(adds, big.NewInt(farAhead))
	return b.Work().Cmp(limit.Add(limit, tip.Work())) > 0
}
