package differ_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

const (
	networkBlocks = 1000 // that are mined once coins can be spent
	qbitMaturity  = 1000 // blocks until a coinbase can be spent, and until a block may lose its witnesses
	networkLimit  = 3 * time.Minute
)

// notPaid are errors of wallets that cannot pay for now.
var notPaid = []string{
	"Insufficient funds", "too-long-mempool-chain", "too long of a mempool chain",
	"key validation is still in progress", // after a start
}

// Two qbitd and two trawld mine and pay each other through a thousand blocks; one of each prunes old witnesses.
// Meanwhile the network splits and joins again, and nodes are killed. Whenever all are connected they come to the same
// tip and the same unspent outputs.
func TestQbitNetwork(t *testing.T) {
	whole := differ.Start(t, differ.Config{Qbit: true, Peers: true, Args: networkArgs()})
	stripped := differ.Start(t, differ.Config{
		Qbit: true, Peers: true, Args: networkArgs("-prunewitnesses=1", "-prune=1", "-fastprune"),
	})
	n := &network{T: t, Rand: differ.QbitRandom(t)}
	for i, p := range []*differ.Pair{whole, stripped} {
		kind := []string{"whole", "stripped"}[i]
		n.nodes = append(n.nodes,
			&networkNode{
				name: kind + " trawld", addr: p.Trawl.P2P, kill: p.Trawl.Kill, start: func() { p.Trawl.Restart() },
				client: func() *jsonrpc.Client { return p.Trawl.Client },
			},
			&networkNode{
				name: kind + " qbitd", addr: p.CoreP2P, kill: p.KillCore, start: p.RestartCore,
				client: func() *jsonrpc.Client { return p.Core },
			},
		)
	}
	n.begin()
	for start, log := n.height(), 100; n.height()-start < networkBlocks && !t.Failed(); {
		n.step()
		if done := n.height() - start; done >= log {
			t.Logf("%d blocks, %d payments, %d reorganisations, %d kills", done, n.payments, n.splits, n.kills)
			log += 100
		}
	}
	n.agree()
	n.wantStripped()
	n.wantBalances()
}

func networkArgs(more ...string) []string {
	return append([]string{"-fallbackfee=0.0001", "-keypool=4", "-dnsseed=0", "-fixedseeds=0"}, more...)
}

// A network is nodes that may be connected, each of them with a wallet.
type network struct {
	*testing.T
	*rand.Rand

	nodes                   []*networkNode
	payments, splits, kills int
}

type networkNode struct {
	name        string
	addr        string // for peers
	kill, start func()
	client      func() *jsonrpc.Client // of the process that runs
}

// get calls a method that has to succeed.
func (n *network) get(node *networkNode, result any, method string, params ...any) {
	n.Helper()
	if err := node.client().Call(n.Context(), result, method, params...); err != nil {
		n.Fatalf("%s: %s %v: %v", node.name, method, params, err)
	}
}

func (n *network) any() *networkNode { return n.nodes[n.IntN(len(n.nodes))] }

func (n *network) height() (height int) {
	n.get(n.nodes[0], &height, "getblockcount")
	return height
}

func (n *network) address(node *networkNode) (address string) {
	n.get(node, &address, "getnewaddress")
	return address
}

func (n *network) mine(node *networkNode, blocks int) {
	n.get(node, nil, "generatetoaddress", blocks, n.address(node))
}

// begin gives all nodes coins.
func (n *network) begin() {
	for _, node := range n.nodes {
		n.get(node, nil, "createwallet", "w")
	}
	n.connect(n.nodes)
	n.mine(n.nodes[0], qbitMaturity+20)
	n.agree()
	for _, node := range n.nodes[1:] {
		for range 4 {
			n.get(n.nodes[0], nil, "sendtoaddress", n.address(node), 5)
		}
		n.mine(n.nodes[0], 1)
	}
	n.agree()
}

func (n *network) step() {
	switch k := n.IntN(20); {
	case k < 8:
		n.mine(n.any(), 1+n.IntN(3))
	case k < 16:
		n.pay(n.any(), n.any())
	case k < 18:
		n.split()
	case k < 19:
		n.restart(n.any())
	default:
		n.agree()
	}
}

// pay pays, if there are coins.
func (n *network) pay(from, to *networkNode) {
	err := from.client().Call(n.Context(), nil, "sendtoaddress", n.address(to), fmt.Sprintf("%.4f", 0.01+n.Float64()))
	if err == nil {
		n.payments++
		return
	}
	for _, reason := range notPaid {
		if strings.Contains(err.Error(), reason) {
			return
		}
	}
	n.Errorf("%s pays: %v", from.name, err)
}

