package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"math"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/messages"
)

// maxFuture is how far the last block may be ahead of the clock, where its chain has no other rule.
const maxFuture = 2 * time.Hour

// A tip is what getblockchaininfo tells of the last block.
type tip struct {
	Blocks int32 `json:"blocks"`
	Time   int64 `json:"time"`

	Rule *struct {
		Limit int64 `json:"tip_limit_seconds"` // of the last block
	} `json:"future_block_time"` // nil: there is none
}

// limit is how far the block may be ahead of the clock.
func (t *tip) limit() time.Duration {
	if t.Rule != nil {
		return time.Duration(t.Rule.Limit) * time.Second
	}
	return maxFuture
}

// checkTime refuses to go on where the last block is from the future: then the clock is wrong,
// or something else is.
func (d *daemon) checkTime(ctx context.Context) error {
	reply, err := d.node.Call(ctx, "getblockchaininfo", nil)
	if err != nil {
		return err
	}
	var tip tip
	if err := json.Unmarshal(reply, &tip); err != nil {
		return err
	}
	now := time.Now()
	if mocked := mockTime(d.settings); !mocked.IsZero() {
		now = mocked
	}
	if tip.Blocks > 0 && time.Unix(tip.Time, 0).After(now.Add(tip.limit())) {
		return errFuture
	}
	return nil
}

// startChecks reads -checkblocks and -checklevel. If either is set, the node makes the checks in
// full or does not start.
func startChecks(o *options.Settings) *messages.StartChecks {
	return &messages.StartChecks{
		Level:  int(o.Int("checklevel", defaultCheckLevel)),
		Blocks: int32(max(0, min(o.Int("checkblocks", defaultCheckBlocks), math.MaxInt32))),
		Full:   o.IsSet("checkblocks") || o.IsSet("checklevel"),
	}
}

// Defaults of -checklevel and -checkblocks.
const (
	defaultCheckLevel  = 3
	defaultCheckBlocks = 6
)

const errFuture = messages.StartError("The block database contains a block which appears to be from the future. " +
	"This may be due to your computer's date and time being set incorrectly. Only rebuild the block database if you " +
	"are sure that your computer's date and time are correct." + reindexAdvice)

func (d *daemon) stopAfterImport(ctx context.Context) {
	if _, err := trawl.Ask(ctx, d.node.Chain(), messages.WaitImported{}); err == nil {
		d.log.Info("Stopping after block import")
		d.stop()
	}
}

// stopAtHeight obeys -stopatheight. The request that has brought the chain there is answered
// first, unless it goes on for long.
func (d *daemon) stopAtHeight(ctx context.Context, height int32) {
	if _, err := trawl.Ask(ctx, d.node.Chain(), messages.WaitTip{Height: &height}); err == nil {
		behind, cancel := context.WithTimeout(ctx, time.Second)
		_, _ = trawl.Ask(behind, d.node.Chain(), messages.GetCoins{}) // in its turn
		cancel()
		d.log.Info("Stopping at the height of -stopatheight", "height", height)
		d.stop()
	}
}

// logMagic logs what messages of a signet begin with, which depends on its challenge.
func (s *session) logMagic(cfg trawl.Config) {
	if s.settings.Chain() != options.Signet {
		return
	}
	challenge := cfg.SignetChallenge
	if challenge == nil {
		challenge = chaincfg.DefaultSignetChallenge
	}
	magic := binary.LittleEndian.AppendUint32(nil, uint32(chaincfg.CustomSignetParams(challenge, nil).Net))
	corelog.Printf(s.log, slog.LevelInfo, "Signet derived magic (message start): %x", magic)
}

// mockTime reads -mocktime; the zero time stands for the real one.
func mockTime(o *options.Settings) time.Time {
	if sec := o.Int("mocktime", 0); sec != 0 {
		return time.Unix(sec, 0)
	}
	return time.Time{}
}
