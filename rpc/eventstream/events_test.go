package eventstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

// feed is a subscription whose events are there.
type feed struct {
	news   []messages.News
	closed int // how often
}

func (f *feed) Next(context.Context) (messages.Event, error) {
	if len(f.news) == 0 {
		return messages.Event{}, messages.ErrUnsubscribed
	}
	e := messages.Event{News: f.news[0]}
	f.news = f.news[1:]
	return e, nil
}

func (f *feed) Close() { f.closed++ }

type rig struct {
	t     *testing.T
	chain *chaintest.Chain
	feed  *feed
	src   *Source
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, chain: chaintest.New(&chaincfg.RegressionNetParams), feed: &feed{}}
	current := new(chainview.Current)
	current.Set(r.chain)
	r.src = &Source{
		Print: searchrpc.NewPrinter(dialect.Signet(nil)),
		Chain: current,
		Subscribe: func(context.Context, ...messages.EventKind) (messages.Subscription, error) {
			return r.feed, nil
		},
	}
	return r
}

// received opens a stream and returns all that it sends, a line an event.
func (r *rig) received(query, last string) []string {
	r.t.Helper()
	s, err := r.src.Open(r.t.Context(), query, last, anything)
	if err != nil {
		return []string{err.Error()}
	}
	return r.rest(s)
}

// open opens a stream and reads the id with which it begins.
func (r *rig) open(query string) rpc.EventStream {
	r.t.Helper()
	s, err := r.src.Open(r.t.Context(), query, "", anything)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := s.Next(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// rest returns the rest of a stream.
func (r *rig) rest(s rpc.EventStream) (lines []string) {
	for {
		e, err := s.Next(r.t.Context())
		if err != nil {
			return lines
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.ID[:8], e.Name, e.Data)))
	}
}

