package peers_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// A ban cuts connections, keeps peers out, and outlives the node.
func TestBan(t *testing.T) {
	dir := t.TempDir()
	kept := func(c *peers.Config) { c.Dir = dir }
	n := start(t, kept)
	r, _ := connect(t, n)
	must(t, n, messages.SetBan{Subnet: "127.0.0.0/8"})
	left(t, r, "banned")
	knock(t, n)
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	n = start(t, kept)
	knock(t, n)
	list := must(t, n, messages.ListBans{})
	if len(list) != 1 || list[0].Subnet != "127.0.0.0/8" || list[0].Until.Sub(list[0].Created) != 24*time.Hour {
		t.Errorf("got %+v", list)
	}
	for _, test := range []struct {
		q    messages.SetBan
		want error
	}{
		{messages.SetBan{Subnet: "127.0.0.1"}, messages.ErrBanned},    // is within
		{messages.SetBan{Subnet: "127.0.0.0/8"}, messages.ErrBanned},  // the same
		{messages.SetBan{Subnet: "127.0.0.0/24"}, nil},                // another range
		{messages.SetBan{Subnet: "127.0.0.1/42"}, messages.ErrSubnet}, // no range
		{messages.SetBan{Subnet: "1.2.3.4", Time: 100, Absolute: true}, messages.ErrPast},
		{messages.SetBan{Subnet: "127.0.0.1", Remove: true}, messages.ErrNotBanned},
		{messages.SetBan{Subnet: "0.0.0.0"}, messages.ErrSubnet}, // no node has that address
		{messages.SetBan{Subnet: "0.0.0.0", Remove: true}, messages.ErrSubnet},
		{messages.SetBan{Subnet: "127.0.0.0/24", Remove: true}, nil},
	} {
		if _, err := ask.Ask(t.Context(), n.Ref, test.q); !errors.Is(err, test.want) {
			t.Errorf("%+v: %v", test.q, err)
		}
	}
	must(t, n, messages.ClearBans{})
	connect(t, n)
}

// knock connects, and is turned away.
func knock(t *testing.T, n *node) {
	t.Helper()
	r := dial(t, n)
	left(t, r, "banned")
}

// An acknowledged ban survives a loss of power, and so does the removal of a ban.
func TestBansSurvivePowerLoss(t *testing.T) {
	for seed := range uint64(8) {
		dir, fs := t.TempDir(), faultfs.New()
		n := start(t, func(c *peers.Config) { c.Dir, c.FS = dir, fs })
		must(t, n, messages.SetBan{Subnet: "1.2.3.4"})
		must(t, n, messages.SetBan{Subnet: "5.6.7.0/24"})
		must(t, n, messages.SetBan{Subnet: "1.2.3.4", Remove: true})
		if err := fs.PowerLoss(rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "banlist.json"))
		if err != nil {
			t.Fatal(err)
		}
		bans, err := nodefiles.ParseBans(text, func(line string) { t.Error(line) })
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if kept := string(nodefiles.MarshalBans(&bans)); !strings.Contains(kept, "5.6.7.0/24") ||
			strings.Contains(kept, "1.2.3.4") {
			t.Errorf("seed %d: kept are %s", seed, kept)
		}
	}
}

// A damaged file is no reason not to start; it is rebuilt.
func TestDamagedBans(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "banlist.json")
	if err := os.WriteFile(path, []byte("{no json"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, func(c *peers.Config) { c.Dir = dir })
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nodefiles.ParseBans(text, nil); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// Inbound connections are limited; those over it take the place of others.
func TestInboundLimit(t *testing.T) {
	const room = 5
	n := start(t, func(c *peers.Config) { c.MaxPeers = 11 + room })
	for range room {
		connect(t, n)
	}
	n.peersOf(t, room)
	knock(t, n) // all that are there are spared
	n.peersOf(t, room)
}

// Some of the inbound connections are for peers that relay no transactions. A peer that begins to relay some counts.
func TestRelayingLimit(t *testing.T) {
	n := start(t, func(c *peers.Config) {
		c.MaxPeers, c.MaxRelaying, c.Services = 11+3, 1, c.Services|wire.SFNodeBloom
	})
	silent := func(c *p2p.Config) { c.NoTransactions = true }
	connect(t, n)
	n.peersOf(t, 1) // so that it is the first for the node too
	left(t, dial(t, n), "too many relay")
	n.peersOf(t, 1)
	r := dial(t, n, silent)
	dial(t, n, silent)
	n.peersOf(t, 3)
	if err := r.Send(&wire.MsgFilterClear{}); err != nil {
		t.Fatal(err)
	}
	left(t, r, "too many relay")
	n.peersOf(t, 2)
}
