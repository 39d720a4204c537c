package peers_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/store/segment"
)

// tall is the height of the chain in these tests: more than one list of headers.
const tall = 2105

// A library is a node with a chain, and a peer that asks it.
type library struct {
	*remote
	t       testing.TB
	n       *node
	chain   *chaintest.Chain
	store   *segment.Store
	entries map[chainhash.Hash]segment.Entry
}

func openLibrary(tb testing.TB, wishes ...func(*peers.Config)) *library {
	tb.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	l := &library{t: tb, chain: chaintest.New(net.Params), entries: make(map[chainhash.Hash]segment.Entry)}
	l.chain.MineN(tall)
	if l.store, err = segment.Open(segment.Options{Dir: tb.TempDir(), Log: slog.New(slog.DiscardHandler)}); err != nil {
		tb.Fatal(err)
	}
	l.index(l.chain.Active().Tip())
	view := new(chainview.Current)
	view.Set(l.chain)
	l.n = start(tb, append(wishes, func(c *peers.Config) {
		c.Chain, c.Filters, c.Services = view, l.store, c.Services|wire.SFNodeCF
	})...)
	tb.Cleanup(func() { _ = l.store.Close() })
	l.remote, _ = connect(tb, l.n)
	return l
}

// index makes the filters of a block and all before it that have none.
func (l *library) index(tip *chainview.Block) {
	l.t.Helper()
	var missing []*chainview.Block
	for b := tip; b != nil; b = b.Parent {
		if _, ok := l.entries[b.Hash]; ok {
			break
		}
		missing = append(missing, b)
	}
	var builder filters.Builder
	var list []segment.Entry
	for _, b := range slices.Backward(missing) {
		raw, err := l.chain.Raw(&b.Hash)
		if err != nil {
			l.t.Fatal(err)
		}
		filter, err := builder.BuildBlock(&b.Hash, raw, wire.MaxBlockHeaderPayload, nil)
		if err != nil {
			l.t.Fatal(err)
		}
		e := segment.Entry{Block: b.Hash, Height: b.Height, FilterHash: chainhash.DoubleHashH(filter), Filter: filter}
		var prev chainhash.Hash
		if b.Parent != nil {
			e.Prev, prev = b.Parent.Hash, l.entries[b.Parent.Hash].Header
		}
		e.Header = filters.Header(&e.FilterHash, &prev)
		l.entries[b.Hash] = e
		list = append(list, e)
	}
	if err := l.store.Append(list); err != nil {
		l.t.Fatal(err)
	}
}

// reorganise replaces the tip by a longer branch, and returns it.
func (l *library) reorganise() (stale *chainview.Block) {
	stale = l.at(tall)
	b := l.chain.MineOn(stale.Parent, chaintest.Template{Script: []byte{0x52}})
	l.chain.MineOn(b, chaintest.Template{})
	return stale
}

func (l *library) at(height int32) *chainview.Block { return l.chain.Active().At(height) }

// question sends a request whose answer is known.
func (l *library) question() error {
	return l.Send(&wire.MsgGetHeaders{BlockLocatorHashes: []*chainhash.Hash{{0xee}}, HashStop: l.at(1).Hash})
}

func (l *library) isAnswer(m wire.Message) bool {
	h, ok := m.(*codec.Headers)
	return ok && len(h.List) == 1 && h.List[0].BlockHash() == l.at(1).Hash
}

// isAnswered waits for the answer to the question, or for the end of the session.
func (l *library) isAnswered() bool {
	l.t.Helper()
	for {
		select {
		case m := <-l.inbox:
			if l.isAnswer(m.Message) {
				return true
			}
		case <-l.ended:
			return false
		case <-time.After(patience):
			l.t.Fatal("neither answered nor left")
		}
	}
}

// ask sends a request and returns what comes before the answer to the question
// that follows it.
func (l *library) ask(request wire.Message) []wire.Message {
	l.t.Helper()
	if err := errors.Join(l.Send(request), l.question()); err != nil {
		l.t.Fatal(err)
	}
	var got []wire.Message
	for {
		select {
		case m := <-l.inbox:
			if l.isAnswer(m.Message) {
				return got
			}
			if m.Command() != codec.CmdSendCmpct { // of the handshake
				got = append(got, m.Message)
			}
		case <-time.After(patience):
			l.t.Fatalf("%s: no answer", request.Command())
		}
	}
}

func first[M wire.Message](t *testing.T, list []wire.Message) M {
	t.Helper()
	for _, m := range list {
		if got, ok := m.(M); ok {
			return got
		}
	}
	t.Fatalf("no answer among %d messages", len(list))
	panic("unreachable")
}

