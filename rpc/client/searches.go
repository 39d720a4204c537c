package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"time"
)

// The states of a search.
const (
	Queued    = "queued"    // waits for its first turn
	Running   = "running"   // has blocks to look at
	Following = "following" // has looked at all blocks, and waits for new ones
	Paused    = "paused"    // until it is resumed, or there is room on the disk
	Done      = "done"
	Aborted   = "aborted"
	Failed    = "failed"
)

// A ScanObject is a descriptor to look for, with the range of its indexes where it has one.
type ScanObject struct {
	Desc  string    `json:"desc"`
	Range *[2]int64 `json:"range,omitempty"` // first and last; nil: 0 to 1,000
}

// SearchOptions say what a search is to do. The zero value looks at all blocks up to the tip of the
// moment.
type SearchOptions struct {
	Name    string `json:"name,omitempty"` // an identical search of this name is returned instead of a new one
	Start   int32  `json:"start_height,omitempty"`
	Stop    *int32 `json:"stop_height,omitempty"` // nil: the tip
	Follow  bool   `json:"follow,omitempty"`      // go on with new blocks; without Stop
	Mempool bool   `json:"mempool,omitempty"`     // report unconfirmed payments as well

	BlocksOnly bool `json:"-"` // list only the blocks that have something
}

// MarshalJSON implements json.Marshaler.
func (o SearchOptions) MarshalJSON() ([]byte, error) {
	type options SearchOptions
	var entries *bool // true is the default
	if o.BlocksOnly {
		entries = new(bool)
	}
	return json.Marshal(struct {
		options

		Entries *bool `json:"entries,omitempty"`
	}{options(o), entries})
}

// A Search is how far a search is.
type Search struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	State     string  `json:"state"`
	Error     string  `json:"error"` // why it failed, or pauses by itself
	Start     int32   `json:"start_height"`
	Stop      *int32  `json:"stop_height"`
	Follow    bool    `json:"follow"`
	Entries   bool    `json:"entries"`
	Mempool   bool    `json:"mempool"`
	Scripts   int     `json:"scripts"`
	Height    int32   `json:"height"` // up to which all blocks were looked at
	BlockHash string  `json:"blockhash"`
	Progress  float64 `json:"progress"` // percent
	Found     uint64  `json:"found"`
	Blocks    uint64  `json:"blocks"`
	Created   int64   `json:"created"` // seconds since 1970
	Updated   int64   `json:"updated"`
	Rate      float64 `json:"rate"` // blocks a second, while it runs
	ETA       int64   `json:"eta"`  // seconds

	// Descriptors are those with a range, of [Client.GetSearch] and [Client.ExtendSearch].
	Descriptors []SearchDescriptor `json:"descriptors"`
}

// A SearchDescriptor is a descriptor with a range that a search looks for.
type SearchDescriptor struct {
	Desc        string   `json:"desc"`
	Range       [2]int64 `json:"range"`        // both included
	HighestUsed *int64   `json:"highest_used"` // nil: nothing was found for any

	// Gap is how many unused indices are to follow the highest used one; 0: the range does not widen.
	Gap int64 `json:"gap"`

	// Exhausted says that fewer indices than the gap, or without a gap than 20, follow the highest used one: payments
	// behind the range are not found. Extend the search by a longer range.
	Exhausted bool `json:"exhausted"`
}

// Ended reports whether a search finds no more.
func (s *Search) Ended() bool { return ended(s.State) }

func ended(state string) bool { return state == Done || state == Aborted || state == Failed }

// The types of entries.
const (
	Receive    = "receive"
	Spend      = "spend"
	Disconnect = "disconnect" // the block has left the chain, and what it has with it
	BlockOnly  = "block"      // of a search without entries
)

// A Script is an output script.
type Script struct {
	Hex     string `json:"hex"`
	Address string `json:"address"`
	Desc    string `json:"desc"`
	Type    string `json:"type"`
}

