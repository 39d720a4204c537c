package searches

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// pageBytes is about how many bytes of JSON a page has at most.
const pageBytes = 16 << 20

// reading is what the actor answers to those who read.
type reading struct{ *Searches }

// texts is what an entry names of a search.
type texts struct {
	objects []searchdb.Object
	scripts []searchdb.Script
}

func (j *job) texts() texts { return texts{j.Objects, j.Scripts} }

var types = map[search.Kind]messages.SearchEntryType{
	search.Receive: messages.SearchReceive, search.Spend: messages.SearchSpend,
	search.Disconnect: messages.SearchDisconnect, search.Hit: messages.SearchBlock,
}

func entryOf(t texts, e *search.Entry) messages.SearchEntry {
	m := messages.SearchEntry{
		Type: types[e.Kind], Height: e.Height, Block: e.Block, Time: time.Unix(int64(e.Time), 0), Index: -1,
	}
	if e.Kind != search.Receive && e.Kind != search.Spend {
		return m
	}
	m.Amount, m.TxID, m.N, m.PrevTxID, m.PrevVout = e.Amount, e.TxID, e.N, e.Prev.Hash, e.Prev.Index
	if int(e.Script) < len(t.scripts) {
		s := &t.scripts[e.Script]
		m.Script, m.Index, m.Object = s.Script, s.Index, string(t.objects[s.Object])
	}
	return m
}

// lastPlace is behind all entries of a search.
func lastPlace(at *searchdb.Status) searchdb.Place {
	return searchdb.LastOf(at.Epoch, at.Done.Height)
}

func cursorText(p searchdb.Place) string { return hex.EncodeToString(p.Append(nil)) }

// states are numbered in cursors.
var states = []messages.SearchState{
	messages.SearchQueued, messages.SearchRunning, messages.SearchFollowing, messages.SearchPaused,
	messages.SearchDone, messages.SearchAborted, messages.SearchFailed,
}

// A cursor is what a reader knows: entries up to a place and, where a page told it, how far the search
// was.
type cursor struct {
	after  searchdb.Place
	told   bool // what follows
	height int32
	state  messages.SearchState
}

// seenBytes follow the place in the cursor of a page.
const seenBytes = 4 + 1

func (c *cursor) text() string {
	b := binary.BigEndian.AppendUint32(c.after.Append(nil), uint32(c.height))
	return hex.EncodeToString(append(b, byte(slices.Index(states, c.state))))
}

func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return c, messages.ErrBadCursor
	}
	if n := len(raw) - seenBytes; n >= searchdb.PlaceSize {
		state := int(raw[n+4])
		if state >= len(states) {
			return c, messages.ErrBadCursor
		}
		c.told, c.height, c.state = true, int32(binary.BigEndian.Uint32(raw[n:])), states[state]
		raw = raw[:n]
	}
	var ok bool
	if c.after, ok = searchdb.ParsePlace(raw); !ok {
		return c, messages.ErrBadCursor
	}
	return c, nil
}

// request is where a reader is.
type request struct {
	cursor

	job   *job
	limit int
	each  bool // entries have their cursors
}

func (s reading) request(id, cursor string, limit int) (r request, err error) {
	r = request{job: s.find(id), limit: max(limit, 1)}
	if r.job == nil {
		return r, messages.ErrSearchNotFound
	}
	r.cursor, err = parseCursor(cursor)
	return r, err
}

func (s reading) entries(m *entries) {
	r, err := s.request(m.Req.ID, m.Req.Cursor, m.Req.Limit)
	if err != nil {
		m.Answer(messages.SearchPage{}, err)
		return
	}
	mempool(s).whenKnown(r.job, func() {
		// It may have been removed, or read from the disk again.
		if r, err = s.request(m.Req.ID, m.Req.Cursor, m.Req.Limit); err != nil {
			m.Answer(messages.SearchPage{}, err)
			return
		}
		r.each = m.Req.Cursors
		s.page(r, func(p messages.SearchPage, err error) { m.Answer(p, err) })
	})
}

// page reads entries in a worker.
func (s reading) page(r request, then func(messages.SearchPage, error)) {
	st := s.status(r.job)
	page := messages.SearchPage{
		Height: st.Height, Block: st.Block, State: st.State, Error: st.Error,
		Entries: []messages.SearchEntry{},
	}
	if r.job.Mempool {
		page.Unconfirmed = r.job.unconfirmed()
	}
	to, names := lastPlace(r.job.shown), r.job.texts()
	s.tasks.Go(s.c, func() func() {
		size, last := 0, r.after
		// A place that no entry has is behind none: the first one, too.
		err := s.cfg.Store.Entries(r.job.ID, r.after, to, func(at searchdb.Place, e *search.Entry) bool {
			if len(page.Entries) >= r.limit || size >= pageBytes {
				page.More = true
				return false
			}
			entry := entryOf(names, e)
			size += sizeOf(&entry)
			if r.each {
				entry.Cursor = cursorText(at)
			}
			page.Entries, last = append(page.Entries, entry), at
			return true
		})
		at := cursor{after: last, height: st.Height, state: st.State}
		page.Cursor = at.text()
		return func() { then(page, err) }
	})
}