func TestServesHeaders(t *testing.T) {
	l := openLibrary(t)
	headers := func(stop chainhash.Hash, locator ...*chainhash.Hash) []wire.BlockHeader {
		return first[*codec.Headers](t, l.ask(&wire.MsgGetHeaders{BlockLocatorHashes: locator, HashStop: stop})).List
	}
	for _, test := range []struct {
		name    string
		locator []*chainhash.Hash
		stop    chainhash.Hash
		from    int32
		count   int
	}{
		{"from the genesis block, 2000 at a time", []*chainhash.Hash{&l.at(0).Hash}, chainhash.Hash{}, 1, 2000},
		{"the rest", []*chainhash.Hash{&l.at(2000).Hash}, chainhash.Hash{}, 2001, tall - 2000},
		{"up to a block", []*chainhash.Hash{&l.at(10).Hash}, l.at(13).Hash, 11, 3},
		{"the first hash known counts", []*chainhash.Hash{{1}, &l.at(5).Hash, &l.at(3).Hash}, l.at(6).Hash, 6, 1},
		{"nothing known", []*chainhash.Hash{{1}}, l.at(2).Hash, 1, 2},
		{"nothing beyond the tip", []*chainhash.Hash{&l.at(tall).Hash}, chainhash.Hash{}, 0, 0},
		{"no locator names a block", nil, l.at(7).Hash, 7, 1},
	} {
		got := headers(test.stop, test.locator...)
		if len(got) != test.count {
			t.Errorf("%s: got %d headers", test.name, len(got))
			continue
		}
		for i := range got {
			if got[i].BlockHash() != l.at(test.from+int32(i)).Hash {
				t.Errorf("%s: header %d is another", test.name, i)
			}
		}
	}
	stale := l.reorganise()
	if got := headers(stale.Hash); len(got) != 1 || got[0].BlockHash() != stale.Hash {
		t.Errorf("a stale block's header: got %d", len(got))
	}
	inv := first[*wire.MsgInv](t, l.ask(&wire.MsgGetBlocks{BlockLocatorHashes: []*chainhash.Hash{&l.at(0).Hash}}))
	if len(inv.InvList) != 500 || inv.InvList[499].Hash != l.at(500).Hash {
		t.Errorf("getblocks: got %d", len(inv.InvList))
	}
}

func TestServesBlocks(t *testing.T) {
	l := openLibrary(t)
	tip := l.at(tall)
	data := func(typ wire.InvType, b *chainview.Block) []wire.Message {
		return l.ask(&wire.MsgGetData{InvList: []*wire.InvVect{{Type: typ, Hash: b.Hash}}})
	}
	for _, typ := range []wire.InvType{wire.InvTypeBlock, wire.InvTypeWitnessBlock, 4} {
		got := first[*wire.MsgBlock](t, data(typ, l.at(tall-6)))
		if got.BlockHash() != l.at(tall-6).Hash {
			t.Errorf("type %d: another block", typ)
		}
		var b bytes.Buffer
		if err := got.Serialize(&b); err != nil {
			t.Fatal(err)
		}
		raw, _ := l.chain.Raw(&l.at(tall - 6).Hash)
		if !bytes.Equal(b.Bytes(), raw) {
			t.Errorf("type %d: other bytes", typ)
		}
	}
	if got := first[*codec.CmpctBlock](t, data(4, l.at(tall-5))); got.Header.BlockHash() != l.at(tall-5).Hash ||
		len(got.Prefilled) != 1 {
		t.Errorf("compact block: got %+v", got)
	}
	for _, test := range []struct {
		name string
		typ  wire.InvType
		hash chainhash.Hash
	}{
		{"unknown block", wire.InvTypeBlock, chainhash.Hash{1}},
		{"filtered block without a filter", wire.InvTypeFilteredBlock, tip.Hash},
		{"unknown type", 99, tip.Hash},
	} {
		if got := l.ask(&wire.MsgGetData{InvList: []*wire.InvVect{{Type: test.typ, Hash: test.hash}}}); len(got) != 0 {
			t.Errorf("%s: got %s", test.name, got[0].Command())
		}
	}
	if got := first[*wire.MsgNotFound](t, data(wire.InvTypeTx, tip)); got.InvList[0].Hash != tip.Hash {
		t.Errorf("transaction: got %+v", got)
	}
	txs := first[*codec.BlockTxn](t, l.ask(&codec.GetBlockTxn{Block: tip.Hash, Indexes: []uint16{0}}))
	if len(txs.Txs) != 1 || txs.Block != tip.Hash {
		t.Errorf("got %+v", txs)
	}
	deep := first[*wire.MsgBlock](t, l.ask(&codec.GetBlockTxn{Block: l.at(1).Hash}))
	if deep.BlockHash() != l.at(1).Hash {
		t.Error("a deep block's transactions: another block")
	}
	// A block whose witnesses were deleted is given to peers that ask for it without witnesses.
	l.chain.SetStatus(l.at(2), l.at(2).Status()|chainview.Stripped)
	lost := first[*wire.MsgNotFound](t, data(wire.InvTypeWitnessBlock, l.at(2)))
	want := wire.InvVect{Type: wire.InvTypeWitnessBlock, Hash: l.at(2).Hash}
	if len(lost.InvList) != 1 || *lost.InvList[0] != want {
		t.Errorf("without its witnesses: got %+v", lost)
	}
	first[*wire.MsgNotFound](t, l.ask(&codec.GetBlockTxn{Block: l.at(2).Hash}))
	for _, typ := range []wire.InvType{wire.InvTypeBlock, 4} {
		if got := first[*wire.MsgBlock](t, data(typ, l.at(2))); got.BlockHash() != l.at(2).Hash {
			t.Errorf("type %d: another block", typ)
		}
	}
	if err := l.Send(&codec.GetBlockTxn{Block: tip.Hash, Indexes: []uint16{1}}); err != nil {
		t.Fatal(err)
	}
	left(t, l.remote, "index out of range")
}

