package chainview

import (
	"math/big"
	"sync/atomic"
	"time"
)

// defaultMaxTipAge is Core's DEFAULT_MAX_TIP_AGE.
const defaultMaxTipAge = 24 * time.Hour

// InitialDownload tells whether a node is still on its first way to the network's
// tip. That way ends once the tip has the least work and is recent, with no block
// file left to read. Call Lasts with each new tip, so that the end is noticed
// while the tip is recent.
type InitialDownload struct {
	chain     *Current
	leastWork *big.Int
	maxAge    int64 // of the tip, in seconds
	now       func() time.Time
	ended     func()
	over      atomic.Bool
}

// NewInitialDownload returns the InitialDownload of a chain. leastWork is a number in
// hex; maxAge is how old a tip may be, 24 hours where it is 0. ended is called once.
func NewInitialDownload(
	chain *Current, leastWork string, maxAge time.Duration, now func() time.Time, ended func(),
) *InitialDownload {
	if maxAge == 0 {
		maxAge = defaultMaxTipAge
	}
	work, _ := new(big.Int).SetString("0"+leastWork, 16)
	return &InitialDownload{
		chain: chain, leastWork: work, maxAge: int64(maxAge / time.Second), now: now, ended: ended,
	}
}

// Lasts reports whether the initial download lasts with such a tip. Once over, it
// never begins again.
func (d *InitialDownload) Lasts(tip *Block) bool {
	if d.over.Load() {
		return false
	}
	if d.chain.Importing() || tip.Work().Cmp(d.leastWork) < 0 || tip.Time().Unix() < d.now().Unix()-d.maxAge {
		return true
	}
	if d.over.CompareAndSwap(false, true) {
		d.ended()
	}
	return false
}