// An Entry is one payment to a script of a search, one spend from it, or a block.
type Entry struct {
	Type      string `json:"type"`
	Amount    Amount `json:"amount"`
	BlockHash string `json:"blockhash"` // empty: unconfirmed
	Height    int32  `json:"height"`
	Time      int64  `json:"time"` // of the block, seconds since 1970
	Desc      string `json:"desc"` // the scan object, without private keys
	Index     *int32 `json:"index"`

	// Of a payment.
	TxID   string  `json:"txid"`
	Vout   uint32  `json:"vout"`
	Output *Script `json:"output_spk"`

	// Of a spend.
	SpendTxID   string  `json:"spend_txid"`
	SpendVin    uint32  `json:"spend_vin"`
	PrevoutTxID string  `json:"prevout_txid"`
	PrevoutVout uint32  `json:"prevout_vout"`
	Prevout     *Script `json:"prevout_spk"`

	Text json.RawMessage `json:"-"` // the entry as the node wrote it
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Entry) UnmarshalJSON(text []byte) error {
	type fields Entry
	var f fields
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*e = Entry(f)
	e.Text = slices.Clone(text)
	return nil
}

// A Page is a part of a search's list.
type Page struct {
	Entries     []Entry `json:"entries"`
	Cursor      string  `json:"cursor"` // behind the last of them
	More        bool    `json:"more"`   // false: all up to Height is here
	Height      int32   `json:"height"`
	BlockHash   string  `json:"blockhash"`
	State       string  `json:"state"`
	Error       string  `json:"error"`
	Unconfirmed []Entry `json:"unconfirmed"` // of this moment, of a search with Mempool: the first of them

	UnconfirmedMore bool `json:"unconfirmed_more"` // there are more than those
}

// CreateSearch makes a search and returns its id. It is false where the search was there.
func (c *Client) CreateSearch(
	ctx context.Context, objects []ScanObject, options SearchOptions,
) (id string, created bool, err error) {
	var made struct {
		ID      string
		Created bool
	}
	err = c.Call(ctx, &made, "createsearch", texts(objects), options)
	return made.ID, made.Created, err
}

// texts are scan objects as methods take them: a descriptor without a range is a text.
func texts(objects []ScanObject) []any {
	list := make([]any, len(objects))
	for i := range objects {
		if list[i] = objects[i]; objects[i].Range == nil {
			list[i] = objects[i].Desc
		}
	}
	return list
}

// ExtendSearch adds scan objects to a search, which are looked for from a height on; below 0: from that
// of the search.
func (c *Client) ExtendSearch(ctx context.Context, id string, objects []ScanObject, start int32) (s Search, err error) {
	from := &start
	if start < 0 {
		from = nil
	}
	err = c.Call(ctx, &s, "extendsearch", id, texts(objects), from)
	return s, err
}

// GetSearch returns how far a search is.
func (c *Client) GetSearch(ctx context.Context, id string) (s Search, err error) {
	err = c.Call(ctx, &s, "getsearch", id)
	return s, err
}

// ListSearches returns all searches in the order in which they were made.
func (c *Client) ListSearches(ctx context.Context) (list []Search, err error) {
	err = c.Call(ctx, &list, "listsearches")
	return list, err
}

// SearchEntries returns at most limit entries, 1 to 10,000, behind a cursor; from the first where
// that is empty.
func (c *Client) SearchEntries(ctx context.Context, id, cursor string, limit int) (p Page, err error) {
	err = c.Call(ctx, &p, "getsearchentries", id, cursor, limit)
	return p, err
}

// WaitForSearch is [Client.SearchEntries] that waits until there is something behind the cursor, or
// state or height change, but no longer than timeout; 0: for ever.
func (c *Client) WaitForSearch(ctx context.Context, id, cursor string, timeout time.Duration) (p Page, err error) {
	err = c.Call(ctx, &p, "waitforsearch", id, cursor, timeout.Milliseconds())
	return p, err
}

// PauseSearch stops a search until [Client.ResumeSearch]. It reports whether that changed anything.
func (c *Client) PauseSearch(ctx context.Context, id string) (changed bool, err error) {
	err = c.Call(ctx, &changed, "pausesearch", id)
	return changed, err
}