// sizeOf returns about how many bytes of JSON an entry has, rather more.
func sizeOf(e *messages.SearchEntry) int {
	return 900 + 4*len(e.Script) + wordsOf(e.Script) + 2*len(e.Object)
}

// wordsOf returns how many bytes a script has in words at most: a short opcode may have a long name.
func wordsOf(script []byte) (n int) {
	const longest = len("OP_CHECKMULTISIGVERIFY ")
	for t := txscript.MakeScriptTokenizer(0, script); t.Next(); {
		if n += longest; len(t.Data()) > 0 {
			n += 2*len(t.Data()) - longest
		}
	}
	return n
}

// A waiter waits for something new of a search.
type waiter struct {
	request

	call   *wait
	state  messages.SearchState
	height int32
	timer  *time.Timer
	left   func() bool // ends the watch over the caller
}

type waiters struct {
	of map[*waiter]struct{}
}

// overdue says that a waiter is to be answered, or that its caller has gone.
type overdue struct {
	waiter *waiter
	gone   bool
}

func (s reading) wait(m *wait) {
	if j := s.find(m.Req.ID); j != nil {
		mempool(s).whenKnown(j, func() { s.waitKnown(m) })
		return
	}
	s.waitKnown(m)
}

func (s reading) waitKnown(m *wait) {
	r, err := s.request(m.Req.ID, m.Req.Cursor, m.Req.Limit)
	if err != nil {
		m.Answer(messages.SearchPage{}, err)
		return
	}
	w := &waiter{request: r, call: m}
	shown := r.job.shown
	st := s.status(r.job)
	news := r.told && (r.state != st.State || r.height != st.Height) // since the page of the cursor
	w.state, w.height = st.State, st.Height
	s.page(r, func(p messages.SearchPage, err error) {
		switch {
		case err != nil, news, len(p.Entries) > 0, p.State.Ended(), s.jobs[r.job.ID] != r.job, r.job.shown != shown:
			w.call.Answer(p, err)
		default:
			s.waiters.add(s, w)
		}
	})
}

func (ws *waiters) add(s reading, w *waiter) {
	if ws.of == nil {
		ws.of = map[*waiter]struct{}{}
	}
	ws.of[w] = struct{}{}
	self, root := s.c.Self(), s.c.ActorSystem().Root
	if w.call.Req.Timeout > 0 {
		w.timer = time.AfterFunc(w.call.Req.Timeout, func() { root.Send(self, overdue{waiter: w}) })
	}
	w.left = context.AfterFunc(w.call.Ctx, func() { root.Send(self, overdue{waiter: w, gone: true}) })
}

// take takes a waiter out; false when it was before.
func (ws *waiters) take(w *waiter) bool {
	if _, ok := ws.of[w]; !ok {
		return false
	}
	delete(ws.of, w)
	if w.timer != nil {
		w.timer.Stop()
	}
	w.left()
	return true
}

func (ws *waiters) stop() {
	for w := range ws.of {
		ws.take(w)
	}
}

func (s reading) overdue(m overdue) {
	if !s.waiters.take(m.waiter) || m.gone {
		return
	}
	w := m.waiter
	if s.jobs[w.job.ID] != w.job {
		w.call.Answer(messages.SearchPage{}, messages.ErrSearchNotFound)
		return
	}
	s.page(w.request, func(p messages.SearchPage, err error) { w.call.Answer(p, err) })
}

// wake answers those who wait for a search, when something of it has changed.
func (s reading) wake(j *job) {
	st := s.status(j)
	for w := range s.waiters.of {
		if w.job != j || w.state == st.State && w.height == st.Height && w.after == lastPlace(j.shown) {
			continue
		}
		s.waiters.take(w)
		s.page(w.request, func(p messages.SearchPage, err error) { w.call.Answer(p, err) })
	}
}

// wakeGone answers those who wait for a search that is removed.
func (s reading) wakeGone(j *job) {
	for w := range s.waiters.of {
		if w.job == j {
			s.waiters.take(w)
			w.call.Answer(messages.SearchPage{}, messages.ErrSearchNotFound)
		}
	}
}
