package searches

import (
	"context"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// pageBytes is about how many bytes of JSON a page has at most.
const pageBytes = 16 << 20

// reading serves the actor's read requests.
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

// request is where a reader is.
type request struct {
	cursor

	job   *job
	limit int
	each  bool // entries have their cursors
	pool  poolRequest
}

// poolRequest is what a reader wants of the memory pool.
type poolRequest struct {
	after *poolPlace // nil: from the first
	limit int
}

// maxUnconfirmed is how many unconfirmed entries a page has at most.
const maxUnconfirmed = 10_000

func (s reading) request(id, cursor string, limit int) (r request, err error) {
	r = request{job: s.find(id), limit: max(limit, 1), pool: poolRequest{limit: maxUnconfirmed}}
	if r.job == nil {
		return r, messages.ErrSearchNotFound
	}
	r.cursor, err = parseCursor(r.job, cursor)
	return r, err
}

// pageRequest is the request of [messages.GetSearchEntries].
func (s reading) pageRequest(q *messages.GetSearchEntries) (r request, err error) {
	if r, err = s.request(q.ID, q.Cursor, q.Limit); err != nil {
		return r, err
	}
	r.each = q.Cursors
	if q.PoolLimit != 0 {
		r.pool.limit = min(max(q.PoolLimit, 0), maxUnconfirmed)
	}
	r.pool.after, err = parsePoolPlace(q.PoolCursor)
	return r, err
}

func (s reading) entries(m *ask.Call[messages.GetSearchEntries, messages.SearchPage]) {
	r, err := s.pageRequest(&m.Req)
	if err != nil {
		m.Answer(messages.SearchPage{}, err)
		return
	}
	mempool(s).whenKnown(r.job, func() {
		// It may have been removed, or read from the disk again.
		if r, err = s.pageRequest(&m.Req); err != nil {
			m.Answer(messages.SearchPage{}, err)
			return
		}
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
	to, names := lastPlace(r.job.shown), r.job.texts()
	pool := r.poolPart()
	s.tasks.Go(s.c, func() func() {
		size, last := 0, r.after
		// A place that no entry has is behind none: the first one, too.
		err := s.cfg.Lists.Entries(r.job.ID, r.after, to, func(at searchdb.Place, e *search.Entry) bool {
			if len(page.Entries) >= r.limit || size >= pageBytes {
				page.More = true
				return false
			}
			entry := entryOf(names, e)
			size += sizeOf(&entry)
			if r.each {
				entry.Cursor = cursorText(r.job.ID, at)
			}
			page.Entries, last = append(page.Entries, entry), at
			return true
		})
		at := cursor{after: last, height: st.Height, state: st.State}
		page.Cursor = at.text(r.job.ID)
		if pool != nil {
			pool.into(&page, names)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", messages.ErrSearchStore, err)
		}
		return func() {
			if s.jobs[r.job.ID] == nil { // removed meanwhile: some of its entries may have been gone
				page, err = messages.SearchPage{}, messages.ErrSearchNotFound
			}
			then(page, err)
		}
	})
}

// poolPart is what a page has of the memory pool.
type poolPart struct {
	list    []search.Entry
	places  []poolPlace
	request poolRequest
	cut     bool // not all are known
}

// poolPart returns a page's entries of the memory pool, nil if the search does not
// include the pool.
func (r *request) poolPart() *poolPart {
	if !r.job.Mempool {
		return nil
	}
	p := &poolPart{request: r.pool, cut: r.job.poolCut}
	p.list, p.places = r.job.pool.behind(r.pool.after, r.pool.limit+1) // one more, to know whether there is
	return p
}

// into writes it into a page, as far as that does not become too large.
func (p *poolPart) into(page *messages.SearchPage, names texts) {
	page.Unconfirmed, page.PoolCut = []messages.SearchEntry{}, p.cut
	if p.request.after != nil {
		page.PoolCursor = p.request.after.text()
	}
	size := 0
	for i := range p.list {
		if len(page.Unconfirmed) >= p.request.limit || size >= pageBytes {
			page.PoolMore = true
			return
		}
		entry := entryOf(names, &p.list[i])
		size += sizeOf(&entry)
		page.Unconfirmed, page.PoolCursor = append(page.Unconfirmed, entry), p.places[i].text()
	}
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
	timer  ask.Timer
	left   func() bool // ends the watch over the caller
}

type waiters struct {
	of map[*job]map[*waiter]struct{}
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
	news := r.seen && (r.state != st.State || r.height != st.Height) // since the page of the cursor
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
		ws.of = map[*job]map[*waiter]struct{}{}
	}
	if ws.of[w.job] == nil {
		ws.of[w.job] = map[*waiter]struct{}{}
	}
	ws.of[w.job][w] = struct{}{}
	self, root := s.c.Self(), s.c.ActorSystem().Root
	if w.call.Req.Timeout > 0 {
		w.timer.Set(s.c, w.call.Req.Timeout, overdue{waiter: w})
	}
	w.left = context.AfterFunc(w.call.Ctx, func() { root.Send(self, overdue{waiter: w, gone: true}) })
}

// take takes a waiter out; false when it was before.
func (ws *waiters) take(w *waiter) bool {
	if _, ok := ws.of[w.job][w]; !ok {
		return false
	}
	if delete(ws.of[w.job], w); len(ws.of[w.job]) == 0 {
		delete(ws.of, w.job)
	}
	w.timer.Stop()
	w.left()
	return true
}

func (ws *waiters) stop() {
	for _, list := range ws.of {
		for w := range list {
			ws.take(w)
		}
	}
}

// reloaded answers those who waited while all was read from the disk again: they have another search before them.
func (s reading) reloaded() {
	before := s.waiters.of
	for _, list := range before {
		for w := range list {
			s.waiters.take(w)
			if w.job = s.jobs[w.job.ID]; w.job == nil {
				w.call.Answer(messages.SearchPage{}, messages.ErrSearchNotFound)
				continue
			}
			mempool(s).whenKnown(w.job, func() {
				s.page(w.request, func(p messages.SearchPage, err error) { w.call.Answer(p, err) })
			})
		}
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

// wake answers the calls that wait for a search, if the search has changed since.
func (s reading) wake(j *job) {
	if len(s.waiters.of[j]) == 0 {
		return
	}
	st := s.status(j)
	for w := range s.waiters.of[j] {
		if w.state == st.State && w.height == st.Height && w.after == lastPlace(j.shown) {
			continue
		}
		s.waiters.take(w)
		s.page(w.request, func(p messages.SearchPage, err error) { w.call.Answer(p, err) })
	}
}

// wakeGone answers the calls that wait for a removed search.
func (s reading) wakeGone(j *job) {
	for w := range s.waiters.of[j] {
		s.waiters.take(w)
		w.call.Answer(messages.SearchPage{}, messages.ErrSearchNotFound)
	}
}
