package sync_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

const (
	prunedService wire.ServiceFlag = 1 << 12
	recoverDepth                   = 10
	recoverTall                    = 30
)

// A recoverRig is a rig whose chain wants the witnesses of a block again.
type recoverRig struct {
	*rig

	wanted *chainview.Block
	given  [][]byte // to the chain
	fault  error    // that the chain says of it
}

// recovering runs a test in a bubble.
func recovering(t *testing.T, height int32, test func(r *recoverRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		net.WitnessPruned, net.StripDepth, net.LeavesForNotFound = prunedService, recoverDepth, true
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		r := &recoverRig{rig: newRig(t, net, nil)}
		r.recover = func(raw []byte) error {
			r.given = append(r.given, raw)
			if r.fault == nil {
				r.chain.WantWitnesses(nil)
			}
			return r.fault
		}
		grow(r.chain, recoverTall)
		r.wanted = r.chain.Active().At(height)
		r.chain.WantWitnesses(r.wanted)
		test(r)
	})
}

// with connects a peer that offers services and has the chain up to a height.
func (r *recoverRig) with(services wire.ServiceFlag, height int32) *fakePeer {
	r.t.Helper()
	p := r.join(p2p.Inbound, func(i *peerhandle.Info) { i.Remote.Version.Services = services })
	p.sayHeaders(r.chain, 1, height)
	return p
}

// asked reports whether a peer was asked for the block since it was looked at last.
func (r *recoverRig) asked(p *fakePeer) (asked bool) {
	r.t.Helper()
	for m := p.next(); m != nil; m = p.next() {
		data, ok := m.(*wire.MsgGetData)
		if !ok {
			continue
		}
		for _, v := range data.InvList {
			if v.Hash == r.wanted.Hash && v.Type == wire.InvTypeWitnessBlock {
				asked = true
			}
		}
	}
	return asked
}

// wait lets time pass.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

const fullServices = wire.SFNodeNetwork | wire.SFNodeWitness

func TestRecoveryAsksWhoHasWitnesses(t *testing.T) {
	for name, c := range map[string]struct {
		services wire.ServiceFlag
		height   int32 // of the peer's chain
		wants    int32
		asked    bool
	}{
		"archive":           {fullServices, recoverTall, 5, true},
		"limited":           {wire.SFNodeNetworkLimited | wire.SFNodeWitness, recoverTall, 5, true},
		"just old enough":   {fullServices, recoverTall, recoverTall - recoverDepth, true},
		"too recent":        {fullServices, recoverTall, recoverTall - recoverDepth + 1, false},
		"pruned":            {fullServices | prunedService, recoverTall, 5, false},
		"without witnesses": {wire.SFNodeNetwork, recoverTall, 5, false},
		"without blocks":    {wire.SFNodeWitness, recoverTall, 5, false},
		"of a short chain":  {fullServices, 5 + recoverDepth - 1, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			recovering(t, c.wants, func(r *recoverRig) {
				p := r.with(c.services, c.height)
				wait(time.Second)
				if got := r.asked(p); got != c.asked {
					t.Errorf("asked: %v", got)
				}
			})
		})
	}
}

// A block that comes again goes to the chain, and no other peer is asked for this block.
func TestRecoveredBlock(t *testing.T) {
	recovering(t, 5, func(r *recoverRig) {
		first, second := r.with(fullServices, recoverTall), r.with(fullServices, recoverTall)
		wait(time.Second)
		if !r.asked(first) || r.asked(second) {
			t.Fatal("not one peer was asked")
		}
		r.chain.WantWitnesses(r.wanted)
		first.sayBlock(r.chain, 5)
		want, err := r.chain.Raw(&r.wanted.Hash)
		if err != nil || len(r.given) != 1 || !bytes.Equal(r.given[0], want) {
			t.Fatalf("the chain was given %d blocks, %v", len(r.given), err)
		}
		if first.handled() != first.said || first.gone != "" {
			t.Errorf("%d messages of %d were handled, left %q", first.handled(), first.said, first.gone)
		}
		wait(time.Minute)
		if r.asked(first) || r.asked(second) {
			t.Error("asked again")
		}
		first.sayBlock(r.chain, 5) // which nobody wants any more
		if len(r.given) != 1 {
			t.Error("the chain was given the block again")
		}
	})
}

