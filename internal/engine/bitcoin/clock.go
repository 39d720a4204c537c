package bitcoin

import (
	"time"

	"github.com/btcsuite/btcd/blockchain"

	"github.com/seed61375155/trawl/internal/clock"
)

// timeSource judges block times by the node's clock. It implements
// blockchain.MedianTimeSource without its median: as in Core, peers have no say
// in the time.
type timeSource struct{ *clock.Clock }

var _ blockchain.MedianTimeSource = timeSource{}

// AdjustedTime implements blockchain.MedianTimeSource, to the second.
func (t timeSource) AdjustedTime() time.Time { return time.Unix(t.Now().Unix(), 0) }

// AddTimeSample implements blockchain.MedianTimeSource.
func (timeSource) AddTimeSample(string, time.Time) {}

// Offset implements blockchain.MedianTimeSource.
func (timeSource) Offset() time.Duration { return 0 }
