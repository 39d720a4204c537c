package eventstream

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

// searchPage is how many entries are read at a time.
const searchPage = 100

// A searchStream sends the entries of one search in the order of its list, behind a cursor, and the other events of
// the search.
//
// The list is read from the store, page by page: events only say that there may be more. So
// it does not matter how slow the reader is, and no entry is sent twice or missed.
type searchStream struct {
	src    *Source
	query  query
	events messages.Subscription

	name   string  // of the search
	pool   *string // behind which unconfirmed entry to go on with those of the beginning; nil: they are sent
	cursor string  // behind the last entry that was sent, or needs not be
	dirty  bool    // there may be entries behind it
	queued []rpc.StreamEvent
	ended  bool // after what is queued
}

// errNoSearches answers a request for a search where there are none.
var errNoSearches = errors.New("Searches need the block filter index (-blockfilterindex)") //nolint:staticcheck // as is

// openSearch begins the stream of one search. last is the cursor behind which it goes on.
func (s *Source) openSearch(ctx context.Context, q *query, last string) (rpc.EventStream, error) {
	if s.Search == nil || s.Entries == nil {
		return nil, errNoSearches
	}
	st := &searchStream{src: s, query: *q, cursor: q.cursor, dirty: true}
	if err := st.subscribe(ctx); err != nil {
		return nil, inWords(err)
	}
	if last != "" {
		st.cursor = last
	}
	_, err := st.read(ctx, 1)
	if errors.Is(err, messages.ErrBadCursor) && last != "" {
		st.cursor = q.cursor
		st.add("reset", struct{}{}, "")
		_, err = st.read(ctx, 1)
	}
	var status messages.SearchStatus
	if err == nil {
		status, err = s.Search(ctx, messages.GetSearch{ID: q.search})
	}
	if err != nil {
		st.Close()
		return nil, inWords(err)
	}
	st.query.search = status.ID // as events have it: it may have been asked for in capitals
	st.begin(&status)
	return st, nil
}

// inWords puts an error into words for the client.
func inWords(err error) error {
	if _, ok := errors.AsType[messages.Refusal](err); ok {
		return err
	}
	return errors.New("There are no events now") //nolint:staticcheck // for the client
}

func (s *searchStream) subscribe(ctx context.Context) (err error) {
	if s.events != nil {
		s.events.Close()
	}
	s.events, err = s.src.Subscribe(ctx, messages.EventSearch, messages.EventTip)
	return err
}

func (s *searchStream) read(ctx context.Context, limit int) (messages.SearchPage, error) {
	return s.src.Entries(ctx, messages.GetSearchEntries{
		ID: s.query.search, Cursor: s.cursor, Limit: limit, Cursors: true, PoolLimit: -1,
	})
}

// begin queues the state of the search, and has the entries in the memory pool sent next.
func (s *searchStream) begin(status *messages.SearchStatus) {
	s.name = status.Name
	s.add("search", searchEvent{Search: searchrpc.Status(status)}, "getsearch")
	if status.Mempool {
		s.pool = new(string)
	}
}

// readPool queues some of the entries in the memory pool. Events of changes meanwhile are sent after all of these
// entries, so that the last event of an entry is true.
func (s *searchStream) readPool(ctx context.Context) error {
	page, err := s.src.Entries(ctx, messages.GetSearchEntries{
		ID: s.query.search, Cursor: s.cursor, Limit: 1, PoolLimit: searchPage, PoolCursor: *s.pool,
	})
	if err != nil {
		return err
	}
	for i := range page.Unconfirmed {
		s.queuePool("pool", s.name, &page.Unconfirmed[i])
	}
	if *s.pool = page.PoolCursor; !page.PoolMore || len(page.Unconfirmed) == 0 {
		s.pool = nil
	}
	return nil
}

// Close implements rpc.EventStream.
func (s *searchStream) Close() {
	if s.events != nil {
		s.events.Close()
	}
}

// Next implements rpc.EventStream.
func (s *searchStream) Next(ctx context.Context) (rpc.StreamEvent, error) {
	for len(s.queued) == 0 {
		if s.ended {
			return rpc.StreamEvent{}, messages.ErrSearchNotFound
		}
		if err := s.more(ctx); err != nil {
			return rpc.StreamEvent{}, err
		}
	}
	e := s.queued[0]
	s.queued = s.queued[1:]
	return e, nil
}