// A peer that does not have the block counts as a peer that has deleted witnesses, and the next peer is asked.
func TestRecoveryAfterNotFound(t *testing.T) {
	recovering(t, 5, func(r *recoverRig) {
		first := r.with(fullServices, recoverTall)
		wait(time.Second)
		if !r.asked(first) {
			t.Fatal("not asked")
		}
		m := wire.NewMsgNotFound()
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &r.wanted.Hash))
		first.say(m)
		wait(time.Minute)
		if r.asked(first) || first.gone != "" {
			t.Errorf("asked again, or left %q", first.gone)
		}
		second := r.with(fullServices, recoverTall)
		wait(time.Second)
		if !r.asked(second) || r.asked(first) {
			t.Error("not the next peer was asked")
		}
	})
}

// A peer that leaves, or gives another block than it should, makes room for the next one.
func TestRecoveryGoesOn(t *testing.T) {
	recovering(t, 5, func(r *recoverRig) {
		leaves := r.with(fullServices, recoverTall)
		wait(time.Second)
		if !r.asked(leaves) {
			t.Fatal("not asked")
		}
		leaves.leave("it left")
		cheats := r.with(fullServices, recoverTall)
		wait(time.Second)
		if !r.asked(cheats) {
			t.Fatal("nobody asked after a peer has left")
		}
		r.fault = &messages.RejectError{Reason: "bad-witness-nonce-size"}
		cheats.sayBlock(r.chain, 5)
		if cheats.gone != "!mutated block" {
			t.Errorf("left %q", cheats.gone)
		}
		r.fault = nil
		honest := r.with(fullServices, recoverTall)
		wait(time.Second)
		if !r.asked(honest) {
			t.Error("nobody asked after a wrong block")
		}
	})
}

// Where a block is refused, or of no use, its peer is not asked again and again.
func TestRecoveryOfNoUse(t *testing.T) {
	for name, fault := range map[string]error{
		"not wanted": &messages.RejectError{Reason: "duplicate"}, "taken": nil, "restarted": ask.ErrRestarted,
	} {
		t.Run(name, func(t *testing.T) {
			recovering(t, 5, func(r *recoverRig) {
				p := r.with(fullServices, recoverTall)
				wait(time.Second)
				r.asked(p)
				r.recover = func(raw []byte) error { // and the block is wanted still
					r.given = append(r.given, raw)
					return fault
				}
				p.sayBlock(r.chain, 5)
				wait(50 * time.Second)
				if r.asked(p) || len(r.given) != 1 || p.gone != "" {
					t.Errorf("asked again at once, or left %q", p.gone)
				}
				wait(20 * time.Second)
				if !r.asked(p) {
					t.Error("not asked again")
				}
			})
		})
	}
}

// If the block cannot be written, peers are not asked for a while, and the peer that gave the block is not blamed.
func TestRecoveryNotKept(t *testing.T) {
	recovering(t, 5, func(r *recoverRig) {
		p := r.with(fullServices, recoverTall)
		wait(time.Second)
		r.asked(p)
		r.fault = nodemsg.ErrNotKept
		p.sayBlock(r.chain, 5)
		wait(50 * time.Second)
		if r.asked(p) || p.gone != "" {
			t.Errorf("asked again at once, or left %q", p.gone)
		}
		wait(20 * time.Second)
		if !r.asked(p) {
			t.Error("not asked again")
		}
	})
}

