package peers

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// A serverRig answers a peer without the actors; the peer and what it receives are the test's. It lives in a bubble.
type serverRig struct {
	*server

	t    *testing.T
	node *chaintest.Chain
	now  time.Time
	peer *ear
	log  *logText
}

// logText is a log as text.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), part)
}

// ear is a session's owner that keeps what it receives.
type ear struct {
	*p2p.Session

	mu    sync.Mutex
	inbox []wire.Message
}

func (*ear) Established(p2p.Remote) {}
func (*ear) Misbehaved(error)       {}
func (*ear) Writable()              {}
func (l *ear) Received(m p2p.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Command() != codec.CmdSendCmpct { // of the handshake
		l.inbox = append(l.inbox, m.Message)
	}
}

// newServerRig returns the server of a node with a chain of some blocks, whose peer has shaken hands.
func newServerRig(t *testing.T, height int, wishes ...func(*Config)) *serverRig {
	t.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	r := &serverRig{t: t, node: chaintest.New(network.Params), log: new(logText)}
	r.node.MineN(height)
	r.now = r.node.Active().Tip().Time()
	cfg := Config{
		Network: network, Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now: func() time.Time { return r.now }, MinimumWork: new(big.Int),
		Services: wire.SFNodeNetwork | wire.SFNodeWitness,
	}
	for _, wish := range wishes {
		wish(&cfg)
	}
	cfg.setDefaults()
	b := newBase(cfg)
	left, right := net.Pipe()
	conn := newConnection(b, mailbox{}, &entry{id: 1, name: "9.9.9.9:1", typ: p2p.Inbound})
	magic := network.Magic
	conn.session = p2p.New(left, p2p.Config{Magic: magic, Totals: b.totals, PeerTimeout: time.Hour}, new(ear))
	r.peer = new(ear)
	r.peer.Session = p2p.New(right, p2p.Config{
		Magic: magic, Type: p2p.BlockRelayOnly, PeerTimeout: time.Hour,
		Make: func(command string) wire.Message {
			if command == wire.CmdMerkleBlock {
				return &codec.Raw{Name: command}
			}
			return codec.New(command)
		},
	}, r.peer)
	r.peer.Want(1 << 20)
	for _, s := range []*p2p.Session{conn.session, r.peer.Session} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.Run(context.Background())
		}()
		t.Cleanup(func() {
			s.Close(nil)
			<-ended
		})
	}
	synctest.Wait()
	r.server = &server{connection: conn, chain: r.node}
	return r
}

func (r *serverRig) at(height int32) *chainview.Block { return r.node.Active().At(height) }

// ask has the server answer a message, and returns what the peer receives.
func (r *serverRig) ask(m wire.Message) []wire.Message {
	r.t.Helper()
	r.answer(m)
	synctest.Wait()
	r.peer.mu.Lock()
	defer r.peer.mu.Unlock()
	inbox := r.peer.inbox
	r.peer.inbox = nil
	return inbox
}

// block asks for a block.
func (r *serverRig) data(typ wire.InvType, b *chainview.Block) []wire.Message {
	r.t.Helper()
	return r.ask(&wire.MsgGetData{InvList: []*wire.InvVect{wire.NewInvVect(typ, &b.Hash)}})
}

// names are the commands of messages.
func names(list []wire.Message) string {
	all := make([]string, len(list))
	for i, m := range list {
		all[i] = m.Command()
	}
	return strings.Join(all, " ")
}

// inBubbles runs a test for each case in a bubble of its own.
func inBubbles[C any](t *testing.T, cases map[string]C, run func(t *testing.T, c C)) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, c) })
		})
	}
}

// A node that offers recent blocks only gives no block that is more than 290 deep, as deeper blocks could identify
// the node. A peer that may not be banned gets deeper blocks too.
func TestLimitedNode(t *testing.T) {
	const limited = wire.SFNodeNetworkLimited | wire.SFNodeWitness
	inBubbles(t, map[string]struct {
		services wire.ServiceFlag
		depth    int32
		noBan    bool
		served   bool
	}{
		"at the limit":               {limited, 290, false, true},
		"below it":                   {limited, 291, false, false},
		"below it, not to be banned": {limited, 291, true, true},
		"a full node":                {limited | wire.SFNodeNetwork, 291, false, true},
	}, func(t *testing.T, c struct {
		services wire.ServiceFlag
		depth    int32
		noBan    bool
		served   bool
	},
	) {
		t.Helper()
		r := newServerRig(t, 300, func(cfg *Config) { cfg.Services = c.services })
		r.info.Permissions.NoBan = c.noBan
		got := names(r.data(wire.InvTypeWitnessBlock, r.at(300-c.depth)))
		if (got == "block") != c.served || r.isClosed() == c.served {
			t.Errorf("got %q, left %v", got, r.isClosed())
		}
		if !c.served && !r.log.has("Ignore block request below NODE_NETWORK_LIMITED threshold") {
			t.Error("the log does not say why")
		}
	})
}

