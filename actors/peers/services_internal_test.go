package peers

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

// Services of a network some of whose nodes delete old witnesses.
const (
	testPruned  wire.ServiceFlag = 1 << 12
	testArchive wire.ServiceFlag = 1 << 13
	testAll                      = fullNode | wire.SFNodeNetworkLimited | testArchive
)

// A prunedChain has deleted witnesses, or not.
type prunedChain struct {
	*chaintest.Chain

	pruned bool
	begun  bool // since it was opened
}

func (c *prunedChain) HasStripped() bool { return c.pruned }

func (c *prunedChain) HasBegunToStrip() bool { return c.begun }

func newPrunedChain() *prunedChain {
	c := &prunedChain{Chain: chaintest.New(&chaincfg.RegressionNetParams)}
	c.MineN(5)
	return c
}

// pruners is the configuration of a node of such a network, whose log goes to a buffer.
func pruners(chain *prunedChain, log *bytes.Buffer) func(*Config) {
	return func(c *Config) {
		c.Services, c.Chain = testAll, new(chainview.Current)
		if chain != nil {
			c.Chain.Set(chain)
		}
		c.Network.Archive, c.Network.WitnessPruned = testArchive, testPruned
		c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

func TestServicesFollowTheChain(t *testing.T) {
	chain := newPrunedChain()
	var log bytes.Buffer
	table := newTable(t, pruners(chain, &log))
	table.offered.look()
	table.offered.open = true
	for _, step := range []struct {
		name    string
		assumed bool
		pruned  bool
		want    wire.ServiceFlag
		lines   []string
	}{
		{"a snapshot is loaded", true, false, testAll &^ wire.SFNodeNetwork &^ testArchive, nil},
		{"all is validated", false, false, testAll, []string{
			"[snapshot] re-enabling NODE_NETWORK services", "[snapshot] re-enabling NODE_ARCHIVE services",
		}},
		{"a file is compacted", false, true, testAll&^testArchive | testPruned, []string{
			"Withdrawing NODE_ARCHIVE after witness compaction",
			"Advertising NODE_WITNESS_PRUNED after witness compaction",
		}},
		{"another one", false, true, testAll&^testArchive | testPruned, nil},
		{"again a snapshot", true, true, testAll&^testArchive&^wire.SFNodeNetwork | testPruned, nil},
		{"again validated", false, true, testAll&^testArchive | testPruned, []string{
			"[snapshot] re-enabling NODE_NETWORK services",
		}},
	} {
		chain.SetAssumed(nil)
		if step.assumed {
			chain.SetAssumed(&chainview.Assumed{Base: chain.Active().At(3), Validated: chain.Active().At(1)})
		}
		chain.pruned = step.pruned
		log.Reset()
		table.offered.look()
		if got := table.services(); got != step.want {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
		if got, _ := table.network(messages.GetNetwork{}); got.Services != uint64(step.want) {
			t.Errorf("%s: getnetworkinfo tells %x", step.name, got.Services)
		}
		if n := strings.Count(log.String(), "\n"); n != len(step.lines) {
			t.Errorf("%s: %d lines: %s", step.name, n, &log)
		}
		for _, line := range step.lines {
			if !strings.Contains(log.String(), line) {
				t.Errorf("%s: no line %q", step.name, line)
			}
		}
	}
}

// Changes of services between the opening of the chain and the first connection are logged; earlier changes are
// not.
func TestServicesChangeBeforeNetworking(t *testing.T) {
	const early, late = "Witness compaction completed before networking startup; ", " after witness compaction"
	archive := []string{early + "withdrawing NODE_ARCHIVE", early + "advertising NODE_WITNESS_PRUNED"}
	for _, test := range []struct {
		name     string
		begun    bool
		without  wire.ServiceFlag // services that the node never has
		open     bool             // connections are possible
		noChain  bool             // yet
		expected []string
	}{
		{"since the start", true, 0, false, false, archive},
		{"before the start", false, 0, false, false, nil},
		{"pruned node", true, wire.SFNodeNetwork | testArchive, false, false, archive[1:]},
		{"chain opened late", true, 0, true, true, []string{
			"Withdrawing NODE_ARCHIVE" + late, "Advertising NODE_WITNESS_PRUNED" + late,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			chain := newPrunedChain()
			chain.pruned, chain.begun = true, test.begun
			var log bytes.Buffer
			table := newTable(t, func(c *Config) {
				pruners(chain, &log)(c)
				c.Services &^= test.without
				if test.noChain {
					c.Chain = new(chainview.Current)
				}
			})
			log.Reset()
			table.offered.open = test.open
			table.offered.look()
			if test.noChain {
				table.cfg.Chain.Set(chain)
				table.offered.look()
			}
			table.offered.look()
			if n := strings.Count(log.String(), "\n"); n != len(test.expected) {
				t.Errorf("%d lines, want %d: %s", n, len(test.expected), &log)
			}
			for _, line := range test.expected {
				if !strings.Contains(log.String(), line+"\"") {
					t.Errorf("no line %q in %s", line, &log)
				}
			}
		})
	}
}

// A node that prunes blocks has never been an archive.
func TestServicesOfPrunedNode(t *testing.T) {
	chain := newPrunedChain()
	var log bytes.Buffer
	table := newTable(t, func(c *Config) {
		pruners(chain, &log)(c)
		c.Services &^= wire.SFNodeNetwork | testArchive
	})
	table.offered.look()
	table.offered.open = true
	chain.pruned = true
	table.offered.look()
	if strings.Contains(log.String(), "Withdrawing") || !strings.Contains(log.String(), "Advertising") {
		t.Error(log.String())
	}
}

func TestRefusedServices(t *testing.T) {
	const whole = "peer advertises NODE_WITNESS_PRUNED in full-validation mode"
	for _, test := range []struct {
		name    string
		typ     p2p.ConnectionType
		archive bool
		offered wire.ServiceFlag
		valid   bool // a block is assumed to be valid
		pruned  bool // the node has deleted witnesses itself
		wanted  bool // and needs them again

		line string // of the log; empty: the peer stays
	}{
		{
			"full relay", p2p.OutboundFullRelay, false, fullNode | testPruned, false, false, false,
			whole + " (00001009), disconnecting peer=7",
		},
		{"block relay", p2p.BlockRelayOnly, false, fullNode | testPruned, false, false, false, whole},
		{"not pruned", p2p.OutboundFullRelay, false, fullNode, false, false, false, ""},
		{"inbound", p2p.Inbound, false, fullNode | testPruned, false, false, false, ""},
		{"feeler", p2p.Feeler, false, fullNode | testPruned, false, false, false, ""},
		{"addr-fetch", p2p.AddrFetch, false, fullNode | testPruned, false, false, false, ""},
		{"manual", p2p.Manual, false, fullNode | testPruned, false, false, false, ""},
		{"scripts are assumed", p2p.OutboundFullRelay, false, fullNode | testPruned, true, false, false, ""},
		{"pruned itself", p2p.OutboundFullRelay, false, fullNode | testPruned, false, true, false, ""},
		{"witnesses are wanted", p2p.OutboundFullRelay, false, fullNode | testPruned, true, true, true, whole},
		{"archive", p2p.Manual, true, fullNode | testArchive, false, false, false, ""},
		{"archive, more services", p2p.Manual, true, testAll, false, false, false, ""},
		{
			"archive that is pruned", p2p.Manual, true, fullNode | testArchive | testPruned, false, false, false,
			"Archive peer advertises NODE_WITNESS_PRUNED, disconnecting peer=7",
		},
		{
			"archive without witnesses", p2p.Manual, true, wire.SFNodeNetwork | testArchive, false, false, false,
			"Archive peer does not offer full archive services (00002001 offered, 00002009 required), disconnecting " +
				"peer=7",
		},
		{"no blocks", p2p.Manual, true, wire.SFNodeWitness | testArchive, false, false, false, "(00002008 offered"},
		{"not the service", p2p.Manual, true, fullNode, false, false, false, "(00000009 offered"},
	} {
		t.Run(test.name, func(t *testing.T) {
			chain := newPrunedChain()
			var log bytes.Buffer
			table := newTable(t, pruners(chain, &log))
			if test.valid {
				table.cfg.Network.AssumeValid = chainhash.Hash{1}
			}
			if chain.pruned = test.pruned; test.wanted {
				chain.WantWitnesses(chain.Active().Tip())
			}
			e := &entry{id: 7, typ: test.typ, archive: test.archive}
			e.conn = newConnection(table.base, table.self, e)
			err := e.refuse(test.offered)
			if (err != nil) != (test.line != "") || !strings.Contains(log.String(), test.line) {
				t.Errorf("%v; log: %s", err, &log)
			}
			isInfo := strings.Contains(log.String(), "level=INFO")
			if test.line != "" && isInfo != test.archive {
				t.Errorf("level of %s", &log)
			}
			if got := table.isChosen(test.offered); test.typ == p2p.OutboundFullRelay && got != (test.line == "") {
				t.Errorf("chosen: %v", got)
			}
		})
	}
}

// Addresses of nodes that have deleted witnesses are passed over, but by feelers; anchors too.
func TestChoiceWithoutPrunedNodes(t *testing.T) {
	var log bytes.Buffer
	at := node(1)
	anchor := codec.Address{Services: fullNode | testPruned, Addr: at}
	r := newDialRig(t, pruners(nil, &log), func(c *Config) { c.Anchors = []codec.Address{anchor} })
	anchor.Time = uint32(r.cfg.Now().Unix())
	r.book.addrs.Add(anchor, at, 0, r.cfg.Now())
	if _, ok := r.nextAnchor(); ok {
		t.Error("an anchor was chosen")
	}
	for _, typ := range []p2p.ConnectionType{p2p.OutboundFullRelay, p2p.BlockRelayOnly} {
		if a, ok := r.chooseAddr(typ); ok {
			t.Errorf("%v: chose %v", typ, a)
		}
	}
	if _, ok := r.chooseAddr(p2p.Feeler); !ok {
		t.Error("no feeler")
	}
	r.cfg.Network.AssumeValid = chainhash.Hash{1}
	if _, ok := r.chooseAddr(p2p.OutboundFullRelay); !ok {
		t.Error("not chosen by a node that assumes scripts to be valid")
	}
}

// The node of -connectarchive that -addnode names too is connected to as the latter says.
func TestArchivesAmongAddedNodes(t *testing.T) {
	r := newDialRig(t, func(c *Config) {
		c.Network.Archive = testArchive
		c.Added, c.Archives = []string{"1.2.3.4"}, []string{"1.2.3.4", "5.6.7.8"}
	})
	var got []*attempt
	r.connectAdded(r.cfg.Now(), func(a *attempt) {
		if r.begin(t.Context(), a) == nil {
			got = append(got, a)
		}
	})
	if len(got) != 2 || got[0].archive || !got[1].archive || got[1].node != "5.6.7.8" {
		t.Fatalf("attempts %+v", got)
	}
	if err := r.end(got[1], true); err != nil {
		t.Fatal(err)
	}
	r.entries[0].id = 3
	list := r.addedNodes()
	want := messages.AddedNode{Node: "5.6.7.8", Archive: true, Addr: list[2].Addr, ID: 3}
	if list[0].Archive || !list[1].Archive || list[2] != want || want.Addr == "" {
		t.Errorf("listed %+v", list)
	}
	if err := r.removeNode("5.6.7.8"); err != nil || len(r.added) != 2 {
		t.Errorf("not removed: %v", err)
	}
}
