package eventstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// searchID is that of the one search of a listRig.
const searchID = "00000000000000aa"

// A listRig has a search that finds one entry in each block.
type listRig struct {
	*rig

	list []messages.SearchEntry
	tip  *chainview.Block
}

func newListRig(t *testing.T) *listRig {
	t.Helper()
	r := &listRig{rig: newRig(t)}
	r.tip = r.chain.Active().Tip()
	r.src.Search = func(_ context.Context, q messages.GetSearch) (s messages.SearchStatus, err error) {
		if !strings.EqualFold(q.ID, searchID) {
			return s, messages.ErrSearchNotFound
		}
		return messages.SearchStatus{ID: searchID, Name: "shop", State: messages.SearchFollowing}, nil
	}
	r.src.Entries = r.page
	return r
}

// page answers with at most seven entries; a cursor is how many were before.
func (r *listRig) page(_ context.Context, q messages.GetSearchEntries) (p messages.SearchPage, err error) {
	if !strings.EqualFold(q.ID, searchID) {
		return p, messages.ErrSearchNotFound
	}
	p.Height, p.Block, p.State = r.tip.Height, r.tip.Hash, messages.SearchFollowing
	from := 0
	if q.Cursor != "" {
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 || from > len(r.list) {
			return p, messages.ErrBadCursor
		}
	}
	to := min(from+min(q.Limit, 7), len(r.list))
	p.Entries, p.More = slices.Clone(r.list[from:to]), to < len(r.list)
	for i := range p.Entries {
		p.Entries[i].Cursor = strconv.Itoa(from + i + 1)
	}
	return p, nil
}

// move makes blocks on a block of the chain, and has the search and the events follow.
func (r *listRig) move(on *chainview.Block, blocks int) {
	for range blocks {
		on = r.chain.MineOn(on, chaintest.Template{Version: int32(len(r.list)) + 0x20000000})
	}
	tip := r.chain.Active().Tip()
	fork := r.chain.Active().ForkHeight(r.tip)
	for b := range r.tip.Above(fork) {
		r.list = append(r.list, messages.SearchEntry{Type: messages.SearchDisconnect, Height: b.Height, Block: b.Hash})
	}
	for h := fork + 1; h <= tip.Height; h++ {
		b := r.chain.Active().At(h)
		r.list = append(r.list, messages.SearchEntry{Type: messages.SearchBlock, Height: h, Block: b.Hash})
	}
	r.tip = tip
	r.feed.news = append(r.feed.news, messages.TipChanged{}, messages.SearchFound{ID: searchID})
}

// received reads a stream to its end and returns its last id.
func (r *listRig) received(query, last string, at most, each func(name string, data []byte)) string {
	r.t.Helper()
	s, err := r.src.Open(r.t.Context(), query, last, anything)
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	for at > 0 {
		e, err := s.Next(r.t.Context())
		if err != nil {
			break
		}
		at--
		each(e.Name, e.Data)
		last = e.ID
	}
	return last
}

// most is how many events are read.
type most int

// A reader that adds up the events of a stream, through cuts and reorganisations, has the entries in the chain
// with so many confirmations, each entry once.
func TestSearchStream(t *testing.T) {
	for _, minConf := range []int32{1, 2, 6} {
		t.Run(fmt.Sprintf("minconf=%d", minConf), func(t *testing.T) {
			r := newListRig(t)
			random := rand.New(rand.NewPCG(1, uint64(minConf)))
			query := fmt.Sprintf("topics=search&search=%s&minconf=%d", searchID, minConf)
			held := []string{}
			last := ""
			for range 300 {
				on := r.tip
				for range random.IntN(4) * random.IntN(3) {
					if on.Parent != nil {
						on = on.Parent
					}
				}
				r.move(on, 1+random.IntN(8))
				last = r.received(query, last, most(random.IntN(40)), func(name string, data []byte) {
					held = take(t, held, name, data)
				})
			}
			r.move(r.tip, int(minConf))
			last = r.received(query, last, 10_000, func(name string, data []byte) { held = take(t, held, name, data) })
			var want []string
			for h := int32(1); h <= r.tip.Height-minConf+1; h++ {
				want = append(want, r.chain.Active().At(h).Hash.String())
			}
			if !slices.Equal(held, want) {
				t.Errorf("%d blocks are held, want %d", len(held), len(want))
			}
			again := 0
			r.received(query, last, 100, func(name string, _ []byte) {
				if name == "entry" {
					again++
				}
			})
			if again > 0 {
				t.Errorf("%d entries are sent again", again)
			}
		})
	}
}