// FuzzRecovery has peers, good and bad, send what they like for a block whose witnesses are wanted: chance bytes, the
// block with a damage, other blocks. The chain is given only data with the block's header, from peers that were
// asked. Each message is credited once, and in the end an honest peer's block comes.
func FuzzRecovery(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 9, 2, 2, 200, 3, 0, 0, 4, 1, 7}, []byte{1, 2, 3})
	f.Add([]byte{5, 0, 0, 6, 0, 9, 7, 0, 0, 0, 1, 0, 8, 0, 60, 1, 0, 5}, bytes.Repeat([]byte{0xff}, 90))
	f.Add([]byte{8, 0, 70, 1, 0, 1, 8, 0, 70, 1, 1, 1, 8, 0, 70, 0, 2, 0}, []byte{0, 1})
	f.Fuzz(func(t *testing.T, script, data []byte) {
		if len(script) > 90 || len(data) > 1<<12 {
			return
		}
		recovering(t, 5, func(r *recoverRig) {
			whole, err := r.chain.Raw(&r.wanted.Hash)
			if err != nil {
				t.Fatal(err)
			}
			questions := 0
			r.recover = func(raw []byte) error {
				r.given = append(r.given, raw)
				if !bytes.HasPrefix(raw, whole[:wire.MaxBlockHeaderPayload]) {
					t.Error("the chain is given another block")
				}
				if !bytes.Equal(raw, whole) {
					return &messages.RejectError{Reason: "bad-witness-merkle-match"}
				}
				r.chain.WantWitnesses(nil)
				return nil
			}
			var peers []*fakePeer
			services := []wire.ServiceFlag{fullServices, fullServices, fullServices | prunedService, fullServices}
			for i := 0; i+2 < len(script); i += 3 {
				for len(peers) <= int(script[i+1])%4 {
					peers = append(peers, r.with(services[len(peers)], recoverTall))
				}
				for _, p := range peers {
					if r.asked(p) {
						questions++
					}
				}
				r.act(peers[int(script[i+1])%4], script[i], script[i+2], whole, data)
			}
			for _, p := range peers {
				if p.handled() != p.said && p.gone == "" {
					t.Errorf("%d of %d messages are credited", p.handled(), p.said)
				}
				if r.asked(p) {
					questions++
				}
				p.leave("")
			}
			if len(r.given) > questions {
				t.Errorf("the chain is given %d blocks for %d questions", len(r.given), questions)
			}
			if len(r.restored) > 0 || r.chain.Active().Height() != recoverTall {
				t.Errorf("%d blocks are stored, the tip is at %d", len(r.restored), r.chain.Active().Height())
			}
			r.chain.WantWitnesses(r.wanted)
			r.given = nil
			wait(3 * time.Minute)
			honest := r.with(fullServices, recoverTall)
			wait(3 * time.Minute)
			if !r.asked(honest) {
				t.Fatal("the honest peer is not asked")
			}
			honest.sayBlock(r.chain, 5)
			if len(r.given) != 1 || honest.gone != "" {
				t.Errorf("the chain is given %d blocks, the honest peer left for %q", len(r.given), honest.gone)
			}
		})
	})
}

// act has a peer do one thing, if it is still there.
func (r *recoverRig) act(p *fakePeer, what, at byte, whole, data []byte) {
	r.t.Helper()
	if p.gone != "" {
		return
	}
	raw := bytes.Clone(whole)
	switch what % 9 {
	case 0: // the block itself
	case 1: // with other bytes
		for i, c := range data {
			raw[(int(at)+i)%len(raw)] ^= c
		}
	case 2: // cut short
		raw = raw[:int(at)%len(raw)]
	case 3: // with something behind it
		raw = append(raw, data...)
	case 4: // nothing but its header is true
		raw = append(raw[:wire.MaxBlockHeaderPayload], data...)
	case 5: // chance
		raw = data
	case 6: // another block
		p.sayBlock(r.chain, int32(at)%recoverTall+1)
		return
	case 7:
		m := wire.NewMsgNotFound()
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &r.wanted.Hash))
		p.say(m)
		return
	case 8:
		wait(time.Duration(at) * time.Second)
		return
	}
	m := new(codec.Block)
	if m.BtcDecode(bytes.NewReader(raw), codec.ProtocolVersion, wire.WitnessEncoding) == nil { // else the session ends
		p.say(m)
	}
}
