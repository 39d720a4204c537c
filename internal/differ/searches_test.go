package differ_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
)

// A search finds the same as Core's scanblocks and getdescriptoractivity on the same chain,
// for every kind of descriptor of a wallet. Apart from additional members, the entries are
// the same byte for byte.
func TestSearches(t *testing.T) {
	p := differ.Start(t, differ.Config{
		Args: []string{"-blockfilterindex=1"}, Trawl: []string{"-searchroom=1"}, Core: []string{"-fallbackfee=0.0001"},
	})
	s := searches{t, p}
	s.core(nil, "createwallet", "w")
	addresses := make([]string, 0, 20)
	for _, kind := range []string{"legacy", "p2sh-segwit", "bech32", "bech32m"} {
		for range 5 {
			var address string
			s.core(&address, "getnewaddress", "", kind)
			addresses = append(addresses, address)
		}
	}
	s.core(nil, "generatetoaddress", 103, addresses[0])
	random := differ.Random(t)
	for range 30 {
		for range random.IntN(4) {
			s.core(nil, "sendtoaddress", addresses[random.IntN(len(addresses))], float64(1+random.IntN(50))/100)
		}
		s.core(nil, "generatetoaddress", 1, addresses[random.IntN(len(addresses))])
	}
	s.share()

	var listed struct {
		Descriptors []struct {
			Desc   string
			Active bool
		}
	}
	s.core(&listed, "listdescriptors", true) // with private keys
	var first struct{ PubKey string }
	s.core(&first, "getaddressinfo", addresses[10])
	objects := [][]any{
		{"addr(" + addresses[3] + ")"},
		{"addr(" + addresses[7] + ")", "addr(" + addresses[17] + ")"},
		{"combo(" + first.PubKey + ")"},
		{"pk(" + first.PubKey + ")", "wpkh(" + first.PubKey + ")"},
		{"raw(6a)"},
	}
	var all []any
	for _, d := range listed.Descriptors {
		one := map[string]any{"desc": d.Desc, "range": []int{0, 40}}
		objects, all = append(objects, []any{one}), append(all, one)
	}
	for _, o := range append(objects, all) {
		s.compare(o)
	}
	p.Alive()
}

type searches struct {
	t *testing.T
	p *differ.Pair
}

func (s *searches) core(result any, method string, params ...any) {
	s.t.Helper()
	if err := s.p.Core.Call(s.t.Context(), result, method, params...); err != nil {
		s.t.Fatalf("bitcoind: %s: %v", method, err)
	}
}

// share gives trawld the blocks of Core.
func (s *searches) share() {
	s.t.Helper()
	var height int
	s.core(&height, "getblockcount")
	for h := 1; h <= height; h++ {
		var hash, raw string
		s.core(&hash, "getblockhash", h)
		s.core(&raw, "getblock", hash, 0)
		s.p.Trawl.Get(nil, "submitblock", raw)
	}
}

// further is what a search tells of an entry besides.
var further = regexp.MustCompile(`,"time":[0-9]+,"desc":"[^"]*"(,"index":[0-9]+)?}$`)

func (s *searches) compare(objects []any) {
	s.t.Helper()
	var found struct {
		Blocks []string `json:"relevant_blocks"`
	}
	s.core(&found, "scanblocks", "start", objects, 0, nil, "basic", map[string]any{"filter_false_positives": true})
	var want struct{ Activity []json.RawMessage }
	s.core(&want, "getdescriptoractivity", found.Blocks, objects, false)

	var scanned struct {
		Blocks   []string `json:"relevant_blocks"`
		Activity []json.RawMessage
	}
	s.p.Trawl.Get(&scanned, "scanblocks", "start", objects, 0, nil, "basic", map[string]any{"activity": true})
	equal := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	if !slices.EqualFunc(scanned.Activity, want.Activity, equal) || !slices.Equal(scanned.Blocks, found.Blocks) {
		s.t.Fatalf("%.200v: scanblocks tells other activity than Core", objects)
	}

	var made struct{ ID string }
	s.p.Trawl.Get(&made, "createsearch", objects)
	var got struct {
		Entries []json.RawMessage
		More    bool
		State   string
		Cursor  string
	}
	var list []json.RawMessage
	for deadline := time.Now().Add(time.Minute); got.State != "done" || got.More; {
		got.Entries = nil
		s.p.Trawl.Get(&got, "waitforsearch", made.ID, got.Cursor, 100)
		list = append(list, got.Entries...)
		if time.Now().After(deadline) {
			s.t.Fatalf("the search is %s", got.State)
		}
	}
	if len(list) != len(want.Activity) {
		s.t.Fatalf("%.200v: %d entries, Core has %d", objects, len(list), len(want.Activity))
	}
	for i := range list {
		entry := further.ReplaceAll(list[i], []byte("}"))
		if len(entry) == len(list[i]) || !bytes.Equal(entry, want.Activity[i]) {
			s.t.Fatalf("%.200v: entry %d\n got %s\nwant %s", objects, i, list[i], want.Activity[i])
		}
		if bytes.Contains(list[i], []byte("tprv")) {
			s.t.Fatal("an entry shows a private key")
		}
	}
	s.t.Logf("%d entries in %d blocks", len(list), len(found.Blocks))
}