// ResumeSearch goes on with a search that was paused.
func (c *Client) ResumeSearch(ctx context.Context, id string) (changed bool, err error) {
	err = c.Call(ctx, &changed, "resumesearch", id)
	return changed, err
}

// AbortSearch ends a search. The entries that it has found stay.
func (c *Client) AbortSearch(ctx context.Context, id string) (changed bool, err error) {
	err = c.Call(ctx, &changed, "abortsearch", id)
	return changed, err
}

// RemoveSearch forgets a search and all that it has found.
func (c *Client) RemoveSearch(ctx context.Context, id string) (changed bool, err error) {
	err = c.Call(ctx, &changed, "removesearch", id)
	return changed, err
}

const (
	pageWait   = time.Second            // how long a call waits for entries
	firstPause = 100 * time.Millisecond // before the next attempt, doubled each time
	longPause  = 5 * time.Second
)

// FollowSearch returns the pages of a search behind a cursor as they come: each with entries, or with another height,
// state or unconfirmed entries than the page before. It continues after lost connections and restarts of the node. It
// ends after the last page of a search that has ended, with an [*Error] (a search that was removed, for example), and
// with ctx. Store the cursor of a page together with the results of its entries: then none is missed or taken twice.
func (c *Client) FollowSearch(ctx context.Context, id, cursor string) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		last := Page{Height: -2}
		var again retry
		for {
			page, err := c.WaitForSearch(ctx, id, cursor, pageWait)
			if err != nil {
				if again.after(ctx, c.cfg.Cookie != "", err) {
					continue
				}
				yield(Page{}, err)
				return
			}
			again = retry{}
			cursor = page.Cursor
			news := len(page.Entries) > 0 || page.State != last.State || page.Height != last.Height ||
				!reflect.DeepEqual(page.Unconfirmed, last.Unconfirmed)
			if news && !yield(page, nil) || ended(page.State) && !page.More {
				return
			}
			last = page
		}
	}
}

// retry is how long to wait before the next attempt.
type retry struct {
	pause   time.Duration
	refused int // logins in a row
}

// after waits, and reports whether to try again after an error. The answers of a node that has read the call are
// final, unless it starts, stops or has too much to do. A cookie may belong to the previous run of the node: it is
// read again.
func (r *retry) after(ctx context.Context, cookie bool, err error) bool {
	const shuttingDown, inWarmup = -9, -28
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code != shuttingDown && refused.Code != inWarmup {
		return false
	}
	if status, ok := errors.AsType[*StatusError](err); ok {
		const cookies = 3 // that may be refused
		if status.Status == http.StatusUnauthorized && cookie {
			r.refused++
		}
		if status.Status != http.StatusServiceUnavailable && (r.refused == 0 || r.refused > cookies) {
			return false
		}
	}
	r.pause = min(max(2*r.pause, firstPause), longPause)
	select {
	case <-time.After(r.pause):
		return true
	case <-ctx.Done():
		return false
	}
}

// ScanOptions are those of [Client.ScanBlocks].
type ScanOptions struct {
	Exact    bool `json:"filter_false_positives,omitempty"` // only blocks that really have something
	Activity bool `json:"activity,omitempty"`               // what they have; implies Exact
}

// A Scan is what a scan has found.
type Scan struct {
	From      int32    `json:"from_height"`
	To        int32    `json:"to_height"`
	Blocks    []string `json:"relevant_blocks"`
	Completed bool     `json:"completed"` // false: it was aborted
	Activity  []Entry  `json:"activity"`
}

// ScanBlocks looks through block filters from a height on, up to another; below 0: up to the tip.
func (c *Client) ScanBlocks(
	ctx context.Context, objects []ScanObject, from, to int32, options ScanOptions,
) (s Scan, err error) {
	stop := &to
	if to < 0 {
		stop = nil
	}
	err = c.Call(ctx, &s, "scanblocks", "start", texts(objects), from, stop, "basic", options)
	return s, err
}
