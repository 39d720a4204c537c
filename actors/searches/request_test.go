package searches

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// Each thing that is asked for makes another search of the same name.
func TestSumOfAll(t *testing.T) {
	request := func() (messages.CreateSearch, prepared) {
		return messages.CreateSearch{Start: 3, Stop: 9}, prepared{
			objects: []searchdb.Object{"a", "bc"},
			scripts: []searchdb.Script{{Script: []byte{1, 2}, Object: 1, Index: 5}, {Script: []byte{3}, Index: -1}},
		}
	}
	q, p := request()
	for follow, kept := range map[bool]string{ // by earlier versions, whose searches are found again by their sums
		false: "2ab2e04de6500bbf2eb1b572b028dec161b0185b3d6a6372eed804eb6e14a0f2",
		true:  "498bc50eed9c6a12c7cf430f673378a45acfc47ed3295eb91233e58b63370a27",
	} {
		q.Follow = follow
		if sum := fmt.Sprintf("%x", sumOf(&q, &p)); sum != kept {
			t.Errorf("the sum is %s, and was %s", sum, kept)
		}
	}
	q.Follow = false
	sums := map[[32]byte]string{sumOf(&q, &p): "as it was"}
	for name, change := range map[string]func(*messages.CreateSearch, *prepared){
		"start":       func(q *messages.CreateSearch, _ *prepared) { q.Start++ },
		"stop":        func(q *messages.CreateSearch, _ *prepared) { q.Stop++ },
		"follow":      func(q *messages.CreateSearch, _ *prepared) { q.Follow = true },
		"blocks only": func(q *messages.CreateSearch, _ *prepared) { q.BlocksOnly = true },
		"mempool":     func(q *messages.CreateSearch, _ *prepared) { q.Mempool = true },
		"object":      func(_ *messages.CreateSearch, p *prepared) { p.objects[0] = "x" },
		"other cut":   func(_ *messages.CreateSearch, p *prepared) { p.objects = []searchdb.Object{"ab", "c"} },
		"one object":  func(_ *messages.CreateSearch, p *prepared) { p.objects = p.objects[:1] },
		"script":      func(_ *messages.CreateSearch, p *prepared) { p.scripts[0].Script = []byte{1, 9} },
		"of another":  func(_ *messages.CreateSearch, p *prepared) { p.scripts[0].Object = 0 },
		"index":       func(_ *messages.CreateSearch, p *prepared) { p.scripts[0].Index = 6 },
		"one script":  func(_ *messages.CreateSearch, p *prepared) { p.scripts = p.scripts[:1] },
	} {
		q, p := request()
		change(&q, &p)
		sum := sumOf(&q, &p)
		if other, same := sums[sum]; same {
			t.Errorf("%s makes no other search than %s", name, other)
		}
		sums[sum] = name
	}
	q, p = request()
	q.Name, q.Owner = "name", "owner"
	if sums[sumOf(&q, &p)] != "as it was" {
		t.Error("name and owner make another search")
	}
}

// Of the objects of a request those scripts are kept that are new, each once, with the numbers of the search.
func TestKeptScripts(t *testing.T) {
	there := []searchdb.Script{{Script: []byte("old")}}
	o := messages.SearchObjects{Texts: []string{"first", "", "third"}, Scripts: []messages.SearchScript{
		{Script: []byte("a"), Object: 0, Index: 4},
		{Script: []byte("old"), Object: 0, Index: 5},
		{Script: []byte("bcd"), Object: 2, Index: -1},
		{Script: []byte("a"), Object: 2, Index: 6},
	}}
	p, _ := kept(&o, make([]searchdb.Object, 10), there, nil)
	want := prepared{
		objects: []searchdb.Object{"first", "", "third"},
		scripts: []searchdb.Script{
			{Script: []byte("a"), Object: 10, Index: 4}, {Script: []byte("bcd"), Object: 12, Index: -1},
		},
		ranges: []searchdb.Range{{Object: 10, First: 4, Last: 4}},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, want %+v", p, want)
	}
	for i := range p.scripts {
		if s := p.scripts[i].Script; cap(s) != len(s) {
			t.Errorf("script %d may grow into the next", i)
		}
	}
}

