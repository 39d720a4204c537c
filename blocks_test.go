package trawl_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// follower is a configuration for tests whose nodes are closed while much is on its way,
// which must not occupy the actor library for long.
func follower(t *testing.T) trawl.Config {
	t.Helper()
	cfg := regtest(t.TempDir())
	cfg.BlockFilterIndex = false
	cfg.System = actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Nanosecond))
	return cfg
}

// A mirror is a host that keeps the chain by what Follow says.
type mirror struct {
	t      *testing.T
	blocks []messages.BlockID // by height
}

func (m *mirror) last() (b messages.BlockID) {
	if len(m.blocks) > 0 {
		b = m.blocks[len(m.blocks)-1]
	}
	return b
}

// take carries out a step, and fails where it does not fit what is there.
func (m *mirror) take(node *trawl.Node, step messages.ChainStep) error {
	for _, b := range step.Disconnected {
		if b != m.last() {
			m.t.Errorf("%v is taken back on %v", b, m.last())
		}
		m.blocks = m.blocks[:len(m.blocks)-1]
	}
	for _, b := range step.Connected {
		block, err := node.Blocks().Read(m.t.Context(), b.Hash)
		if err != nil {
			return err
		}
		if block.BlockHash() != b.Hash || block.Header.PrevBlock != m.last().Hash || int(b.Height) != len(m.blocks) {
			m.t.Errorf("%v is added on %v", b, m.last())
		}
		m.blocks = append(m.blocks, b)
	}
	if step.Last != m.last() || len(step.Disconnected)+len(step.Connected) == 0 {
		m.t.Errorf("a step %+v ends at %v", step, m.last())
	}
	return nil
}

var errEnough = errors.New("enough")

// catchUp follows until the tip that the chain's actor tells of.
func (m *mirror) catchUp(node *trawl.Node) {
	m.t.Helper()
	tip, err := trawl.Ask(m.t.Context(), node.Chain(), messages.GetTip{})
	if err != nil {
		m.t.Fatal(err)
	}
	if m.last() != tip {
		err = node.Follow(m.t.Context(), m.last(), func(step messages.ChainStep) error {
			if err := m.take(node, step); err != nil || step.Last != tip {
				return err
			}
			return errEnough
		})
		if !errors.Is(err, errEnough) {
			m.t.Fatal(err)
		}
	}
	m.check(node, tip)
}

// check holds the mirror against the blocks themselves, back from the tip.
func (m *mirror) check(node *trawl.Node, tip messages.BlockID) {
	m.t.Helper()
	hash := tip.Hash
	for _, got := range slices.Backward(m.blocks) {
		if got.Hash != hash {
			m.t.Fatalf("height %d: %v, want %v", got.Height, got.Hash, hash)
		}
		block, err := node.Blocks().Read(m.t.Context(), hash)
		if err != nil {
			m.t.Fatal(err)
		}
		hash = block.Header.PrevBlock
	}
	if hash != (chainhash.Hash{}) || len(m.blocks) != int(tip.Height)+1 {
		m.t.Fatalf("%d blocks of a chain of height %d", len(m.blocks), tip.Height)
	}
}

// Random lives: blocks are mined, invalidated and taken back again, the node is closed and
// opened, while its host looks now and then, or not.
func TestFollowLives(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 4 {
		cfg := follower(t)
		node := open(t, cfg)
		host := &mirror{t: t}
		var invalid []chainhash.Hash
		for range 25 {
			switch random.IntN(7) {
			case 0, 1:
				generate(t, node, []byte{0x51, byte(random.IntN(256))}, 1+random.IntN(4))
			case 2:
				at, err := node.Blocks().At(max(0, node.Blocks().Tip().Height-int32(random.IntN(6))))
				if err != nil {
					t.Fatal(err)
				}
				if at.Height > 0 {
					ask(t, node, messages.InvalidateBlock{Hash: at.Hash})
					invalid = append(invalid, at.Hash)
				}
			case 3:
				if len(invalid) > 0 {
					ask(t, node, messages.ReconsiderBlock{Hash: invalid[random.IntN(len(invalid))]})
				}
			case 4:
				shut(t, node)
				node = open(t, cfg)
			default:
				host.catchUp(node)
			}
		}
		host.catchUp(node)
		shut(t, node)
	}
}

