package messages

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

var (
	// ErrSearchNotFound reports an id that no search has.
	ErrSearchNotFound = refusal("Search not found")

	// ErrSearchEnded reports a search that looks at nothing any more, as it was aborted or has failed.
	ErrSearchEnded = refusal("The search was aborted or has failed")

	// ErrBadCursor reports a cursor that is not one of the search.
	ErrBadCursor = refusal("Invalid cursor")

	// ErrSearchStore reports that the store of searches cannot be read or written now: the disk is full or damaged.
	// All acknowledged changes are there.
	ErrSearchStore = refusal("the store of searches cannot be read or written")

	// ErrNoPool reports a search for unconfirmed transactions in a node that has none.
	ErrNoPool = refusal("There is no memory pool")
)

// SearchExistsError reports a name that another search has.
type SearchExistsError struct{ Name string }

// Error implements error.
func (e *SearchExistsError) Error() string { return "Search '" + e.Name + "' exists and differs" }

// AboutRequest implements [Refusal].
func (*SearchExistsError) AboutRequest() {}

// SharedScriptsError reports a descriptor with a gap that has scripts of another descriptor.
type SharedScriptsError struct{ Desc string } // as it is shown

// Error implements error.
func (e *SharedScriptsError) Error() string {
	return "A scan object with a gap has scripts of another scan object: " + e.Desc
}

// AboutRequest implements [Refusal].
func (*SharedScriptsError) AboutRequest() {}

// SearchLimitError reports that a limit of searches is reached.
type SearchLimitError struct{ Option string } // its name, like "-maxsearches"

// Error implements error.
func (e *SearchLimitError) Error() string { return "Limit of " + e.Option + " is reached" }

// AboutRequest implements [Refusal].
func (*SearchLimitError) AboutRequest() {}

// A SearchState says what a search does.
type SearchState string

// The states of a search.
const (
	SearchQueued    SearchState = "queued"    // waits for its first turn
	SearchRunning   SearchState = "running"   // has blocks to look at
	SearchFollowing SearchState = "following" // has looked at all blocks, and waits for new ones
	SearchPaused    SearchState = "paused"    // until it is resumed, or by itself until it can go on: Error says why
	SearchDone      SearchState = "done"
	SearchAborted   SearchState = "aborted"
	SearchFailed    SearchState = "failed" // Error says why
)

// Ended reports whether a search in that state looks at no more blocks, unless it is extended.
func (s SearchState) Ended() bool {
	return s == SearchDone || s == SearchAborted || s == SearchFailed
}

// A SearchScript is one of the scripts that a search looks for.
type SearchScript struct {
	Script []byte
	Object int   // which of the scan objects it is of
	Index  int32 // at which it was derived; -1: of an object without a range
}

// SearchObjects are scan objects of a search.
type SearchObjects struct {
	Texts   []string       // their descriptors as they are shown, without private keys
	Scripts []SearchScript // of two with the same script the first counts

	// Gaps has the gap of each descriptor of Texts; 0: none, nil: none has any. With a gap the range is widened until
	// so many unused indices follow the highest used index. The text must give the descriptor's scripts at each index,
	// and no other descriptor may have them.
	Gaps []int32
}

// CreateSearch makes a search, which is kept until it is removed. Creating an identical search
// of the same name returns the existing search, so that callers may retry.
//
// Errors: [*SearchExistsError], [*SearchLimitError], [*SharedScriptsError], [ErrNoPool], [ErrBlockNotFound] for
// heights outside of the active chain.
type CreateSearch struct {
	Asks[SearchCreated]

	Name       string // empty: the id
	Owner      string // the login that asks, to count its searches; may be empty
	Objects    SearchObjects
	Start      int32 // first height
	Stop       int32 // last height, -1: the tip of this moment; without Follow
	Follow     bool  // go on with new blocks
	BlocksOnly bool  // no entries but the blocks that have some
	Mempool    bool  // tell of unconfirmed transactions as well
}