// Unwritten changes of a removed search are forgotten, while changes of others stay.
func TestRemovedIsNotWritten(t *testing.T) {
	var w writer
	one, two := jobAt(1, 0, -1, 0), jobAt(2, 0, -1, 0)
	w.changed = map[searchdb.ID]*job{1: one, 2: two}
	w.used = map[searchdb.ID]*job{1: one, 2: two}
	for _, id := range []searchdb.ID{1, 2, 1, 2, 2} {
		w.change.Entries = append(w.change.Entries, searchdb.Entry{ID: id})
	}
	w.remove(one)
	if len(w.changed) != 1 || len(w.used) != 1 || w.changed[2] == nil || w.used[2] == nil ||
		len(w.change.Entries) != 3 || !slices.Equal(w.change.Remove, []searchdb.ID{1}) {
		t.Errorf("%+v", w)
	}
	for _, e := range w.change.Entries {
		if e.ID != 2 {
			t.Error("an entry of the removed search is written")
		}
	}
}

// A mode that was written apart counts where it is newer than what was written with the entries.
func TestNewestMode(t *testing.T) {
	for _, test := range []struct {
		written, shown uint64
		want           searchdb.Mode
	}{{1, 2, searchdb.Paused}, {2, 2, searchdb.Running}, {3, 2, searchdb.Running}} {
		shown := &searchdb.Status{Mode: searchdb.Paused, Changes: test.shown}
		got := newest(&searchdb.Status{Changes: test.written}, shown)
		if got.Mode != test.want || got.Changes != max(test.written, test.shown) {
			t.Errorf("%+v: %+v", test, got)
		}
	}
	if got := newest(&searchdb.Status{Changes: 1}, nil); got.Changes != 1 {
		t.Errorf("of one that is new: %+v", got)
	}
}

// The outputs that a pool transaction spends are known completely or not at all.
func TestSpentInPool(t *testing.T) {
	tx := func(inputs int) *poolview.Tx {
		m := wire.NewMsgTx(2)
		for range inputs {
			m.AddTxIn(new(wire.TxIn))
		}
		return &poolview.Tx{Tx: m}
	}
	coin := func(n int64) *messages.Coin { return &messages.Coin{Output: wire.NewTxOut(n, []byte{byte(n)})} }
	got := spentBy([]*poolview.Tx{tx(1), tx(2), tx(1)}, []*messages.Coin{coin(1), coin(2), nil, coin(4)})
	want := [][]chainview.Coin{
		{{Value: 1, Script: []byte{1}}}, nil, {{Value: btcutil.Amount(4), Script: []byte{4}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An entry takes more room the longer its script is in words: never less than the JSON has.
func TestSizeOfEntries(t *testing.T) {
	words := func(script []byte) int { return sizeOf(&messages.SearchEntry{Script: script}) - 900 - 4*len(script) }
	longest := len("OP_CHECKMULTISIGVERIFY ")
	for _, test := range []struct {
		script []byte
		want   int
	}{
		{nil, 0},
		{[]byte{0xaf}, longest},
		{[]byte{0xaf, 0x51}, 2 * longest},
		{append([]byte{30}, make([]byte, 30)...), 60},
		{append([]byte{30}, make([]byte, 29)...), 0},
	} {
		if got := words(test.script); got != test.want {
			t.Errorf("%x: %d bytes in words, want %d", test.script, got, test.want)
		}
	}
	object := sizeOf(&messages.SearchEntry{Object: strings.Repeat("x", 10)})
	if object != 920 {
		t.Errorf("%d bytes with an object", object)
	}
}