// take adds an entry up.
func take(t *testing.T, held []string, name string, data []byte) []string {
	t.Helper()
	var e struct{ Type, BlockHash string }
	if err := json.Unmarshal(data, &e); err != nil || name != "entry" {
		return held
	}
	if at := slices.Index(held, e.BlockHash); e.Type == "disconnect" {
		if at >= 0 && at != len(held)-1 {
			t.Errorf("a block leaves before those above it")
		}
		if at >= 0 {
			held = held[:at]
		}
		return held
	} else if at >= 0 {
		t.Error("an entry is sent twice")
	}
	return append(held, e.BlockHash)
}

// Queries without an answer are refused in words. A reader whose cursor has no place in the list is told to
// begin again.
func TestSearchStreamRefused(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 3)
	for query, want := range map[string]string{
		"topics=search,tip&search=" + searchID:            errAlone.Error(),
		"topics=search&cursor=1":                          errNoID.Error(),
		"topics=search&minconf=2":                         errNoID.Error(),
		"topics=search&search=" + searchID + "&minconf=0": errMinConf.Error(),
		"topics=search&search=" + searchID + "&minconf=x": errMinConf.Error(),
		"topics=search&search=" + searchID + "&cursor=x":  "Invalid cursor",
		"topics=search&search=":                           "Search not found",
		"topics=search&search=00":                         "Search not found",
	} {
		if _, err := r.src.Open(t.Context(), query, "", anything); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
	var names []string
	r.received("topics=search&search="+searchID, "zz", 100, func(name string, _ []byte) { names = append(names, name) })
	if got := strings.Join(names, " "); got != "reset search entry entry entry" {
		t.Error(got)
	}
	r.src.Search = nil
	_, err := r.src.Open(t.Context(), "topics=search&search="+searchID, "", anything)
	if !errors.Is(err, errNoSearches) {
		t.Error(err)
	}
}

