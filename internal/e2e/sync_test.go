package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// syncLimit is how long a node may take to follow another.
const syncLimit = time.Minute

// A follower is a node of either kind.
type follower interface {
	best(testing.TB) string
	mine(testing.TB, int)
}

// A trawlNode is a daemon that accepts peers.
type trawlNode struct {
	*e2e.Daemon

	peer string // its address for peers
}

func startPeer(t *testing.T, args ...string) *trawlNode {
	t.Helper()
	addr := e2e.FreeAddr(t)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: append(e2e.PeerArgs(addr), args...)})
	return &trawlNode{d, addr}
}

func (n *trawlNode) best(testing.TB) (hash string) {
	n.Get(&hash, "getbestblockhash")
	return hash
}

func (n *trawlNode) mine(_ testing.TB, count int) {
	n.Get(nil, "generatetodescriptor", count, "raw(51)")
}

// shown returns what a method without parameters answers.
func (n *trawlNode) shown(method string) string {
	var result json.RawMessage
	n.Get(&result, method)
	return string(result)
}

// connect connects to a peer.
func (n *trawlNode) connect(t *testing.T, peer string) {
	t.Helper()
	n.Get(nil, "addnode", peer, "onetry")
	e2e.Eventually(t, syncLimit, "connection to "+peer, func() bool { return n.isConnected(peer) })
}

func (n *trawlNode) isConnected(peer string) bool {
	var peers []struct {
		Addr    string
		Version int
	}
	n.Get(&peers, "getpeerinfo")
	for _, p := range peers {
		if p.Addr == peer && p.Version > 0 {
			return true
		}
	}
	return false
}

// disconnect leaves a peer, which then is gone.
func (n *trawlNode) disconnect(t *testing.T, peer string) {
	t.Helper()
	n.Get(nil, "disconnectnode", peer)
	e2e.Eventually(t, syncLimit, "end of the connection to "+peer, func() bool { return !n.isConnected(peer) })
}

type btcdNode struct{ *e2e.Btcd }

func (n btcdNode) best(tb testing.TB) (hash string) {
	tb.Helper()
	n.Get(tb, &hash, "getbestblockhash")
	return hash
}

func (n btcdNode) mine(tb testing.TB, count int) {
	tb.Helper()
	n.Get(tb, nil, "generate", count)
}

// agree waits until all nodes have the tip of the first.
func agree(t *testing.T, what string, nodes ...follower) {
	t.Helper()
	defer func() {
		for _, n := range nodes {
			if d, ok := n.(*trawlNode); ok && t.Failed() {
				t.Logf("tips of %s: %s\npeers: %s", d.peer, d.shown("getchaintips"), d.shown("getpeerinfo"))
			}
		}
	}()
	e2e.Eventually(t, syncLimit, "one tip: "+what, func() bool {
		for _, n := range nodes[1:] {
			if n.best(t) != nodes[0].best(t) {
				return false
			}
		}
		return true
	})
}

// A node and btcd sync from each other, hear of each other's blocks, and move to
// the longer of two branches.
func TestSyncsWithBtcd(t *testing.T) {
	t.Parallel()
	a, b := btcdNode{e2e.StartBtcd(t)}, btcdNode{e2e.StartBtcd(t)}
	node := startPeer(t)
	a.mine(t, 120)
	node.connect(t, a.Peer)
	agree(t, "from btcd", a, node)
	b.Get(t, nil, "addnode", node.peer, "onetry")
	agree(t, "to btcd", node, b)
	node.mine(t, 1)
	agree(t, "mined here", node, a, b)
	a.mine(t, 1)
	agree(t, "mined by btcd", a, node, b)

	for _, round := range []struct {
		what         string
		theirs, ours int
	}{{"their branch is longer", 3, 2}, {"ours is longer", 2, 4}} {
		node.disconnect(t, a.Peer)
		a.mine(t, round.theirs)
		node.mine(t, round.ours)
		node.connect(t, a.Peer)
		var longer, other follower = a, node
		if round.ours > round.theirs {
			longer, other = node, a
		}
		tip := longer.best(t)
		agree(t, round.what, longer, other, b)
		if longer.best(t) != tip {
			t.Errorf("%s: the longer branch was left", round.what)
		}
	}
}

// Three nodes in a row follow each other, also over the crash of the middle one.
func TestThreeNodesAgree(t *testing.T) {
	t.Parallel()
	first, middle, last := startPeer(t), startPeer(t), startPeer(t, "-v2transport=0")
	middle.connect(t, first.peer)
	last.connect(t, middle.peer)
	first.mine(t, 30)
	agree(t, "first mines", first, middle, last)
	last.mine(t, 1)
	agree(t, "last mines", last, middle, first)

	middle.Kill()
	first.mine(t, 3)
	last.mine(t, 5)
	branch := first.best(t)
	middle.Restart()
	middle.connect(t, first.peer)
	last.connect(t, middle.peer)
	agree(t, "after the crash", last, middle, first)

	var tips []struct{ Hash, Status string }
	first.Get(&tips, "getchaintips")
	for _, tip := range tips {
		if tip.Hash == branch && tip.Status != "valid-fork" {
			t.Errorf("the branch that was left: %s", tip.Status)
		}
	}
	// A call that waits for a block hears of a block from a peer.
	waited := make(chan error, 1)
	height := 37
	go func() { waited <- first.Call(t.Context(), nil, "waitforblockheight", height, 60_000) }()
	last.mine(t, 1)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	var count int
	if first.Get(&count, "getblockcount"); count != height {
		t.Errorf("at height %d, want %d", count, height)
	}
}