func (r *rig) want(got []string, want ...string) {
	r.t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// tip is the line of a tip.
func tip(b *chainview.Block, gone ...*chainview.Block) string {
	list := make([]string, len(gone))
	for i, g := range gone {
		list[i] = `"` + g.Hash.String() + `"`
	}
	return fmt.Sprintf(`%s tip {"height":%d,"blockhash":"%s","time":%d,"disconnected":[%s]}`,
		b.Hash.String()[:8], b.Height, b.Hash, b.Time().Unix(), strings.Join(list, ","))
}

// A client that comes back gets each tip since, in order, over a reorganisation too, and the blocks
// that left the chain. If events cannot be sent again the stream begins with a reset.
func TestReplay(t *testing.T) {
	r := newRig(t)
	a := r.chain.MineN(3)
	old1 := r.chain.MineN(1)
	old2 := r.chain.MineN(1)
	r.want(r.received("topics=tip", ""), old2.Hash.String()[:8])
	r.want(r.received("topics=tip", a.Hash.String()), tip(old1), tip(old2), old2.Hash.String()[:8])
	b := r.chain.MineOn(a, chaintest.Template{Version: 0x20000004})
	c := r.chain.MineOn(b, chaintest.Template{})
	d := r.chain.MineOn(c, chaintest.Template{})
	at := d.Hash.String()[:8]
	r.want(r.received("topics=tip", old2.Hash.String()), tip(b, old2, old1), tip(c), tip(d), at)
	r.want(r.received("topics=tip", d.Hash.String()), at)
	r.want(r.received("topics=tip", strings.Repeat("ab", 32)), at+" reset {}", at)
	r.want(r.received("topics=tip", "7"), at+" reset {}", at)
	r.want(r.received("topics=tip,peer", c.Hash.String()), c.Hash.String()[:8]+" reset {}", tip(d), at)
	r.want(r.received("topics=peer", d.Hash.String()), at+" reset {}", at)
}

// A reader that is more than maxReplayed tips behind gets a reset, and no tip.
func TestReplayIsBounded(t *testing.T) {
	r := newRig(t)
	early := r.open("topics=tip")
	first := r.chain.MineN(1)
	open := r.open("topics=tip")
	r.chain.MineN(maxReplayed)
	if got := r.received("topics=tip", first.Hash.String()); len(got) != maxReplayed+1 {
		t.Errorf("%d events, want a tip for each of %d blocks", len(got), maxReplayed)
	}
	at := r.chain.MineN(1).Hash.String()[:8]
	r.want(r.received("topics=tip", first.Hash.String()), at+" reset {}", at)

	// So does a reader that stayed, but for the last tip, and it knows the chain from then on.
	last := r.chain.Active().Tip()
	for _, s := range []rpc.EventStream{early, open} {
		r.feed.news = []messages.News{messages.TipChanged{}}
		lines := r.rest(s)
		r.want(lines[1:], tip(last))
		if !strings.HasSuffix(lines[0], " reset {}") {
			t.Error(lines[0])
		}
	}
	next := r.chain.MineN(1)
	r.feed.news = []messages.News{messages.TipChanged{}}
	r.want(r.rest(early), tip(next))
}

// Events are sent as JSON; those of tips may have been put together.
func TestEvents(t *testing.T) {
	r := newRig(t)
	s, err := r.src.Open(t.Context(), "topics=tip,mempool&topics=peer,scan,wallet", "", anything)
	if err != nil {
		t.Fatal(err)
	}
	first := r.chain.MineN(1)
	second := r.chain.MineN(1)
	r.feed.news = []messages.News{
		messages.TipChanged{},
		messages.TipChanged{},
		messages.PoolReset{},
		messages.PoolChange{Fee: 1000, VSize: 110, Added: true, Sequence: 3},
		messages.PeerChanged{ID: 2, Addr: "127.0.0.1:8333", Connected: true},
		messages.ScanChanged{Completed: true},
		messages.WalletChanged{Name: "w", Loaded: true},
		messages.WalletRestored{Wallet: "w"},
		messages.WalletRestored{Wallet: "w", WalletBeyond: messages.WalletBeyond{Known: true}},
		messages.WalletRestored{Wallet: "w", WalletBeyond: messages.WalletBeyond{Known: true, Found: true, Gap: 7}},
		messages.WalletTxChanged{Wallet: "w"},
		messages.PoolChange{Sequence: 4},
		messages.PeerChanged{ID: 2, Addr: "x", Inbound: true},
		messages.ScanChanged{
			ScanStatus: messages.ScanStatus{Running: true, Height: 7, Progress: 50, Stage: "matching"},
		},
		messages.WalletChanged{Name: "w"},
		messages.WalletTxChanged{Wallet: "w", Block: &messages.Tip{Height: 5}},
	}
	zero := strings.Repeat("0", 64)
	for i, want := range []string{
		" ",
		strings.Join(strings.Split(tip(first), " ")[1:], " ") + " getbestblockhash",
		strings.Join(strings.Split(tip(second), " ")[1:], " ") + " getbestblockhash",
		`mempool {"type":"reset"} getrawmempool`,
		`mempool {"type":"added","txid":"` + zero + `","wtxid":"` + zero + `","fee":0.00001000,"vsize":110,` +
			`"mempool_sequence":3} getrawmempool`,
		`peer {"type":"connected","id":2,"addr":"127.0.0.1:8333","inbound":false} getpeerinfo`,
		`scan {"running":false,"current_height":0,"progress":0,"completed":true} scanblocks`,
		`wallet {"type":"loaded","wallet":"w"} listwallets`,
		`wallet {"type":"restored","wallet":"w"} checkwallet`,
		`wallet {"type":"restored","wallet":"w","beyond":false} checkwallet`,
		`wallet {"type":"restored","wallet":"w","beyond":true,"gap":7} checkwallet`,
		`wallet {"type":"transaction","wallet":"w","txid":"` + zero + `"} gettransaction`,
		`mempool {"type":"removed","txid":"` + zero + `","wtxid":"` + zero + `","fee":0.00000000,"vsize":0,` +
			`"mempool_sequence":4} getrawmempool`,
		`peer {"type":"disconnected","id":2,"addr":"x","inbound":true} getpeerinfo`,
		`scan {"running":true,"current_height":7,"progress":50,"completed":false,"stage":"matching"} scanblocks`,
		`wallet {"type":"unloaded","wallet":"w"} listwallets`,
		`wallet {"type":"transaction","wallet":"w","txid":"` + zero + `","blockhash":"` + zero +
			`","height":5} gettransaction`,
	} {
		e, err := s.Next(t.Context())
		got := e.Name + " " + string(e.Data) + " " + e.Method
		if err != nil || strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%d: %q, %v, want %q", i, got, err, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("topics=tip", "")
	f.Add("topics=tip,peer&topics=x", strings.Repeat("ab", 32))
	f.Add("topics=%zz&search=1", "-1")
	f.Add("topics=search&search=1&cursor=2&minconf=3", "4")
	f.Fuzz(func(t *testing.T, query, last string) {
		r := newRig(t)
		r.chain.MineN(2)
		for _, line := range r.received(query, last) {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("%q", line)
			}
		}
	})
}

// anything may be called.
func anything(string) bool { return true }

// A client that may not know the tip learns from no id which blocks there are: it always begins anew.
func TestHiddenTip(t *testing.T) {
	r := newRig(t)
	known := r.chain.MineN(1)
	r.chain.MineN(1)
	for _, last := range []string{known.Hash.String(), rpc.HiddenID, strings.Repeat("ab", 32)} {
		s, err := r.src.Open(t.Context(), "topics=tip", last, func(method string) bool { return method == "uptime" })
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Next(t.Context())
		if err != nil || e.Name != "reset" || e.IDMethod != "getbestblockhash" {
			t.Errorf("after %s: %+v, %v", last, e, err)
		}
		e, err = s.Next(t.Context())
		if err != nil || e.Name != "" || e.IDMethod != "getbestblockhash" {
			t.Errorf("after %s: %+v, %v", last, e, err)
		}
		s.Close()
	}
	r.src.Search = func(context.Context, messages.GetSearch) (messages.SearchStatus, error) {
		panic("not for this client")
	}
	nothing := func(string) bool { return false }
	_, err := r.src.Open(t.Context(), "topics=search&search=1", "", nothing)
	if !errors.Is(err, errNotForYou) {
		t.Error(err)
	}
}
