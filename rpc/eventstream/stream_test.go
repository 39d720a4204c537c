package eventstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/messages"
)

const searchQuery = "topics=search&search=" + searchID

// Each event of a search has the cursor of the last entry before it as its id, and entries wait for a slow reader.
func TestIDsOfSearchStream(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 2)
	r.feed.news = []messages.News{messages.SearchPool{ID: searchID}}
	s, err := r.src.Open(t.Context(), searchQuery, "", anything)
	if err != nil {
		t.Fatal(err)
	}
	list, err := events(t, s)
	if !errors.Is(err, messages.ErrUnsubscribed) {
		t.Error(err)
	}
	var got []string
	for _, e := range list {
		line := e.ID + " " + e.Name + " " + e.Method
		if e.Waits {
			line += " waits"
		}
		got = append(got, strings.TrimSpace(line))
		if e.IDMethod != "getsearchentries" {
			t.Errorf("%s: the id is shown by %s", line, e.IDMethod)
		}
	}
	want := []string{
		"search getsearch", "1 entry getsearchentries waits", "2 entry getsearchentries waits",
		"2 pool getsearchentries",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The list is read in pages, and only where there may be more entries. That is at first, behind a page that is not
// the last, and after events of the chain or of this search.
func TestListIsReadWhereThereMayBeMore(t *testing.T) {
	const other = "00000000000000bb"
	for _, c := range []struct {
		name  string
		news  messages.News
		pages int // that are read again
	}{
		{"nothing", nil, 0},
		{"the tip", messages.TipChanged{}, 1},
		{"entries", messages.SearchFound{ID: searchID}, 1},
		{"entries of another search", messages.SearchFound{ID: other}, 0},
		{"a change", messages.SearchChanged{SearchStatus: messages.SearchStatus{ID: searchID}}, 1},
		{"a change of another search", messages.SearchChanged{SearchStatus: messages.SearchStatus{ID: other}}, 0},
		{"a removal", messages.SearchChanged{SearchStatus: messages.SearchStatus{ID: searchID}, Removed: true}, 0},
		{"a used up range", messages.SearchExhausted{ID: searchID}, 0},
		{"the memory pool", messages.SearchPool{ID: searchID}, 0},
	} {
		r := newListRig(t)
		r.move(r.tip, 20)
		r.feed.news = nil
		if c.news != nil {
			r.feed.news = []messages.News{c.news}
		}
		var asked []messages.GetSearchEntries
		r.src.Entries = func(ctx context.Context, q messages.GetSearchEntries) (messages.SearchPage, error) {
			asked = append(asked, q)
			return r.page(ctx, q)
		}
		s, err := r.src.Open(t.Context(), searchQuery+"&cursor=3", "", anything)
		if err != nil {
			t.Fatal(err)
		}
		_, err = events(t, s)
		end := messages.ErrUnsubscribed
		if c.name == "a removal" {
			end = messages.ErrSearchNotFound
		}
		if !errors.Is(err, end) {
			t.Errorf("%s: ends with %v", c.name, err)
		}
		want := []messages.GetSearchEntries{{ID: searchID, Cursor: "3", Limit: 1, Cursors: true, PoolLimit: -1}}
		for _, cursor := range []string{"3", "10", "17"} {
			want = append(want, messages.GetSearchEntries{
				ID: searchID, Cursor: cursor, Limit: searchPage, Cursors: true, PoolLimit: -1,
			})
		}
		for range c.pages {
			want = append(want, messages.GetSearchEntries{
				ID: searchID, Cursor: "20", Limit: searchPage, Cursors: true, PoolLimit: -1,
			})
		}
		if !slices.EqualFunc(asked, want, func(a, b messages.GetSearchEntries) bool {
			return a.ID == b.ID && a.Cursor == b.Cursor && a.Limit == b.Limit && a.Cursors && a.PoolLimit == b.PoolLimit
		}) {
			t.Errorf("%s: asked %+v, want %+v", c.name, asked, want)
		}
	}
}

// A range that is used up is sent in the stream of its search and in the stream of all, and in no other.
func TestUsedUpRange(t *testing.T) {
	r := newListRig(t)
	used := messages.SearchExhausted{ID: searchID, Name: "shop", Descriptor: messages.SearchDescriptor{
		Desc: "wpkh(...)", First: 1, Last: 9, HighestUsed: 9, Known: true, Exhausted: true,
	}}
	other := used
	other.ID = "00000000000000bb"
	const line = `exhausted {"id":"` + searchID + `","name":"shop","descriptor":{"desc":"wpkh(...)","range":[1,9],` +
		`"highest_used":9,"exhausted":true}} getsearch`
	for text, want := range map[string]int{searchQuery: 1, "topics=search": 2} {
		r.feed.news = []messages.News{used, other}
		s, err := r.src.Open(t.Context(), text, "", anything)
		if err != nil {
			t.Fatal(err)
		}
		list, _ := events(t, s)
		var got []string
		for _, e := range list {
			if e.Name == "exhausted" {
				got = append(got, e.Name+" "+string(e.Data)+" "+e.Method)
			}
		}
		if len(got) != want || got[0] != line {
			t.Errorf("%s: got %q, want %d, of them %q", text, got, want, line)
		}
	}
}

// A stream ends with the error of its sources: the list, the memory pool, the events, and its questions after events
// were missed.
func TestSearchStreamFails(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		make func(r *listRig)
		want error
	}{
		{"news", func(r *listRig) { r.feed.news = nil }, messages.ErrUnsubscribed},
		{"list", func(r *listRig) { r.src.Entries = failing(r, broken, 2) }, broken},
		{"memory pool", func(r *listRig) {
			r.withPool()
			r.src.Entries = failing(r, broken, 2)
		}, broken},
		{"subscription after lag", func(r *listRig) {
			r.lagging(func() (messages.Subscription, error) { return nil, broken })
		}, broken},
		{"state after lag", func(r *listRig) {
			r.lagging(func() (messages.Subscription, error) {
				r.src.Search = func(context.Context, messages.GetSearch) (s messages.SearchStatus, err error) {
					return s, broken
				}
				return r.feed, nil
			})
		}, broken},
	} {
		r := newListRig(t)
		r.move(r.tip, 3)
		c.make(r)
		s, err := r.src.Open(t.Context(), searchQuery, "", anything)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, err := events(t, s); !errors.Is(err, c.want) {
			t.Errorf("%s: ends with %v, want %v", c.name, err, c.want)
		}
		s.Close()
	}
}

