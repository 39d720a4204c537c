package eventstream

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
)

// A query names topics, each once, and of a search where to go on and how many confirmations to wait for.
func TestQuery(t *testing.T) {
	tip, peer, search := messages.EventTip, messages.EventPeer, messages.EventSearch
	for text, want := range map[string]query{
		"topics=tip":                  {kinds: []messages.EventKind{tip}, minConf: 1},
		"topics=peer,tip,peer":        {kinds: []messages.EventKind{peer, tip}, minConf: 1},
		"topics=peer&topics=tip,peer": {kinds: []messages.EventKind{peer, tip}, minConf: 1},
		"topics=tip,mempool,peer,scan,wallet,search": {kinds: []messages.EventKind{
			tip, messages.EventPool, peer, messages.EventScan, messages.EventWallet, search,
		}, minConf: 1},
		"topics=search": {kinds: []messages.EventKind{search}, minConf: 1},
		"topics=search&search=a&cursor=b&minconf=7": {
			kinds: []messages.EventKind{search}, search: "a", cursor: "b", minConf: 7,
		},
		"topics=search&search=a&search=b&cursor=": {
			kinds: []messages.EventKind{search}, search: "a", minConf: 1,
		},
		"topics=search&search=a&minconf=100000": {kinds: []messages.EventKind{search}, search: "a", minConf: 100_000},
	} {
		got, err := parse(text)
		if err != nil || !slices.Equal(got.kinds, want.kinds) || got.search != want.search ||
			got.cursor != want.cursor || got.minConf != want.minConf {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                      errTopics.Error(),
		"topics=":                               `Unknown topic ""`,
		"topics=tip,":                           `Unknown topic ""`,
		"topics=Tip":                            `Unknown topic "Tip"`,
		"topics=%zz":                            errQuery.Error(),
		"topics=tip&x=1":                        `Unknown parameter "x"`,
		"topics=tip&search=a":                   errAlone.Error(),
		"topics=search,peer&search=a":           errAlone.Error(),
		"topics=tip&search=":                    errAlone.Error(),
		"topics=search&cursor=":                 errNoID.Error(),
		"topics=search&search=a&minconf=100001": errMinConf.Error(),
		"topics=search&search=a&minconf=":       errMinConf.Error(),
	} {
		if got, err := parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v; want %s", text, got, err, want)
		}
	}
}

// A stream of one search needs one of the two methods that show the same, and goes on behind a cursor for a client
// that may read entries.
func TestRightsToSearch(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 3)
	for _, c := range []struct {
		methods []string
		first   string // event
		err     error
	}{
		{[]string{"getsearch", "getsearchentries"}, "search", nil},
		{[]string{"getsearchentries"}, "search", nil},
		{[]string{"getsearch"}, "reset", nil},
		{[]string{"getbestblockhash"}, "", errNotForYou},
	} {
		may := func(method string) bool { return slices.Contains(c.methods, method) }
		s, err := r.src.Open(t.Context(), "topics=search&search="+searchID, "2", may)
		if !errors.Is(err, c.err) {
			t.Errorf("%v: %v, want %v", c.methods, err, c.err)
		}
		if err != nil {
			continue
		}
		if e, err := s.Next(t.Context()); err != nil || e.Name != c.first || e.IDMethod != "getsearchentries" {
			t.Errorf("%v: %+v, %v; want %s", c.methods, e, err, c.first)
		}
	}
}

// A stream that cannot begin says why in words that are for clients, and leaves no subscription open; a stream that
// is closed closes its own.
func TestOpenFails(t *testing.T) {
	const none, list = "There are no events now", "topics=search&search=" + searchID
	internal := errors.New("internal")
	for _, c := range []struct {
		name   string
		query  string
		change func(s *Source)
		want   string // empty: it opens
	}{
		{"tips", "topics=tip", func(*Source) {}, ""},
		{"a search", list, func(*Source) {}, ""},
		{"no chain", "topics=tip", func(s *Source) { s.Chain = new(chainview.Current) }, "There is no chain yet"},
		{"no search by this identifier", "topics=search&search=00", func(*Source) {}, "Search not found"},
		{"no news", "topics=tip", func(s *Source) { s.Subscribe = refuse(internal) }, none},
		{"no news of a search", list, func(s *Source) { s.Subscribe = refuse(internal) }, none},
		{"no searches", list, func(s *Source) { s.Search = nil }, errNoSearches.Error()},
		{"no entries", list, func(s *Source) { s.Entries = nil }, errNoSearches.Error()},
		{"the state cannot be read", list, func(s *Source) {
			s.Search = func(context.Context, messages.GetSearch) (m messages.SearchStatus, err error) {
				return m, internal
			}
		}, none},
		{"the list cannot be read", list, func(s *Source) {
			s.Entries = func(context.Context, messages.GetSearchEntries) (p messages.SearchPage, err error) {
				return p, internal
			}
		}, none},
	} {
		r := newListRig(t)
		opened := 0
		r.src.Subscribe = func(context.Context, ...messages.EventKind) (messages.Subscription, error) {
			opened++
			return r.feed, nil
		}
		c.change(r.src)
		s, err := r.src.Open(t.Context(), c.query, "", anything)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		case err == nil:
			if opened != 1 || r.feed.closed != 0 {
				t.Errorf("%s: %d subscriptions, %d closed", c.name, opened, r.feed.closed)
			}
			s.Close()
		}
		if r.feed.closed != opened {
			t.Errorf("%s: %d subscriptions of %d are closed", c.name, r.feed.closed, opened)
		}
	}
}

func refuse(err error) func(context.Context, ...messages.EventKind) (messages.Subscription, error) {
	return func(context.Context, ...messages.EventKind) (messages.Subscription, error) { return nil, err }
}

// A stream asks for the events of its topics alone; a stream of one search for those of searches and tips.
func TestSubscribesToTopics(t *testing.T) {
	r := newListRig(t)
	var asked []messages.EventKind
	r.src.Subscribe = func(_ context.Context, kinds ...messages.EventKind) (messages.Subscription, error) {
		asked = kinds
		return r.feed, nil
	}
	for text, want := range map[string][]messages.EventKind{
		"topics=peer,scan":                 {messages.EventPeer, messages.EventScan},
		"topics=search":                    {messages.EventSearch},
		"topics=search&search=" + searchID: {messages.EventSearch, messages.EventTip},
	} {
		if _, err := r.src.Open(t.Context(), text, "", anything); err != nil || !slices.Equal(asked, want) {
			t.Errorf("%s: %v, %v", text, asked, err)
		}
	}
}

// events reads a stream to its end.
func events(t *testing.T, s rpc.EventStream) (list []rpc.StreamEvent, err error) {
	t.Helper()
	for {
		e, err := s.Next(t.Context())
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
}
