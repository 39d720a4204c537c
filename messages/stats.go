package messages

import "time"

// NodeStats are numbers about a node at one moment. A part that is nil or missing does not run,
// or could not answer in time: then Late names it.
type NodeStats struct {
	Actors   []PartStats // of the parts; those of all wallets, and of all peers, are one each
	Chain    *ChainStats
	Warnings *int // that the operator should look at
	Indexes  []IndexStats
	Matching *MatchStats
	Scan     *ScanStatus
	Searches *SearchStats
	Peers    *NetworkState
	Pool     *PoolInfo
	Copied   *CopiedPool // of an attached node, beside Pool
	Wallets  *WalletStats
	Attached *AttachState
	Stale    *StaleStats  // of chains of which stale blocks are counted
	Stores   []StoreStats // as of some time in the last minutes
	Late     []LatePart   // all parts that were asked
}

// A LatePart says whether a part did not answer in time, or answered with an error.
type LatePart struct {
	Part string
	Late bool
}

// PartStats are the numbers of the actor of a part.
type PartStats struct {
	Part string
	ActorStats
}

// ActorStats are numbers about an actor, or about several together. Counters count from the
// start of the program on.
type ActorStats struct {
	Actors   int           // that there are
	Messages uint64        // handled
	Restarts uint64        // after a panic
	Busy     time.Duration // spent on messages
	Queue    int           // messages in the mailbox
	Calls    int           // requests whose callers have a place, and wait for the answer
	Waiting  int           // callers that wait for a place
	Current  time.Duration // how long the present message takes; of several actors the longest
}

// ChainStats are numbers about the chain.
type ChainStats struct {
	Height, Headers int32 // of the tip, and of the best known header
	TipTime         time.Time
	Initial         bool // the initial download lasts
	Branches        int  // tips of all branches, that of the active chain included
}

// IndexStats are numbers about an index of blocks.
type IndexStats struct {
	Name string // of its part
	IndexStatus
}

// MatchStats are numbers about the matching of filters, for scans, searches and rescans, since
// the start of the program.
type MatchStats struct {
	Running int    // passes over filters
	Passes  uint64 // that were begun
	Filters uint64 // matched, or passed over by range filters or because their block was looked into
	Damaged uint64 // filters that turned out to be damaged
}

// SearchStats are numbers about all searches together.
type SearchStats struct {
	States  map[SearchState]int // how many are in each; all states are there
	Scripts int
	Entries uint64
	Rate    float64 // blocks a second, of those that run
}

// WalletStats are numbers about the wallets.
type WalletStats struct{ Loaded, Loading int }

// StoreStats are numbers about a folder of the node.
type StoreStats struct {
	Name  string // "blocks", "chainstate", …
	Bytes int64
}

// StaleStats are numbers about blocks that are not in the active chain any more, or never were, since the
// start of the program. The initial download does not count.
type StaleStats struct {
	Window      int    // the latest events that were asked for; an event is a block that is connected or stale
	Events      int    // that there are in the window
	StaleEvents int    // that are stale blocks
	Connected   uint64 // blocks
	Stale       uint64 // blocks
	Reorgs      uint64 // reorganisations
	DeepestFork int32  // most blocks that a reorganisation has taken back
	LastHeight  int32  // of the last stale block; -1: there was none
	LastTime    int64  // when it was noticed, in seconds since 1970; 0: there was none
	Alarm       bool   // more than a tenth of the latest 1000 events are stale blocks
}

// Rate returns the share of stale blocks among the events of the window.
func (s *StaleStats) Rate() float64 {
	if s.Events == 0 {
		return 0
	}
	return float64(s.StaleEvents) / float64(s.Events)
}