// SearchCreated is the answer to [CreateSearch].
type SearchCreated struct {
	ID, Name string
	Created  bool // false: it was there
}

// SearchStatus is what is known of a search.
type SearchStatus struct {
	ID, Name    string
	State       SearchState
	Error       string // why it failed or pauses by itself; else empty
	Start, Stop int32  // heights, both included; Stop is -1 where it follows
	Follow      bool
	BlocksOnly  bool
	Mempool     bool
	Scripts     int            // different ones
	Height      int32          // up to which all blocks were looked at; Start-1 at first
	Block       chainhash.Hash // of that height; all zero below the genesis block
	Progress    float64        // percent
	Found       uint64         // entries
	Blocks      uint64         // that have entries
	Created     time.Time
	Updated     time.Time
	Rate        float64       // blocks a second, while it runs
	Left        time.Duration // until it is done at that rate; 0: not known
	Cursor      string        // behind the last entry

	// Descriptors are those with a range, each once, up to 10,000: of [GetSearch] and [ExtendSearch]. DescriptorsMore
	// says that there are more.
	Descriptors     []SearchDescriptor
	DescriptorsMore bool
}

// A SearchDescriptor is a descriptor with a range that a search looks for.
type SearchDescriptor struct {
	Desc        string // as it is shown
	First, Last int32  // the indices that are looked for, both included
	HighestUsed int32  // at which something was found, blocks that have left the chain included; -1: none

	// Known is false where what an earlier version has found does not tell which indices are used.
	Known bool

	// Gap is how many unused indices are to follow the highest used one, see [SearchObjects]; 0: as many as there are.
	Gap int32

	// Exhausted is set where fewer than Gap indices follow the highest used one, or without a gap fewer than 20. Then
	// there may be payments behind the range, which the search does not look for yet. [ExtendSearch] looks for more.
	Exhausted bool
}

// GetSearch asks for one search. Errors: [ErrSearchNotFound].
type GetSearch struct {
	Control[SearchStatus]

	ID string
}

// GetSearchScope asks what a search has looked for. Errors: [ErrSearchNotFound].
type GetSearchScope struct {
	Asks[SearchScope]

	ID string
}

// SearchScope is what a search has looked for.
type SearchScope struct {
	// From is the first height from which on blocks are looked at for all scripts. It is higher than the search's
	// where objects have joined for which only later blocks are looked at.
	From int32

	Objects []SearchObject // in their order, those that have scripts of their own; nil where there are too many
	Scripts ScriptSet
}

// MaxSearchObjects is how many objects a [SearchScope] has at most.
const MaxSearchObjects = 10_000

// A SearchObject is a scan object of a search.
type SearchObject struct {
	Desc        string // as it is shown
	First, Last int32  // indices, both included; -1: of an object without a range
}

// ListSearches asks for all of them, in the order in which they were made.
type ListSearches struct{ Control[[]SearchStatus] }

// A SearchEntryType says what an entry tells.
type SearchEntryType string

// The types of entries.
const (
	SearchReceive    SearchEntryType = "receive"
	SearchSpend      SearchEntryType = "spend"
	SearchDisconnect SearchEntryType = "disconnect" // the block has left the chain, and its entries with it
	SearchBlock      SearchEntryType = "block"      // of a search for blocks only
)

// A SearchEntry is one payment to a script of a search, one spend from it, or a block that has
// left the chain.
type SearchEntry struct {
	Type   SearchEntryType
	Height int32 // -1: unconfirmed
	Block  chainhash.Hash
	Time   time.Time // of the block

	// Of a payment or a spend.
	Amount int64 // in the smallest unit
	TxID   chainhash.Hash
	N      uint32 // of the output that was paid to, of the input that spends
	Script []byte
	Object string // the scan object's descriptor
	Index  int32  // -1: of an object without a range

	// Of a spend: the output that was spent.
	PrevTxID chainhash.Hash
	PrevVout uint32

	Cursor string // behind it, where [GetSearchEntries.Cursors] asked for that
}