// ask is for requests to the chain that must not fail.
func ask(t *testing.T, node *trawl.Node, q messages.Request[messages.Done]) {
	t.Helper()
	var err error
	switch q := q.(type) {
	case messages.InvalidateBlock:
		_, err = trawl.Ask(t.Context(), node.Chain(), q)
	case messages.ReconsiderBlock:
		_, err = trawl.Ask(t.Context(), node.Chain(), q)
	case messages.PruneBlocks:
		_, err = trawl.Ask(t.Context(), node.Chain(), q)
	default:
		t.Fatalf("%T", q)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Follow notices changes of the chain while it waits and survives a reorganisation
// that is larger than a step. Each way to end it returns its own error.
func TestFollow(t *testing.T) {
	node := open(t, follower(t))
	generate(t, node, []byte{0x51}, 250)
	host := &mirror{t: t}
	host.catchUp(node)

	steps := make(chan messages.ChainStep)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		ended <- node.Follow(ctx, host.last(), func(step messages.ChainStep) error { steps <- step; return nil })
	}()
	first, err := node.Blocks().At(11)
	if err != nil {
		t.Fatal(err)
	}
	ask(t, node, messages.InvalidateBlock{Hash: first.Hash})
	generate(t, node, []byte{0x52}, 5)
	for tip := node.Blocks().Tip(); host.last() != tip; {
		step := <-steps
		if len(step.Disconnected) > 100 || len(step.Connected) > 100 {
			t.Errorf("a step of %d and %d blocks", len(step.Disconnected), len(step.Connected))
		}
		if err := host.take(node, step); err != nil {
			t.Fatal(err)
		}
	}
	gone := errors.New("gone")
	cancel(gone)
	if err := <-ended; !errors.Is(err, gone) {
		t.Error(err)
	}
	if h, err := node.Blocks().Header(first.Hash); err != nil || h.Active || !h.Stored || h.Height != 11 {
		t.Errorf("a block that left the chain: %+v, %v", h, err)
	}
	unknown := chainhash.Hash{1}
	never := func(messages.ChainStep) error { t.Error("called"); return nil }
	if err := node.Follow(
		t.Context(), messages.BlockID{Hash: unknown}, never,
	); !errors.Is(err, messages.ErrBlockNotFound) {
		t.Error(err)
	}
	if _, err := node.Blocks().Read(t.Context(), unknown); !errors.Is(err, messages.ErrBlockNotFound) {
		t.Error(err)
	}
	if _, err := node.Blocks().Header(unknown); !errors.Is(err, messages.ErrBlockNotFound) {
		t.Error(err)
	}
	for _, height := range []int32{-1, 16} {
		if at, err := node.Blocks().At(height); !errors.Is(err, messages.ErrBlockNotFound) {
			t.Error(height, at, err)
		}
	}
	// Closed while it waits.
	tip := node.Blocks().Tip()
	go func() { ended <- node.Follow(t.Context(), tip, never) }()
	shut(t, node)
	if err := <-ended; !errors.Is(err, trawl.ErrClosed) {
		t.Error(err)
	}
	if _, err := node.Blocks().Read(t.Context(), tip.Hash); !errors.Is(err, trawl.ErrClosed) {
		t.Error(err)
	}
	if node.Blocks().Tip() != tip {
		t.Error("another tip after Close")
	}
}

// Two nodes in one process: what one has pruned it reads from the other while they are
// connected, and says so while they are not.
func TestReadPruned(t *testing.T) {
	first := follower(t)
	at := freeAddress(t)
	first.Peers = &trawl.PeerConfig{Bind: []string{at}, MaxPeers: 40}
	full := open(t, first)
	generate(t, full, []byte{0x51}, 700)

	second := follower(t)
	second.Prune = &trawl.PruneConfig{}
	second.Peers = &trawl.PeerConfig{Connect: []string{at}, MaxPeers: 40}
	pruned := open(t, second)
	tip := full.Blocks().Tip()
	host := &mirror{t: t}
	if err := pruned.Follow(t.Context(), messages.BlockID{}, func(step messages.ChainStep) error {
		if err := host.take(pruned, step); err != nil || step.Last != tip {
			return err
		}
		return errEnough
	}); !errors.Is(err, errEnough) {
		t.Fatal(err)
	}
	ask(t, pruned, messages.PruneBlocks{Height: 400})
	block, err := pruned.Blocks().At(1)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := pruned.Blocks().Header(block.Hash); err != nil || h.Stored || !h.Active {
		t.Fatalf("%+v, %v", h, err)
	}
	host.check(pruned, tip) // reads all blocks, most of them from the peer

	// With none to ask, the host hears what is missing, and can go on.
	shut(t, full)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, err := pruned.Blocks().Read(ctx, block.Hash)
		if errors.Is(err, messages.ErrBlockPruned) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pruned.Blocks().Read(ctx, tip.Hash); err != nil {
		t.Error(err)
	}
}

// freeAddress returns an address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