// Events of the search are sent as they come, and its end when it is removed.
func TestSearchEvents(t *testing.T) {
	r := newListRig(t)
	pool := messages.SearchPool{ID: searchID, Name: "shop", Entry: messages.SearchEntry{
		Type: messages.SearchReceive, Height: -1, Amount: 5, Index: 7, Object: "wpkh(...)",
	}}
	gone := pool
	gone.Removed = true
	other := pool
	other.ID = "00000000000000bb"
	status := messages.SearchStatus{ID: searchID, State: messages.SearchPaused}
	r.feed.news = []messages.News{
		pool, other,
		messages.SearchChanged{SearchStatus: messages.SearchStatus{ID: other.ID}},
		messages.SearchChanged{SearchStatus: status},
		gone,
		messages.SearchChanged{SearchStatus: status, Removed: true},
		pool,
	}
	news := slices.Clone(r.feed.news)
	var lines []string
	r.received("topics=search&search="+searchID, "", 100, func(name string, data []byte) {
		lines = append(lines, name+" "+string(data))
	})
	names := func(lines []string) (n []string) {
		for _, l := range lines {
			name, _, _ := strings.Cut(l, " ")
			n = append(n, name)
		}
		return n
	}
	if got := strings.Join(names(lines), " "); got != "search pool search poolremoved search" {
		t.Fatal(got)
	}
	if !strings.Contains(lines[1], `"id":"`+searchID+`","name":"shop","entry":{"type":"receive","amount":0.00000005,`) ||
		!strings.Contains(lines[1], `"desc":"wpkh(...)","index":7}`) || strings.Contains(lines[1], "height") {
		t.Error(lines[1])
	}
	if !strings.HasSuffix(lines[4], `"removed":true}`) || !strings.HasSuffix(lines[2], `"removed":false}`) {
		t.Error(lines[4])
	}

	// The stream of all searches has the same of all.
	r.feed.news = append(news, messages.SearchFound{
		ID: searchID, Name: "shop", Cursor: "12",
		Entries: []messages.SearchEntry{{Type: messages.SearchDisconnect, Height: 3}},
	})
	got := strings.Join(r.rig.received("topics=search", ""), "\n")
	for _, want := range []string{
		` found {"id":"` + searchID + `","name":"shop","entries":[{"type":"disconnect","height":3,`, `"cursor":"12"}`,
		` poolremoved {"id":`, ` pool {"id":"` + other.ID, ` search {"search":{"id":"` + other.ID,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// A reader that has missed events goes on behind the last entry, and gets the entries in the memory pool again.
func TestSearchStreamLagged(t *testing.T) {
	r := newListRig(t)
	lagged, opened := &laggedFeed{}, 0
	r.src.Subscribe = func(context.Context, ...messages.EventKind) (messages.Subscription, error) {
		if opened++; opened == 1 {
			return lagged, nil
		}
		return r.feed, nil
	}
	search, page := r.src.Search, r.src.Entries
	r.src.Search = func(ctx context.Context, q messages.GetSearch) (messages.SearchStatus, error) {
		s, err := search(ctx, q)
		s.Mempool = true
		return s, err
	}
	r.src.Entries = func(ctx context.Context, q messages.GetSearchEntries) (messages.SearchPage, error) {
		p, err := page(ctx, q)
		p.Unconfirmed = []messages.SearchEntry{{Type: messages.SearchReceive, Height: -1, Index: -1}}
		return p, err
	}
	lagged.before = func() {
		r.move(r.tip, 2)
		r.feed.news = nil // they are among those that were missed
	}
	var names []string
	r.received("topics=search&search="+searchID, "", 100, func(name string, _ []byte) { names = append(names, name) })
	if got := strings.Join(names, " "); got != "search pool reset search pool entry entry" || !lagged.closed {
		t.Error(got)
	}
}

// laggedFeed is a subscription that has lost events.
type laggedFeed struct {
	before func()
	closed bool
}

func (f *laggedFeed) Next(context.Context) (messages.Event, error) {
	f.before()
	return messages.Event{}, messages.ErrLagged
}

func (f *laggedFeed) Close() { f.closed = true }

// The entries in the memory pool are sent first, page by page, then the list; changes meanwhile come
// afterwards.
func TestSearchStreamPool(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 20)
	const pool = 3*searchPage + 7
	r.src.Search = func(context.Context, messages.GetSearch) (messages.SearchStatus, error) {
		return messages.SearchStatus{ID: searchID, State: messages.SearchFollowing, Mempool: true}, nil
	}
	pages := 0
	r.src.Entries = func(ctx context.Context, q messages.GetSearchEntries) (messages.SearchPage, error) {
		p, err := r.page(ctx, q)
		if q.PoolLimit < 0 {
			return p, err
		}
		pages++
		from := 0
		if q.PoolCursor != "" {
			from, _ = strconv.Atoi(q.PoolCursor)
		}
		to := min(from+q.PoolLimit, pool)
		for n := from; n < to; n++ {
			p.Unconfirmed = append(p.Unconfirmed, messages.SearchEntry{
				Type: messages.SearchReceive, Height: -1, Index: -1, Amount: int64(n),
			})
		}
		p.PoolCursor, p.PoolMore = strconv.Itoa(to), to < pool
		return p, err
	}
	r.feed.news = append(r.feed.news, messages.SearchPool{ID: searchID, Removed: true, Entry: messages.SearchEntry{
		Type: messages.SearchReceive, Height: -1,
	}})
	var names []string
	r.received("topics=search&search="+searchID, "", 1+pool+20+1, func(name string, _ []byte) {
		if n := len(names); n == 0 || names[n-1] != name {
			names = append(names, name)
		}
	})
	if got := strings.Join(names, " "); got != "search pool entry poolremoved" || pages != 4 {
		t.Errorf("received %s, in %d pages of the pool", got, pages)
	}
}

// An entry whose block has left the chain is sent if the block comes back before the search has seen that.
func TestSearchStreamComesBack(t *testing.T) {
	r := newListRig(t)
	genesis := r.tip
	r.move(genesis, 3)
	on := r.tip
	other := genesis
	for range 5 {
		other = r.chain.MineOn(other, chaintest.Template{Version: 0x20000001})
	}
	stream, err := r.src.Open(t.Context(), "topics=search&minconf=2&search="+searchID, "", anything)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	entries := func() (n int) {
		for {
			e, err := stream.Next(t.Context())
			if err != nil {
				return n
			}
			if e.Name == "entry" {
				n++
			}
		}
	}
	if n := entries(); n > 0 || r.chain.Active().Tip() != other {
		t.Fatalf("%d entries of blocks that are not in the chain", n)
	}
	r.move(on, 4)
	if n := entries(); n != 6 {
		t.Errorf("%d entries, want 6", n)
	}
}

// News of a search reach who asked for it in capitals.
func TestSearchStreamCapitals(t *testing.T) {
	r := newListRig(t)
	r.feed.news = []messages.News{messages.SearchChanged{
		SearchStatus: messages.SearchStatus{ID: searchID, State: messages.SearchPaused},
	}}
	var names []string
	r.received("topics=search&search="+strings.ToUpper(searchID), "", 100, func(name string, _ []byte) {
		names = append(names, name)
	})
	if got := strings.Join(names, " "); got != "search search" {
		t.Error(got)
	}
}
