package nodemsg

import (
	"time"

	"github.com/seed61375155/trawl/messages"
)

// SetPruneLock keeps blocks from being pruned that somebody has yet to read: those
// from Height on and the eleven before. A reorganisation moves the lock back to
// where the branches part.
type SetPruneLock struct {
	messages.Asks[messages.Done]

	Name   string // whose lock it is; it replaces the one of that name
	Height int32
}

// StartPruning lets blocks be deleted by themselves, where the node is told to. Until
// then locks may be set.
type StartPruning struct{ messages.Asks[messages.Done] }

// AuxBlocks says how long blocks are kept that are mined together with those of another chain.
type AuxBlocks struct {
	Expiry time.Duration // after which one is too old; 0: never
	Limit  int64         // most of them; 0: no limit
}
