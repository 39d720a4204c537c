package peers

import (
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// logged returns a log of all levels, and its text.
func logged() (*slog.Logger, *logText) {
	text := new(logText)
	return slog.New(slog.NewTextHandler(text, &slog.HandlerOptions{Level: slog.LevelDebug})), text
}

// Bans that cannot be read begin anew, and the file with them; only a file that is there is warned of.
func TestBansStartOver(t *testing.T) {
	for name, test := range map[string]struct {
		content       string // of the file; empty: there is none
		fails         bool   // the disk takes nothing
		warns, renews bool
		failedToWrite bool
	}{
		"no file":             {"", false, false, true, false},
		"no JSON":             {"{", false, true, true, false},
		"bans":                {`{"banned_nets": []}`, false, false, false, false},
		"a disk that is full": {"", true, false, true, true},
	} {
		dir, disk := t.TempDir(), faultfs.New()
		path := filepath.Join(dir, "banlist.json")
		if test.content != "" {
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if test.fails {
			disk.Inject(faultfs.From(0, os.ErrPermission))
		}
		log, text := logged()
		loadBans(newBase(Config{Log: log, Dir: dir, FS: disk}))
		if text.has("Cannot load banlist") != test.warns ||
			text.has("Recreating the banlist database") != test.renews ||
			text.has("bans not written") != test.failedToWrite {
			t.Errorf("%s: the log says\n%s", name, text.text.String())
		}
		_, err := (nodefiles.Files{FS: faultfs.New(), Dir: dir}).LoadBans(nil)
		if (err == nil) == test.fails {
			t.Errorf("%s: the file afterwards: %v", name, err)
		}
	}
}

// Addresses that come are noted, told to the log, and saved, where any of them is new.
func TestStoredAddresses(t *testing.T) {
	log, text := logged()
	r := newAddrRig(t, func(c *Config) { c.Log = log })
	source := node(500)
	list := r.message(1, 1).List
	r.book.store(nil, source, 0)
	if r.book.changed {
		t.Error("nothing is a change")
	}
	r.book.store(list, source, time.Hour)
	if !r.book.changed || r.book.addrs.Len() != 1 || !text.has("Added 1 addresses (of 1) from ") ||
		!text.has(list[0].Addr.String()+" to new") {
		t.Errorf("one is new: changed %v\n%s", r.book.changed, text.text.String())
	}
	if known := r.book.addrs.All(); known[0].Seen.Unix() != r.now.Add(-time.Hour).Unix() {
		t.Errorf("seen %v", known[0].Seen)
	}
	r.book.changed = false
	r.book.store(list, source, time.Hour)
	if r.book.changed || r.book.addrs.Len() != 1 {
		t.Error("one that is known is a change")
	}
	r.book.offers(list[0].Addr, wire.SFNodeBloom)
	if known := r.book.addrs.All(); !r.book.changed || known[0].Services != wire.SFNodeBloom {
		t.Errorf("offers %v", known[0].Services)
	}
}

// The tables have each address where it is; lists are of the network that is asked for.
func TestAddressTables(t *testing.T) {
	r := newAddrRig(t)
	for i, q := range []messages.AddPeerAddress{
		{Host: "1.2.3.4", Port: 1}, {Host: "5.6.7.8", Port: 2, Tried: true}, {Host: "2a00:1450::1", Port: 3},
	} {
		if got := r.book.add(&q); !got.Added {
			t.Fatalf("address %d: %+v", i, got)
		}
	}
	if got := r.book.add(&messages.AddPeerAddress{Host: "1.2.3.4", Port: 1}); got.Failed != "failed-adding-to-new" {
		t.Errorf("once more: %+v", got)
	}
	hosts := func(list []messages.PlacedAddress) (all []string) {
		for _, a := range list {
			all = append(all, a.Host)
			if a.Source != a.Host || a.Services != uint64(wire.SFNodeNetwork|wire.SFNodeWitness) ||
				a.Seen.Unix() != r.now.Unix() || a.AS != 0 || a.SourceNetwork != a.Network {
				t.Errorf("%+v", a)
			}
		}
		slices.Sort(all)
		return all
	}
	tables := r.book.tables()
	if got := hosts(tables.New); !slices.Equal(got, []string{"1.2.3.4", "2a00:1450::1"}) {
		t.Errorf("new: %v", got)
	}
	if got := hosts(tables.Tried); !slices.Equal(got, []string{"5.6.7.8"}) || !tables.Tried[0].Tried {
		t.Errorf("tried: %v", got)
	}
	for network, want := range map[string]int{"": 3, "ipv4": 2, "ipv6": 1, "onion": 0} {
		list, err := r.book.list(&messages.GetNodeAddresses{Network: network}, loadBans(testBase("", nil)))
		if err != nil || len(list) != want {
			t.Errorf("%q: %d, %v", network, len(list), err)
		}
	}
	if _, err := r.book.list(&messages.GetNodeAddresses{Network: "nowhere"}, nil); err == nil {
		t.Error("a network that does not exist has addresses")
	}
	counts := map[string][2]int{}
	for _, c := range r.book.count() {
		counts[c.Network] = [2]int{c.New, c.Tried}
	}
	if counts["ipv4"] != [2]int{1, 1} || counts["ipv6"] != [2]int{1, 0} || counts["all_networks"] != [2]int{2, 1} {
		t.Errorf("counts %v", counts)
	}
}

// Anchors are kept where that is wanted; a disk that takes none is told to the log.
func TestAnchorsAreSaved(t *testing.T) {
	for name, test := range map[string]struct{ keep, fails bool }{
		"kept": {true, false}, "not wanted": {false, false}, "full disk": {true, true},
	} {
		log, text := logged()
		dir, disk := t.TempDir(), faultfs.New()
		r := newDialRig(t, func(c *Config) { c.Log, c.Dir, c.FS, c.KeepAnchors = log, dir, disk, test.keep })
		if test.fails {
			disk.Inject(faultfs.From(0, os.ErrPermission))
		}
		anchors := []codec.Address{{Time: 5, Services: fullNode, Addr: node(1)}}
		r.saveAnchors(anchors)
		disk.Inject(nil)
		got, err := os.ReadFile(filepath.Join(dir, "anchors.dat"))
		if written := err == nil; written != (test.keep && !test.fails) ||
			written && string(got) != string(addrman.MarshalAnchors(anchors, r.cfg.Network.Magic)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		const started = "DumpAnchors: Flush 1 outbound block-relay-only peer addresses to anchors.dat started"
		if text.has("anchors not written") != test.fails || text.has(started) != test.keep {
			t.Errorf("%s: the log says\n%s", name, text.text.String())
		}
		r.announceAnchors()
		r.announceAnchors()
		const line = "0 block-relay-only anchors will be tried for connections."
		if got := strings.Count(text.text.String(), line); got != map[bool]int{true: 1}[test.keep] {
			t.Errorf("%s: announced %d times", name, got)
		}
	}
}

// Captured messages are in files by peer and direction; after a failure nothing more of a connection is written, and
// the log is told once.
func TestCapturedMessages(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	log, text := logged()
	dir, disk := t.TempDir(), faultfs.New()
	cfg := Config{Log: log, Dir: dir, FS: disk, Now: func() time.Time { return at }}
	if newBase(cfg).capture(node(1)) != nil {
		t.Error("messages are captured though that is not wanted")
	}
	cfg.Capture = true
	capture := newBase(cfg).capture(node(1))
	capture("ping", []byte{1, 2}, true)
	capture("pong", []byte{3}, false)
	disk.Inject(faultfs.From(0, os.ErrPermission))
	capture("inv", nil, true)
	disk.Inject(nil)
	capture("inv", nil, true)
	folder := filepath.Join(dir, "message_capture", strings.ReplaceAll(node(1).String(), ":", "_"))
	for name, want := range map[string][]byte{
		"msgs_recv.dat": nodefiles.AppendCaptured(nil, at, "ping", []byte{1, 2}),
		"msgs_sent.dat": nodefiles.AppendCaptured(nil, at, "pong", []byte{3}),
	} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
	if got := strings.Count(text.text.String(), "messages of a peer are no longer captured"); got != 1 {
		t.Errorf("logged %d times", got)
	}
}

// Defaults equal Core's or the network's. Archives is kept only for networks with a service flag for archive
// nodes.
func TestDefaults(t *testing.T) {
	for family, archives := range map[string]int{dialect.NameBitcoin: 0, "qbit": 1} {
		network, err := dialect.Named(family, "main", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Network: network, Archives: []string{"1.2.3.4"}}
		c.setDefaults()
		if c.FS == nil || c.Now == nil || c.BanTime != 24*time.Hour || c.Timeout != 5*time.Second ||
			len(c.FixedSeeds) == 0 && family == dialect.NameBitcoin || c.Source == nil {
			t.Errorf("%s: %+v", family, c)
		}
		if want, _ := new(big.Int).SetString("0"+network.MinimumChainWork, 16); c.MinimumWork.Cmp(want) != 0 {
			t.Errorf("%s: least work %v", family, c.MinimumWork)
		}
		if len(c.Archives) != archives {
			t.Errorf("%s: archives %v", family, c.Archives)
		}
		given := Config{
			Network: network, BanTime: 1, Timeout: 2, FixedSeeds: []netaddr.Addr{}, MinimumWork: c.MinimumWork,
		}
		given.setDefaults()
		if given.BanTime != 1 || given.Timeout != 2 || len(given.FixedSeeds) != 0 {
			t.Errorf("%s: what was given has changed: %+v", family, given)
		}
	}
}

// Inventories are parted into blocks and transactions, and what nobody knows is left out; lines of the log name entries
// as Core does.
func TestInventoryTypes(t *testing.T) {
	hash := chainhash.Hash{1}
	var list []*wire.InvVect
	want := map[wire.InvType]string{
		1: "tx", 2: "block", 3: "merkleblock", 4: "cmpctblock", 5: "wtx", 0x40000001: "witness-tx",
		0x40000002: "witness-block", 0x40000003: "witness-merkleblock", 0: "0x00000000", 6: "0x00000006",
		0x40000000: "0x40000000", 99: "0x00000063",
	}
	for typ, name := range want {
		v := wire.NewInvVect(typ, &hash)
		if got := invName(v); got != name+" "+hash.String() {
			t.Errorf("type %d: %s, want %s", typ, got, name)
		}
		list = append(list, v)
	}
	blocks, txs := split(list)
	types := func(list []*wire.InvVect) (all []wire.InvType) {
		for _, v := range list {
			all = append(all, v.Type)
		}
		slices.Sort(all)
		return all
	}
	if got := types(blocks); !slices.Equal(got, []wire.InvType{2, 3, 4, 0x40000002}) {
		t.Errorf("blocks: %v", got)
	}
	if got := types(txs); !slices.Equal(got, []wire.InvType{1, 5, 0x40000001}) {
		t.Errorf("transactions: %v", got)
	}
	for want, m := range map[int]wire.Message{
		3: &wire.MsgInv{InvList: list[:3]}, 2: &wire.MsgNotFound{InvList: list[:2]}, 0: wire.NewMsgSendHeaders(),
	} {
		if got := size(m); got != want {
			t.Errorf("%s has %d entries, want %d", m.Command(), got, want)
		}
	}
}

// Without a relay no peer may send transactions but those that are permitted to, and never one with which only blocks
// are exchanged.
func TestTakesTransactions(t *testing.T) {
	for typ, permitted := range map[p2p.ConnectionType]bool{
		p2p.Inbound: true, p2p.Manual: true, p2p.OutboundFullRelay: true, p2p.AddrFetch: true,
		p2p.BlockRelayOnly: false, p2p.Feeler: false,
	} {
		b := testBase("", nil)
		b.cfg.Now = time.Now
		n := &connActor{connection: newConnection(b, mailbox{}, &entry{typ: typ})}
		if n.takesTxs() {
			t.Errorf("%v: taken without a relay", typ)
		}
		if n.info.Permissions.Relay = true; n.takesTxs() != permitted {
			t.Errorf("%v: taken by permission: %v", typ, !permitted)
		}
	}
}

// Bans are of whole seconds, from the second in which they begin on.
func TestBanTimes(t *testing.T) {
	now := time.Unix(1_700_000_000, 987_654_321)
	for name, test := range map[string]struct {
		q     messages.SetBan
		until int64
	}{
		"as configured":     {messages.SetBan{Subnet: "1.2.3.4"}, 1_700_000_000 + 3600},
		"for a while":       {messages.SetBan{Subnet: "1.2.3.4", Time: 5}, 1_700_000_005},
		"until then":        {messages.SetBan{Subnet: "1.2.3.4", Time: 1_700_000_009, Absolute: true}, 1_700_000_009},
		"until this second": {messages.SetBan{Subnet: "1.2.3.4", Time: 1_700_000_000, Absolute: true}, 1_700_000_000},
	} {
		k := loadBans(testBase(t.TempDir(), faultfs.New()))
		if _, err := k.add(&test.q, now); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list := k.list.List()
		created, until := time.Unix(1_700_000_000, 0), time.Unix(test.until, 0)
		if len(list) != 1 || !list[0].Created.Equal(created) || !list[0].Until.Equal(until) {
			t.Errorf("%s: %+v", name, list)
		}
	}
	past := messages.SetBan{Subnet: "1.2.3.4", Time: 1_699_999_999, Absolute: true}
	if _, err := loadBans(testBase(t.TempDir(), faultfs.New())).add(&past, now); !errors.Is(err, messages.ErrPast) {
		t.Errorf("of the past: %v", err)
	}
}