// connect connects all of some nodes with each other.
func (n *network) connect(nodes []*networkNode) {
	for i, node := range nodes {
		for _, other := range nodes[i+1:] {
			if !n.knows(node, other) {
				n.get(node, nil, "addnode", other.addr, "onetry")
			}
		}
	}
}

// knows reports whether a node has connected to another node.
func (n *network) knows(node, other *networkNode) bool {
	var peers []struct{ Addr string }
	n.get(node, &peers, "getpeerinfo")
	for _, p := range peers {
		if p.Addr == other.addr {
			return true
		}
	}
	return false
}

// split has the network fall into two parts, which mine and pay for themselves, and come together again.
func (n *network) split() {
	n.splits++
	n.Shuffle(len(n.nodes), func(i, k int) { n.nodes[i], n.nodes[k] = n.nodes[k], n.nodes[i] })
	at := 1 + n.IntN(len(n.nodes)-1)
	parts := [][]*networkNode{n.nodes[:at], n.nodes[at:]}
	for _, a := range parts[0] {
		for _, b := range parts[1] {
			for _, way := range [][2]*networkNode{{a, b}, {b, a}} {
				if n.knows(way[0], way[1]) {
					n.get(way[0], nil, "disconnectnode", way[1].addr)
				}
			}
		}
	}
	for range 2 + n.IntN(6) {
		part := parts[n.IntN(2)]
		node := part[n.IntN(len(part))]
		n.pay(node, n.any())
		n.mine(node, 1+n.IntN(3))
		if n.IntN(6) == 0 {
			n.restart(node)
			n.connect(part)
		}
	}
	n.connect(n.nodes)
	n.agree()
}

// restart kills a node and starts it again.
func (n *network) restart(node *networkNode) {
	n.kills++
	node.kill()
	node.start()
	var loaded []string
	n.get(node, &loaded, "listwallets")
	if len(loaded) == 0 {
		n.get(node, nil, "loadwallet", "w")
	}
}

// agree has all nodes come to the same tip, and compares their unspent outputs there.
func (n *network) agree() {
	n.Helper()
	n.connect(n.nodes)
	mined := time.Now()
	e2e.Eventually(n, networkLimit, "all have the same tip", func() bool {
		if n.allSay("getbestblockhash") {
			return true
		}
		if time.Since(mined) > 5*time.Second { // two branches of the same work
			mined = time.Now()
			n.connect(n.nodes)
			n.mine(n.any(), 1)
		}
		return false
	})
	for _, kind := range []string{"hash_serialized_3", "muhash"} {
		var first string
		for _, node := range n.nodes {
			var set map[string]json.RawMessage
			n.get(node, &set, "gettxoutsetinfo", kind)
			said := fmt.Sprintf("%s %s %s %s", set["bestblock"], set["txouts"], set["total_amount"], set[kind])
			if first == "" {
				first = said
			}
			if said != first {
				n.Errorf("%s has %s, %s has %s", n.nodes[0].name, first, node.name, said)
			}
		}
	}
}

// allSay reports whether all nodes answer a call alike.
func (n *network) allSay(method string) bool {
	var first string
	for i, node := range n.nodes {
		var said json.RawMessage
		n.get(node, &said, method)
		if i == 0 {
			first = string(said)
		} else if string(said) != first {
			return false
		}
	}
	return true
}

// wantStripped checks that nodes with -prunewitnesses have lost old witnesses, and that the other nodes have kept
// theirs.
func (n *network) wantStripped() {
	var paid string // the first payments
	n.get(n.nodes[0], &paid, "getblockhash", qbitMaturity+21)
	for _, node := range n.nodes {
		stripped := func() bool {
			err := node.client().Call(n.Context(), nil, "getblock", paid, 1)
			return err != nil && strings.Contains(err.Error(), "witness data for this historical block was pruned")
		}
		if strings.HasPrefix(node.name, "whole") {
			if stripped() {
				n.Errorf("%s has lost witnesses", node.name)
			}
			continue
		}
		n.restart(node)
		n.connect(n.nodes)
		e2e.Eventually(n, networkLimit, node.name+" loses old witnesses", func() bool {
			n.mine(n.nodes[0], 1)
			return stripped()
		})
	}
	n.agree()
}

// wantBalances checks that wallets that look at the whole chain again have what they had.
func (n *network) wantBalances() {
	for _, node := range n.nodes {
		if !strings.HasPrefix(node.name, "whole") {
			continue
		}
		var before, after json.RawMessage
		n.get(node, &before, "getbalances")
		n.get(node, nil, "rescanblockchain")
		n.get(node, &after, "getbalances")
		if string(before) != string(after) {
			n.Errorf("%s: balances %s, after a rescan %s", node.name, before, after)
		}
	}
}
