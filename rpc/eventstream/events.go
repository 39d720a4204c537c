// Package eventstream makes the streams of GET /events from the announcements of a node.
//
// # Ids
//
// The id of an event is the block up to which the reader knows the chain. A client that comes
// back with an id gets the tips since that block. Other events cannot be sent again: a stream
// that has other topics too, or starts from an unknown block, begins with an event "reset". In
// the stream of one search the id is a cursor of its list, and no entry is missed or sent
// again.
package eventstream

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

// maxReplayed bounds the tips that are sent again.
const maxReplayed = 10_000

// topics are the kinds of events by the names of their topics.
var topics = map[string]messages.EventKind{
	"tip": messages.EventTip, "mempool": messages.EventPool, "peer": messages.EventPeer,
	"scan": messages.EventScan, "wallet": messages.EventWallet, "search": messages.EventSearch,
}

// Source makes streams. Its fields are to be set.
type Source struct {
	Chain     *chainview.Current
	Subscribe func(context.Context, ...messages.EventKind) (messages.Subscription, error)
	Print     *searchrpc.Printer

	// Search and Entries read searches, with the errors of [messages.GetSearch] and
	// [messages.GetSearchEntries]. Nil: there are none.
	Search  func(context.Context, messages.GetSearch) (messages.SearchStatus, error)
	Entries func(context.Context, messages.GetSearchEntries) (messages.SearchPage, error)
}

// query is what a request asks for.
type query struct {
	kinds   []messages.EventKind
	search  string // the id of the search whose entries are asked for; empty: of none
	cursor  string
	minConf int32
}

//nolint:staticcheck // for the client
var (
	errTopics    = errors.New("Which topics? topics=tip,mempool,peer,scan,wallet,search")
	errQuery     = errors.New("The query cannot be read")
	errAlone     = errors.New("search=ID goes with topics=search alone")
	errNoID      = errors.New("cursor and minconf go with search=ID")
	errNotForYou = errors.New("This login may call neither getsearch nor getsearchentries")
	errMinConf   = fmt.Errorf("minconf must be 1 to %d", maxMinConf)
)

// idMethod returns the method that shows what the ids of a stream do: the tip, or a cursor.
func (q *query) idMethod() string {
	if q.search != "" {
		return "getsearchentries"
	}
	return "getbestblockhash"
}

// maxMinConf bounds the confirmations that an entry may wait for.
const maxMinConf = 100_000

// parse reads the query of a request.
func parse(text string) (q query, err error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return q, errQuery
	}
	q.minConf = 1
	for name, list := range values {
		switch name {
		case "topics":
		case "search":
			q.search = list[0]
		case "cursor":
			q.cursor = list[0]
		case "minconf":
			n, err := strconv.ParseInt(list[0], 10, 32)
			if err != nil || n < 1 || n > maxMinConf {
				return q, errMinConf
			}
			q.minConf = int32(n)
		default:
			return q, fmt.Errorf("Unknown parameter %.50q", name) //nolint:staticcheck // for the client
		}
	}
	if q.kinds, err = kindsOf(values["topics"]); err != nil {
		return q, err
	}
	switch {
	case values.Has("search") && !slices.Equal(q.kinds, []messages.EventKind{messages.EventSearch}):
		return q, errAlone
	case !values.Has("search") && (values.Has("cursor") || values.Has("minconf")):
		return q, errNoID
	case values.Has("search") && q.search == "":
		return q, messages.ErrSearchNotFound
	}
	return q, nil
}

