package searches

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// lastPlace is behind all entries of a search.
func lastPlace(at *searchdb.Status) searchdb.Place {
	return searchdb.LastOf(at.Epoch, at.Done.Height)
}

// states are numbered in cursors.
var states = []messages.SearchState{
	messages.SearchQueued, messages.SearchRunning, messages.SearchFollowing, messages.SearchPaused,
	messages.SearchDone, messages.SearchAborted, messages.SearchFailed,
}

// A cursor is what a reader knows: entries up to a place and, where a page showed it, how far the search
// was.
type cursor struct {
	after  searchdb.Place
	seen   bool // a page showed what follows
	height int32
	state  messages.SearchState
}

const (
	// seenBytes follow the place in the cursor of a page.
	seenBytes = 4 + 1

	// A cursor ends with ownerBytes of its search's id: a cursor of another search would silently leave entries
	// out. Cursors of earlier versions have no id.
	ownerBytes = 4
)

// cursorText returns the cursor of a place in a search.
func cursorText(id searchdb.ID, p searchdb.Place) string { return withOwner(id, p.Append(nil)) }

func withOwner(id searchdb.ID, b []byte) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint32(b, uint32(id)))
}

func (c *cursor) text(id searchdb.ID) string {
	b := binary.BigEndian.AppendUint32(c.after.Append(nil), uint32(c.height))
	return withOwner(id, append(b, byte(slices.Index(states, c.state))))
}

// parseCursor reads a cursor that a search was asked with.
func parseCursor(j *job, text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return c, messages.ErrBadCursor
	}
	if n := len(raw) - ownerBytes; n == searchdb.PlaceSize || n == searchdb.PlaceSize+seenBytes {
		if binary.BigEndian.Uint32(raw[n:]) != uint32(j.ID) {
			return c, messages.ErrBadCursor
		}
		raw = raw[:n]
	}
	if n := len(raw) - seenBytes; n == searchdb.PlaceSize {
		state := int(raw[n+4])
		if state >= len(states) {
			return c, messages.ErrBadCursor
		}
		c.seen, c.height, c.state = true, int32(binary.BigEndian.Uint32(raw[n:])), states[state]
		raw = raw[:n]
	}
	var ok bool
	if c.after, ok = searchdb.ParsePlace(raw); !ok || lastPlace(j.shown).Less(c.after) {
		return c, messages.ErrBadCursor // no client was given a place that is not there yet
	}
	return c, nil
}