func TestServesFilters(t *testing.T) {
	l := openLibrary(t)
	stop := l.at(1500)
	got := l.ask(&wire.MsgGetCFilters{StartHeight: 501, StopHash: stop.Hash})
	if len(got) != 1000 {
		t.Fatalf("got %d filters", len(got))
	}
	for i, m := range got {
		f := m.(*wire.MsgCFilter)
		if e := l.entries[l.at(int32(501+i)).Hash]; f.BlockHash != e.Block || !bytes.Equal(f.Data, e.Filter) {
			t.Fatalf("filter %d is another", i)
		}
	}
	headers := first[*wire.MsgCFHeaders](t, l.ask(&wire.MsgGetCFHeaders{StartHeight: 10, StopHash: stop.Hash}))
	if len(headers.FilterHashes) != 1491 || headers.PrevFilterHeader != l.entries[l.at(9).Hash].Header ||
		*headers.FilterHashes[1490] != l.entries[stop.Hash].FilterHash || headers.StopHash != stop.Hash {
		t.Errorf("got %d filter hashes", len(headers.FilterHashes))
	}
	points := first[*wire.MsgCFCheckpt](t, l.ask(&wire.MsgGetCFCheckpt{StopHash: l.at(tall).Hash}))
	if len(points.FilterHeaders) != 2 || *points.FilterHeaders[1] != l.entries[l.at(2000).Hash].Header {
		t.Errorf("got %+v", points)
	}
	// A branch that is not active is known too.
	stale := l.reorganise()
	if got := l.ask(&wire.MsgGetCFilters{StartHeight: uint32(stale.Height), StopHash: stale.Hash}); len(got) != 1 {
		t.Errorf("filters of a stale block: got %d", len(got))
	}
}

// A peer that asks for filters that cannot be is left, as Core does.
func TestBadFilterRequests(t *testing.T) {
	l := openLibrary(t)
	for _, test := range []struct {
		name string
		m    wire.Message
	}{
		{"unknown type", &wire.MsgGetCFilters{FilterType: 255, StopHash: l.at(1).Hash}},
		{"too many filters", &wire.MsgGetCFilters{StartHeight: 0, StopHash: l.at(1000).Hash}},
		{"too many headers", &wire.MsgGetCFHeaders{StartHeight: 0, StopHash: l.at(2000).Hash}},
		{"unknown block", &wire.MsgGetCFilters{StopHash: chainhash.Hash{1}}},
		{"start after stop", &wire.MsgGetCFilters{StartHeight: 1000, StopHash: l.at(999).Hash}},
		{"checkpoints of an unknown block", &wire.MsgGetCFCheckpt{StopHash: chainhash.Hash{1}}},
		{"bloom filter", &wire.MsgFilterClear{}},
		{"mempool", &wire.MsgMemPool{}},
	} {
		if err := l.Send(test.m); err != nil {
			t.Fatal(err)
		}
		left(t, l.remote, test.name)
		l.remote, _ = connect(t, l.n)
	}
}

// A peer misbehaves if it asks for a transaction which its block does not have, and is disconnected.
func TestTransactionsOutOfBounds(t *testing.T) {
	var log textLog
	l := openLibrary(t, func(c *peers.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	if err := l.Send(&codec.GetBlockTxn{Block: l.at(tall).Hash, Indexes: []uint16{0, 1}}); err != nil {
		t.Fatal(err)
	}
	left(t, l.remote, "index out of range")
	l.n.peersOf(t, 0)
	if !strings.Contains(log.String(), "getblocktxn with out-of-bounds tx indices") {
		t.Error("left for another reason")
	}
}