func kindsOf(lists []string) (kinds []messages.EventKind, err error) {
	for _, list := range lists {
		for name := range strings.SplitSeq(list, ",") {
			kind, ok := topics[name]
			if !ok {
				return nil, fmt.Errorf("Unknown topic %.50q", name) //nolint:staticcheck // for the client
			}
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) == 0 {
		return nil, errTopics
	}
	return kinds, nil
}

// Open implements rpc.Events.
func (s *Source) Open(ctx context.Context, query, last string, may func(string) bool) (rpc.EventStream, error) {
	q, err := parse(query)
	if err != nil {
		return nil, err
	}
	if last != "" && !may(q.idMethod()) { // which blocks and cursors there are is not for this client either
		last = rpc.HiddenID
	}
	if q.search != "" {
		if !may("getsearch") && !may("getsearchentries") {
			return nil, errNotForYou
		}
		return s.openSearch(ctx, &q, last)
	}
	kinds := q.kinds
	reader := s.Chain.Open()
	if reader == nil {
		return nil, errors.New("There is no chain yet") //nolint:staticcheck // for the client
	}
	events, err := s.Subscribe(ctx, kinds...)
	if err != nil {
		return nil, errors.New("There are no events now") //nolint:staticcheck // for the client
	}
	st := &stream{chain: s.Chain, events: events, tips: slices.Contains(kinds, messages.EventTip)}
	st.print = s.Print
	st.begin(reader, last, len(kinds) > 1 || !st.tips)
	return st, nil
}

// A stream is one reader's.
type stream struct {
	chain  *chainview.Current
	events messages.Subscription
	print  *searchrpc.Printer
	tips   bool
	at     *chainview.Block // the reader knows the chain up to it
	queued []rpc.StreamEvent
}

// begin queues what a reader has to get first. lossy says that there are topics of
// which nothing can be sent again.
func (s *stream) begin(reader chainview.Reader, last string, lossy bool) {
	active := reader.Active()
	s.at = active.Tip()
	if last != "" {
		known := (*chainview.Block)(nil)
		if hash, err := chainhash.NewHashFromStr(last); err == nil && len(last) == 2*chainhash.HashSize {
			known = reader.Lookup(hash)
		}
		if known != nil && active.Height()-active.ForkHeight(known) > maxReplayed {
			known = nil
		}
		if known != nil && s.tips {
			s.at = known // of the reset too: a reader that is lost after it gets the tips again
		}
		if known == nil || lossy {
			s.add("reset", struct{}{}, "")
		}
		if known != nil && s.tips {
			s.moveTo(active)
		}
	}
	s.queued = append(s.queued, rpc.StreamEvent{ID: s.at.Hash.String(), IDMethod: "getbestblockhash"})
}

// Close implements rpc.EventStream.
func (s *stream) Close() { s.events.Close() }

// Next implements rpc.EventStream.
func (s *stream) Next(ctx context.Context) (rpc.StreamEvent, error) {
	for len(s.queued) == 0 {
		e, err := s.events.Next(ctx)
		if err != nil {
			return rpc.StreamEvent{}, err
		}
		s.queueNews(e.News)
	}
	e := s.queued[0]
	s.queued = s.queued[1:]
	return e, nil
}

// add queues an event.
func (s *stream) add(name string, data any, method string) {
	e := eventOf(name, data, method)
	e.ID, e.IDMethod = s.at.Hash.String(), "getbestblockhash"
	s.queued = append(s.queued, e)
}

func eventOf(name string, data any, method string) rpc.StreamEvent {
	line, err := jsontree.Append(nil, data)
	if err != nil {
		panic(err) // all that is sent can be written
	}
	return rpc.StreamEvent{Name: name, Data: line, Method: method}
}

type tipEvent struct {
	Height       int32            `json:"height"`
	Hash         chainhash.Hash   `json:"blockhash"`
	Time         int64            `json:"time"`
	Disconnected []chainhash.Hash `json:"disconnected"` // the highest first
}

// moveTo queues the blocks of the active chain that the reader does not know, in their
// order, the first with those that left the chain.
func (s *stream) moveTo(active *chainview.Chain) {
	tip := active.Tip()
	if tip.Hash == s.at.Hash {
		return
	}
	fork := active.ForkHeight(s.at)
	gone := []chainhash.Hash{}
	for b := range s.at.Above(fork) {
		gone = append(gone, b.Hash)
	}
	first := fork + 1
	if tip.Height-fork > maxReplayed {
		s.add("reset", struct{}{}, "")
		first = tip.Height
	}
	for height := min(first, tip.Height); height <= tip.Height; height++ {
		s.tip(active.At(height), gone)
		gone = []chainhash.Hash{}
	}
}

func (s *stream) tip(b *chainview.Block, gone []chainhash.Hash) {
	s.at = b
	s.add("tip", tipEvent{b.Height, b.Hash, b.Time().Unix(), gone}, "getbestblockhash")
}
