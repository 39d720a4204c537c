package discover_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/discover"
	"github.com/seed61375155/trawl/messages"
)

// More scripts than the limit allows are not looked for.
func TestLimit(t *testing.T) {
	net := regtest(t)
	_, public := keys{net.Descriptors()}.at(84|hard, 1|hard, 3|hard)
	for limit, fits := range map[int]bool{79: false, 80: true} {
		s, err := discover.New(net, &messages.DiscoverAccounts{Source: []byte(public), Gap: 10}, limit)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Next(goesOn)
		reached, ok := errors.AsType[*messages.SearchLimitError](err)
		if fits != (err == nil) || !fits && (!ok || reached.Option != "-searchscripts") {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// A wallet that uses thousands of addresses one after the other takes few passes, and a usual one two.
func TestFewPasses(t *testing.T) {
	net := regtest(t)
	_, public := keys{net.Descriptors()}.at(84|hard, 1|hard, 3|hard)
	for used, most := range map[uint32]int{1: 2, 15: 2, 2000: 9} {
		s, err := discover.New(net, &messages.DiscoverAccounts{Source: []byte("wpkh(" + public + "/7/*)"), Gap: 20}, 0)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(1)
		err = mustParse(t, net, "wpkh("+public+"/7/*)").ExpandRange(context.Background(), 0, used-1, 1,
			func(_ uint32, scripts [][]byte) error {
				w.pay(0, scripts[0], 1, nil)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		run(t, s, w)
		found := s.Result(nil, false)
		if found.Passes > most || len(found.Accounts) != 1 || found.Accounts[0].Chains[0].HighestUsed != int32(used-1) {
			t.Errorf("%d used: %d passes, %+v", used, found.Passes, found.Accounts)
		}
	}
}

func mustParse(t *testing.T, net *dialect.Network, text string) *descriptor.Descriptor {
	t.Helper()
	branches, err := descriptor.Parse(text, net.Descriptors(), descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return branches[0]
}
