package p2p_test

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// reconcileLog collects lines of sessions.
type reconcileLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *reconcileLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *reconcileLog) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool { return strings.Contains(line, part) })
}

// An offer to reconcile transactions has a result that depends on the sender and the
// moment. A ping comes last, which is answered if the session goes on.
func TestReconcile(t *testing.T) {
	version := &codec.Version{Protocol: 70016}
	wtxid, verack := wire.NewMsgWTxIdRelay(), wire.NewMsgVerAck()
	offer := &codec.SendTxRcncl{Version: 1, Salt: 2}
	for name, test := range map[string]struct {
		cfg   p2p.Config
		say   []wire.Message
		offer bool   // of the session
		log   string // a line that is written
		ends  bool
	}{
		"both": {
			p2p.Config{Reconcile: true},
			[]wire.Message{version, wtxid, offer, verack},
			true,
			"Register peer=7 (inbound=1)", false,
		},
		"later version": {p2p.Config{Reconcile: true}, []wire.Message{
			version, wtxid, &codec.SendTxRcncl{Version: 2}, verack,
		}, true, "Register peer=7", false},
		"no version": {
			p2p.Config{Reconcile: true},
			[]wire.Message{version, wtxid, &codec.SendTxRcncl{}},
			true,
			"txreconciliation protocol violation, disconnecting peer=7", true,
		},
		"twice": {
			p2p.Config{Reconcile: true},
			[]wire.Message{version, wtxid, offer, offer},
			true,
			"(sendtxrcncl received from already registered peer), disconnecting peer=7", true,
		},
		"late": {
			p2p.Config{Reconcile: true},
			[]wire.Message{version, wtxid, verack, offer},
			true,
			"sendtxrcncl received after verack", true,
		},
		"not by wtxid": {
			p2p.Config{Reconcile: true},
			[]wire.Message{version, offer, verack},
			true,
			"Forget txreconciliation state of peer=7", false,
		},
		"peer does not": {
			p2p.Config{Reconcile: true},
			[]wire.Message{version, wtxid, verack},
			true,
			"Forget txreconciliation state of peer=7", false,
		},
		"off": {
			p2p.Config{},
			[]wire.Message{version, wtxid, offer, verack},
			false,
			"ignored, as our node does not have txreconciliation enabled", false,
		},
		"old peer": {
			p2p.Config{Reconcile: true},
			[]wire.Message{&codec.Version{Protocol: 70015}, offer, verack},
			false,
			"Ignore unexpected txreconciliation signal from peer=7", false,
		},
		"peer wants no transactions": {p2p.Config{Reconcile: true}, []wire.Message{
			&codec.Version{Protocol: 70016, NoTransactions: true}, wtxid, offer,
		}, false, "which indicated no tx relay to us, disconnecting peer=7", true},
		"no transactions wanted": {p2p.Config{Reconcile: true, NoTransactions: true}, []wire.Message{
			version, wtxid, offer,
		}, false, "to which we indicated no tx relay, disconnecting peer=7", true},
		"short": {p2p.Config{Reconcile: true}, []wire.Message{
			version, wtxid, &codec.Raw{Name: codec.CmdSendTxRcncl, Payload: make([]byte, 11)}, verack,
		}, true, "end of data", false},
	} {
		t.Run(name, func(t *testing.T) {
			left, right := net.Pipe()
			var log reconcileLog
			test.cfg.ID, test.cfg.Log, test.cfg.LogReconciling = 7, log.add, log.add
			test.cfg.Type = p2p.Inbound
			n := start(t, left, test.cfg)
			n.Want(1)
			r := &raw{t, right}
			got := make(chan []string, 1)
			go func() { got <- r.commands("pong") }()
			for _, m := range append(test.say, &wire.MsgPing{Nonce: 1}) {
				_ = r.send(m)
			}
			said := <-got
			// A session that ends does not write what is queued.
			if offered := slices.Contains(said, codec.CmdSendTxRcncl); !test.ends && offered != test.offer ||
				offered && slices.Contains(said[:slices.Index(said, codec.CmdSendTxRcncl)], wire.CmdVerAck) {
				t.Errorf("said %v", said)
			}
			if ends := !slices.Contains(said, wire.CmdPong); ends != test.ends || !log.has(test.log) {
				t.Errorf("ended %v, log %q", ends, log.lines)
			}
		})
	}
}

// commands returns the names of what the session sends, up to one of that name or its end.
func (r *raw) commands(last string) (names []string) {
	link, err := transport.Negotiate(bufio.NewReader(r.conn), new(encoder), magic, transport.OnlyV1)
	for err == nil {
		var m transport.Message
		if m, err = link.Read(); err != nil {
			break
		}
		if names = append(names, m.Command); m.Command == last {
			break
		}
	}
	return names
}
