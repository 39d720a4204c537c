package searchrpc_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// A list is the actor of one search, whose entries it gives by twos.
type list struct {
	status  messages.SearchStatus
	scope   messages.SearchScope
	later   messages.SearchScope // what it is from the second request on
	scopes  int
	entries []messages.SearchEntry
	pool    []messages.SearchEntry
	cut     bool // there is more in the memory pool
}

func (l *list) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetSearch, messages.SearchStatus]:
		m.Answer(l.status, nil)
	case *ask.Call[messages.GetSearchScope, messages.SearchScope]:
		l.scopes++
		if l.scopes > 1 {
			m.Answer(l.later, nil)
			return
		}
		m.Answer(l.scope, nil)
	case *ask.Call[messages.GetSearchEntries, messages.SearchPage]:
		from, _ := strconv.Atoi(m.Req.Cursor)
		to := min(from+2, len(l.entries))
		m.Answer(messages.SearchPage{
			Entries: l.entries[from:to], Cursor: strconv.Itoa(to), More: to < len(l.entries), Height: l.status.Height,
			Block: l.status.Block, State: l.status.State, Unconfirmed: l.pool, PoolCut: l.cut,
		}, nil)
	}
}

// Expand implements searchrpc.Chain.
func (l *list) Expand(context.Context, *jsontree.Value, func(int, *descriptor.Descriptor, uint32, [][]byte)) error {
	return nil
}

// Complete implements searchrpc.Chain.
func (l *list) Complete(_ context.Context, r *receipt.Receipt, last *chainhash.Hash) error {
	r.Block, r.To = *last, l.status.Height
	return nil
}

// Height implements searchrpc.Chain.
func (l *list) Height() int32 { return l.status.Height }

// scriptSet is scripts of one byte.
type scriptSet string

func (s scriptSet) Len() int { return len(s) }

func (s scriptSet) Scripts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range len(s) {
			if !yield([]byte{s[i]}) {
				return
			}
		}
	}
}

// call returns the text of a result of getsearch with a receipt, or of its error.
func call(t *testing.T, l *list) string {
	t.Helper()
	return result(t, l, "getsearch", `["00c3a1f7d4e2b590", true]`)
}

// result returns the text of a result, or of an error.
func result(t *testing.T, l *list, method, args string) string {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	l.status.ID = "00c3a1f7d4e2b590"
	table, err := command.NewTable(searchrpc.Commands(searchrpc.Deps{
		Network: net, Searches: actortest.New(t).Spawn("searches", func() actor.Actor { return l }),
		Chain: l,
	}))
	if err != nil {
		t.Fatal(err)
	}
	params, _ := jsontree.Parse([]byte(args))
	prepared, err := table.Speak(net.Reference).Prepare(command.Caller{}, method, params)
	if err != nil {
		t.Fatal(err)
	}
	got, err := prepared.Run(t.Context())
	if err != nil {
		e, _ := table.Reveal(err)
		return fmt.Sprintf("%d %s", e.Code, e.Message)
	}
	text, err := jsontree.Append(nil, got)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func block(n byte) chainhash.Hash { return chainhash.Hash{31: n} }

func receive(height int32, of byte, amount int64) messages.SearchEntry {
	return messages.SearchEntry{Type: messages.SearchReceive, Height: height, Block: block(of), Amount: amount}
}

// The receipt counts entries of the present chain. Blocks do not count below the height from which all objects were
// looked for.
func TestReceiptOfSearch(t *testing.T) {
	l := &list{
		status: messages.SearchStatus{
			State: messages.SearchFollowing, Start: 1, Stop: -1, Follow: true, Height: 9, Block: block(9),
		},
		scope: messages.SearchScope{
			From: 3, Scripts: scriptSet("ba"),
			Objects: []messages.SearchObject{
				{Desc: "raw(61)", First: -1, Last: -1}, {Desc: "wpkh(x/*)", First: 2, Last: 7},
			},
		},
		entries: []messages.SearchEntry{
			receive(2, 2, 1000), receive(5, 55, 10), receive(5, 55, 20),
			{Type: messages.SearchDisconnect, Height: 5, Block: block(55)},
			receive(5, 5, 30), {Type: messages.SearchSpend, Height: 7, Block: block(7), Amount: 8}, receive(7, 7, 2),
			receive(4, 4, 100), // of an object that joined later
		},
	}
	l.later = l.scope
	want := &receipt.Receipt{From: 3, To: 9, Block: block(9)}
	want.Activity = &receipt.Activity{Entries: 4, Received: 132, Spent: 8}
	want.SetDescriptors([]receipt.Descriptor{{Text: "raw(61)"}, {Text: "wpkh(x/*)", Ranged: true, First: 2, Last: 7}})
	want.SetScripts(scriptSet("ab").Scripts())
	want.SetFound([]chainhash.Hash{block(4), block(5), block(7)})
	got := call(t, l)
	if text := `,"receipt":` + string(want.AppendJSON(nil)) + "}"; !strings.HasSuffix(got, text) {
		t.Errorf("%s\nwant %s", got, text)
	}

	// Of a search for blocks alone no amounts are known.
	l.scopes, l.status.BlocksOnly, l.entries = 0, true, []messages.SearchEntry{
		{Type: messages.SearchBlock, Height: 4, Block: block(4)},
	}
	want.Activity = nil
	want.SetFound([]chainhash.Hash{block(4)})
	if got, text := call(t, l), `"receipt":`+string(want.AppendJSON(nil))+"}"; !strings.HasSuffix(got, text) {
		t.Errorf("%s\nwant %s", got, text)
	}
}

// There is no receipt before all blocks were looked at.
func TestNoReceipt(t *testing.T) {
	const notDone = "-8 There is no receipt before the search has looked at all of its blocks"
	for state, want := range map[messages.SearchState]string{
		messages.SearchQueued: notDone, messages.SearchRunning: notDone, messages.SearchPaused: notDone,
		messages.SearchAborted: notDone, messages.SearchFailed: notDone,
		messages.SearchDone: "-8 The search was extended meanwhile",
	} {
		l := &list{
			status: messages.SearchStatus{State: state, Height: 9, Block: block(9)},
			scope:  messages.SearchScope{Scripts: scriptSet("a")},
			later:  messages.SearchScope{Scripts: scriptSet("ab")},
		}
		if got := call(t, l); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
	l := &list{
		status: messages.SearchStatus{State: messages.SearchDone, Height: 2, Block: block(2)},
		scope:  messages.SearchScope{From: 3, Scripts: scriptSet("a")},
	}
	if got := call(t, l); got != notDone {
		t.Error(got)
	}
}
