package attach_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/attach"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// core is the node that is attached to.
type core struct {
	mu     sync.Mutex
	tip    chainhash.Hash
	moved  chan struct{} // closed with each new tip
	away   bool
	blocks map[string]string // in hexadecimal, by hash: not pruned
	peers  map[int64]string  // which block a peer has
	asked  []int64           // peers
}

var errAway = errors.New("it does not answer")

func (n *core) mine() chainhash.Hash {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tip[0]++
	close(n.moved)
	n.moved = make(chan struct{})
	return n.tip
}

func (n *core) state() (tip chainhash.Hash, moved chan struct{}, away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tip, n.moved, n.away
}

func (n *core) setAway(away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away = away
	close(n.moved)
	n.moved = make(chan struct{})
}

// WaitNewBlock implements attach.Node.
func (n *core) WaitNewBlock(ctx context.Context, have *chainhash.Hash, atMost time.Duration) (chainhash.Hash, error) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		tip, moved, away := n.state()
		if away {
			return tip, errAway
		}
		if tip != *have {
			return tip, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return tip, nil
		}
	}
}

// Call implements attach.Node.
func (n *core) Call(_ context.Context, to any, method string, params ...any) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var result any
	switch method {
	case "getpeerinfo":
		list := []map[string]int64{}
		for id := range n.peers {
			list = append(list, map[string]int64{"id": id})
		}
		slices.SortFunc(list, func(a, b map[string]int64) int { return int(a["id"] - b["id"]) })
		result = list
	case "getblockfrompeer":
		id := params[1].(int64)
		n.asked = append(n.asked, id)
		if raw := n.peers[id]; raw == "" {
			return errors.New("peer does not exist")
		} else if hash := params[0].(string); raw != "silent" {
			time.AfterFunc(time.Second, func() {
				n.mu.Lock()
				defer n.mu.Unlock()
				n.blocks[hash] = raw
			})
		}
		return nil
	case "getblock":
		if result = n.blocks[params[0].(string)]; result == "" {
			return errors.New("Block not available (pruned data)")
		}
	default:
		return fmt.Errorf("no method %s", method)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// rig is the actor between a core and a chain.
type rig struct {
	t     *testing.T
	core  *core
	chain *ask.Ref
	block *wire.MsgBlock
	raw   string
	ref   *ask.Ref
	log   *lines

	mu       sync.Mutex
	at       chainhash.Hash // tip of the chain
	follows  []time.Time
	refusing error
	version  int   // of the other node
	learned  []int // what was to be kept of it
}

// lines is what was logged.
type lines struct {
	strings.Builder
	sync.Mutex
}

func (l *lines) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(p)
}

func (l *lines) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

type (
	followCall = ask.Call[nodemsg.FollowNode, messages.Tip]
	stateCall  = ask.Call[messages.GetAttachState, messages.AttachState]
)

// Receive implements actor.Actor: the chain.
func (r *rig) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *followCall:
		m.Answer(messages.Tip{}, r.follow())
	case *stateCall:
		r.mu.Lock()
		defer r.mu.Unlock()
		s := messages.AttachState{
			Phase: messages.AttachFollowing, Node: messages.AttachedNode{Tip: r.at, Version: r.version},
		}
		if r.refusing != nil {
			s.Phase, s.Reason = messages.AttachAway, r.refusing.Error()
		}
		m.Answer(s, nil)
	}
}

func (r *rig) follow() error {
	tip, _, away := r.core.state()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follows = append(r.follows, time.Now())
	if r.refusing = nil; away {
		r.refusing = messages.ErrNodeAway
		return r.refusing
	}
	r.at = tip
	return nil
}

func (r *rig) tip() chainhash.Hash {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

func (r *rig) learn(version int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learned = append(r.learned, version)
}

// becomes has the other node be of a version, and find a block.
func (r *rig) becomes(version int) {
	r.mu.Lock()
	r.version = version
	r.mu.Unlock()
	r.core.mine()
	synctest.Wait()
}

// waits returns the times between the attempts since the last call.
func (r *rig) waits() (list []time.Duration) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 1; i < len(r.follows); i++ {
		list = append(list, r.follows[i].Sub(r.follows[i-1]))
	}
	r.follows = nil
	return list
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigWith(t, false)
}

// newRigWith is newRig with a version that the operator has chosen, or not.
func newRigWith(t *testing.T, chosen bool) *rig {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	chain := chaintest.New(net.Params)
	block := chain.MineN(1)
	r := &rig{t: t, log: new(lines), core: &core{
		moved: make(chan struct{}), blocks: map[string]string{}, peers: map[int64]string{},
	}}
	raw, err := chain.Raw(&block.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if r.block, _, err = net.ReadBlock(raw); err != nil {
		t.Fatal(err)
	}
	r.raw = hex.EncodeToString(raw)
	sys := actortest.New(t)
	r.chain = sys.Spawn("chain", func() actor.Actor { return r })
	r.ref = sys.Spawn("attach", attach.New(attach.Config{
		Node: r.core, Network: net, Chain: r.chain,
		Log: slog.New(slog.NewTextHandler(r.log, nil)), Learned: r.learn, Chosen: chosen,
	}), attach.Requests...)
	synctest.Wait()
	return r
}