// GetSearchEntries asks for entries in their order. Errors: [ErrSearchNotFound], [ErrBadCursor].
type GetSearchEntries struct {
	Asks[SearchPage]

	ID     string
	Cursor string // empty: from the first on
	Limit  int    // of entries, at least 1

	Cursors bool // set the cursor of each entry

	// PoolLimit is how many unconfirmed entries there are at most, up to 10,000, which 0 stands for; below 0 none.
	// PoolCursor is behind which of them; empty: from the first on.
	PoolLimit  int
	PoolCursor string
}

// A SearchPage is a part of a search's entries. Where More is false it has all that lie
// at or below Height.
type SearchPage struct {
	Entries     []SearchEntry
	Cursor      string // behind the last of them
	More        bool
	Height      int32
	Block       chainhash.Hash
	State       SearchState
	Error       string
	Unconfirmed []SearchEntry // of this moment, where the search has [CreateSearch.Mempool]; else nil
	PoolCursor  string        // behind the last of these
	PoolMore    bool          // there are more behind it
	PoolCut     bool          // the node does not know all: there are too many
}

// WaitSearch is [GetSearchEntries] that waits until there is an entry behind the cursor, or until
// state or height change, but no longer than Timeout; 0: for ever. Of a search that has ended it waits for
// nothing.
type WaitSearch struct {
	Control[SearchPage]

	ID      string
	Cursor  string
	Limit   int
	Timeout time.Duration
}

// PauseSearch, ResumeSearch, AbortSearch and RemoveSearch tell whether they have changed
// anything. Errors: [ErrSearchNotFound].
type (
	// PauseSearch stops a search until [ResumeSearch].
	PauseSearch struct {
		Control[bool]

		ID string
	}
	// ResumeSearch goes on with a search that was paused.
	ResumeSearch struct {
		Control[bool]

		ID string
	}
	// AbortSearch ends a search; its entries stay.
	AbortSearch struct {
		Control[bool]

		ID string
	}
	// RemoveSearch forgets a search and what it has found.
	RemoveSearch struct {
		Control[bool]

		ID string
	}
)

// ExtendSearch adds scan objects to a search. The blocks that were looked at before are looked
// at for them alone.
//
// Errors: [ErrSearchNotFound], [ErrSearchEnded], [*SearchLimitError], [*SharedScriptsError].
type ExtendSearch struct {
	Asks[SearchStatus]

	ID      string
	Objects SearchObjects
	Start   int32 // first height; -1: the search's
}

// SearchChanged says that a search was made, or that its state or height is another. It is
// told when that is on the disk, and at most ten times a second while nothing but the
// height changes.
type SearchChanged struct {
	SearchStatus
	Removed bool
}

// SearchFound tells entries of a search that is following, when they are on the disk, in the
// order of its list, the disconnected blocks among them.
type SearchFound struct {
	ID      string
	Name    string
	Entries []SearchEntry
	Cursor  string // behind them
}

// SearchExhausted tells that the range of a descriptor is used up: see [SearchDescriptor]. It is told when that is on
// the disk.
type SearchExhausted struct {
	ID, Name   string
	Descriptor SearchDescriptor
}

// SearchPool tells that an unconfirmed transaction pays to or spends from a script of a search, or
// that it has left the memory pool.
type SearchPool struct {
	ID, Name string
	Removed  bool
	Entry    SearchEntry // its Height is -1
}

// Kind implements [News].
func (SearchChanged) Kind() EventKind { return EventSearch }

// Kind implements [News].
func (SearchFound) Kind() EventKind { return EventSearch }

// Kind implements [News].
func (SearchExhausted) Kind() EventKind { return EventSearch }

// Kind implements [News].
func (SearchPool) Kind() EventKind { return EventSearch }