// failing answers as the list, up to a call.
func failing(
	r *listRig, err error, at int,
) func(context.Context, messages.GetSearchEntries) (messages.SearchPage, error) {
	return func(ctx context.Context, q messages.GetSearchEntries) (p messages.SearchPage, _ error) {
		if at--; at <= 0 {
			return p, err
		}
		return r.page(ctx, q)
	}
}

// withPool makes the search look at the memory pool.
func (r *listRig) withPool() {
	search := r.src.Search
	r.src.Search = func(ctx context.Context, q messages.GetSearch) (messages.SearchStatus, error) {
		s, err := search(ctx, q)
		s.Mempool = true
		return s, err
	}
}

// lagging makes the first subscription lose events, and the next one be as again says.
func (r *listRig) lagging(again func() (messages.Subscription, error)) {
	opened := 0
	r.src.Subscribe = func(context.Context, ...messages.EventKind) (messages.Subscription, error) {
		if opened++; opened == 1 {
			return &laggedFeed{before: func() {}}, nil
		}
		return again()
	}
}

// A search that does not look at the memory pool sends nothing again where events were missed. Without unconfirmed
// entries the list comes at once, even if the page announces more unconfirmed entries.
func TestLagWithoutPool(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 1)
	r.feed.news = nil
	r.lagging(func() (messages.Subscription, error) { return r.feed, nil })
	s, err := r.src.Open(t.Context(), searchQuery, "", anything)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := events(t, s)
	var names []string
	for _, e := range list {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "search entry search" {
		t.Errorf("received %s", got)
	}

	r.withPool()
	pages := 0
	r.src.Entries = func(ctx context.Context, q messages.GetSearchEntries) (messages.SearchPage, error) {
		p, err := r.page(ctx, q)
		if q.PoolLimit >= 0 {
			pages++
		}
		p.PoolMore = true
		return p, err
	}
	r.src.Subscribe = func(context.Context, ...messages.EventKind) (messages.Subscription, error) { return r.feed, nil }
	if s, err = r.src.Open(t.Context(), searchQuery, "", anything); err != nil {
		t.Fatal(err)
	}
	if list, _ := events(t, s); len(list) != 2 || list[1].Name != "entry" || pages != 1 {
		t.Errorf("%d events, %d pages of the memory pool", len(list), pages)
	}
}

// Entries wait for their confirmations where these are known; where the chain is not open each entry of the list
// has one.
func TestEntriesWaitForConfirmations(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 5)
	for minConf, want := range map[string]int{"1": 5, "2": 4, "5": 1, "6": 0} {
		s, err := r.src.Open(t.Context(), searchQuery+"&minconf="+minConf, "", anything)
		if err != nil {
			t.Fatal(err)
		}
		r.feed.news = nil
		if list, _ := events(t, s); len(list) != 1+want {
			t.Errorf("minconf=%s: %d events, want the state and %d entries", minConf, len(list), want)
		}
	}
	if got := confirmationsOf(nil, &messages.SearchEntry{Height: 3}); got != 1 {
		t.Errorf("%d confirmations without a chain", got)
	}
}