// more reads on in the list, or waits for events.
func (s *searchStream) more(ctx context.Context) error {
	if s.pool != nil {
		return s.readPool(ctx)
	}
	if s.dirty {
		page, err := s.read(ctx, searchPage)
		if err != nil {
			return err
		}
		s.dirty = s.queueEntries(&page) && page.More
		return nil
	}
	e, err := s.events.Next(ctx)
	if errors.Is(err, messages.ErrLagged) {
		return s.again(ctx)
	}
	if err != nil {
		return err
	}
	s.receive(e.News)
	return nil
}

// again goes on where events were missed. All of the memory pool is sent again.
func (s *searchStream) again(ctx context.Context) error {
	if err := s.subscribe(ctx); err != nil {
		return err
	}
	status, err := s.src.Search(ctx, messages.GetSearch{ID: s.query.search})
	if err != nil {
		return err
	}
	s.dirty = true
	if status.Mempool {
		s.add("reset", struct{}{}, "")
	}
	s.begin(&status)
	return nil
}

// receive takes an event of the search, or of the chain.
func (s *searchStream) receive(news messages.News) {
	switch m := news.(type) {
	case messages.TipChanged:
		s.dirty = true // an entry may have its confirmations
	case messages.SearchFound:
		s.dirty = s.dirty || m.ID == s.query.search
	case messages.SearchChanged:
		if m.ID != s.query.search {
			return
		}
		s.dirty, s.ended = !m.Removed, m.Removed
		s.add("search", searchEvent{searchrpc.Status(&m.SearchStatus), m.Removed}, "getsearch")
	case messages.SearchExhausted:
		if m.ID == s.query.search {
			s.add("exhausted", exhaustedEvent{m.ID, m.Name, searchrpc.Descriptor(&m.Descriptor)}, "getsearch")
		}
	case messages.SearchPool:
		if m.ID == s.query.search {
			s.queuePool(one(!m.Removed, "pool", "poolremoved"), m.Name, &m.Entry)
		}
	}
}

func (s *searchStream) queuePool(event, name string, e *messages.SearchEntry) {
	s.add(event, searchPool{s.query.search, name, s.src.Print.Entry(e)}, "getsearchentries")
}

// queueEntries queues entries up to the first that has too few confirmations. It returns false if there is such an
// entry.
//
// An entry whose block has left the chain is left out once the list has the block as disconnected; until then the
// block may come back. The disconnection itself is sent in any case.
func (s *searchStream) queueEntries(page *messages.SearchPage) bool {
	reader := s.src.Chain.Open()
	for i := range page.Entries {
		e := &page.Entries[i]
		if e.Type != messages.SearchDisconnect && s.query.minConf > 1 {
			confirmations := confirmationsOf(reader, e)
			switch {
			case confirmations >= s.query.minConf:
			case confirmations > 0 || !takenBack(reader, page, e):
				return false
			default:
				s.cursor = e.Cursor
				continue
			}
		}
		s.cursor = e.Cursor
		s.add("entry", s.src.Print.Entry(e), "getsearchentries")
		s.queued[len(s.queued)-1].Waits = true
	}
	return true
}

// takenBack reports whether the list takes back an entry whose block is not in the active chain. The list does once
// the search has come to that chain, and to the height of the entry or to the tip.
func takenBack(reader chainview.Reader, page *messages.SearchPage, e *messages.SearchEntry) bool {
	if page.Height < 0 {
		return true
	}
	b := reader.Active().At(page.Height)
	return b != nil && b.Hash == page.Block && (e.Height <= page.Height || page.State == messages.SearchFollowing)
}

// confirmationsOf returns how many an entry has, 0 where its block is not in the active chain.
func confirmationsOf(reader chainview.Reader, e *messages.SearchEntry) int32 {
	if reader == nil {
		return 1 // of a chain that is not open nobody knows more
	}
	active := reader.Active()
	if b := active.At(e.Height); b == nil || b.Hash != e.Block {
		return 0
	}
	return active.Height() - e.Height + 1
}

// add queues an event.
func (s *searchStream) add(name string, data any, method string) {
	e := eventOf(name, data, method)
	e.ID, e.IDMethod = s.cursor, "getsearchentries"
	s.queued = append(s.queued, e)
}