// A request for a block that is not stored has no answer, and no penalty. An unreadable block ends the session,
// except for a request of single transactions.
func TestMissingBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newServerRig(t, 20)
		pruned, failing := r.at(19), r.at(18)
		r.node.SetStatus(pruned, pruned.Status()&^chainview.HasData)
		for _, typ := range []wire.InvType{wire.InvTypeBlock, wire.InvTypeWitnessBlock, codec.InvCmpctBlock} {
			if got := r.data(typ, pruned); len(got) > 0 {
				t.Errorf("type %d: got %s", typ, names(got))
			}
		}
		for _, hash := range []chainhash.Hash{pruned.Hash, {7}} {
			if got := r.ask(&codec.GetBlockTxn{Block: hash}); len(got) > 0 {
				t.Errorf("transactions of a block that is not there: %s", names(got))
			}
		}
		if !r.log.has("Peer 1 sent us a getblocktxn for a block we don't have") {
			t.Error("the log does not say why")
		}
		r.node.Fail(failing, errors.New("damaged"))
		if got := r.ask(&codec.GetBlockTxn{Block: failing.Hash}); len(got) > 0 || r.isClosed() {
			t.Errorf("transactions of a block that cannot be read: %s, left %v", names(got), r.isClosed())
		}
		if got := names(r.data(wire.InvTypeBlock, r.at(20))); got != "block" {
			t.Errorf("got %q", got)
		}
		if got := r.data(wire.InvTypeBlock, failing); len(got) > 0 || !r.isClosed() {
			t.Errorf("a block that cannot be read: %s, left %v", names(got), r.isClosed())
		}
		if got := r.data(wire.InvTypeBlock, r.at(20)); len(got) > 0 {
			t.Errorf("after the end: %s", names(got))
		}
	})
}

// Compact blocks are given to a depth of 5, single transactions to one of 10: below that the whole block.
func TestDepths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newServerRig(t, 30)
		for depth, want := range map[int32]string{0: "cmpctblock", 5: "cmpctblock", 6: "block"} {
			if got := names(r.data(codec.InvCmpctBlock, r.at(30-depth))); got != want {
				t.Errorf("compact block at depth %d: %q", depth, got)
			}
		}
		for depth, want := range map[int32]string{0: "blocktxn", 10: "blocktxn", 11: "block"} {
			m := &codec.GetBlockTxn{Block: r.at(30 - depth).Hash, Indexes: []uint16{0}}
			if got := names(r.ask(m)); got != want {
				t.Errorf("transactions at depth %d: %q", depth, got)
			}
		}
	})
}

// Near the upload limit, only peers with the download permission get parts of blocks, and blocks that are over a
// week older than the best header.
func TestHistoricalBlocks(t *testing.T) {
	const week = 7 * 24 * time.Hour
	type test struct {
		limit    uint64
		older    time.Duration // than the best header
		typ      wire.InvType
		download bool
		served   bool
	}
	inBubbles(t, map[string]test{
		"a week":             {1, week, wire.InvTypeBlock, false, true},
		"more":               {1, week + time.Second, wire.InvTypeBlock, false, false},
		"more, may download": {1, week + time.Second, wire.InvTypeBlock, true, true},
		"no limit":           {0, 2 * week, wire.InvTypeBlock, false, true},
		"far from the limit": {1 << 50, 2 * week, wire.InvTypeBlock, false, true},
		"part of a block":    {1, 0, wire.InvTypeFilteredBlock, false, false},
	}, func(t *testing.T, c test) {
		t.Helper()
		r := newServerRig(t, 3, func(cfg *Config) { cfg.UploadLimit = c.limit })
		r.info.Permissions.Download = c.download
		old := r.at(3)
		r.node.Mine(chaintest.Template{Time: old.Time().Add(c.older)})
		got := names(r.data(c.typ, old))
		if (got == "block") != c.served || r.isClosed() == c.served {
			t.Errorf("got %q, left %v", got, r.isClosed())
		}
		if !c.served && !r.log.has("historical block serving limit reached") {
			t.Error("the log does not say why")
		}
	})
}
