package coins_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/coins"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// coinSet is a set in memory. A script is stored after the byte 1 or after the byte 2, so that
// a scan has to look for both forms.
type coinSet struct {
	coins    []messages.SetCoin // ascending
	tip      messages.Tip
	released atomic.Int32
	hook     func(ctx context.Context, first byte) error // called before a part is read
}

func (s *coinSet) Tip() messages.Tip                    { return s.tip }
func (s *coinSet) DiskSize() (int64, error)             { return 77, nil }
func (s *coinSet) Release()                             { s.released.Add(1) }
func (s *coinSet) Pack(script []byte) [][]byte          { return [][]byte{pack(1, script), pack(2, script)} }
func pack(form byte, script []byte) []byte              { return append([]byte{form}, script...) }
func (s *coinSet) Unpack(dst, p []byte) ([]byte, error) { return append(dst, p[1:]...), nil }

func (s *coinSet) Visit(ctx context.Context, first, last uint16, visit func(*messages.SetCoin) error) error {
	if s.hook != nil {
		if err := s.hook(ctx, byte(first>>8)); err != nil {
			return err
		}
	}
	from, _ := slices.BinarySearchFunc(
		s.coins, first, func(c messages.SetCoin, b uint16) int { return int(front(c)) - int(b) },
	)
	for _, c := range s.coins[from:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if front(c) > last {
			break
		}
		c.Packed = bytes.Clone(c.Packed)
		if err := visit(&c); err != nil {
			return err
		}
		clear(c.Packed) // what is kept beyond the visit is lost
	}
	return nil
}

// front is what the range of a visit is told by.
func front(c messages.SetCoin) uint16 { return binary.BigEndian.Uint16(c.Out.Hash[:]) }

func script(n int) []byte { return binary.BigEndian.AppendUint32([]byte{0x51}, uint32(n)) }

// scripts is how many different scripts a set has.
const scripts = 40

// newSet makes n transactions of one to four outputs.
func newSet(n int) *coinSet {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	s := &coinSet{tip: messages.Tip{Hash: chainhash.Hash{9}, Height: 1000}}
	for range n {
		var id chainhash.Hash
		for i := range id {
			id[i] = byte(rng.Uint32())
		}
		for index := range 1 + rng.Uint32N(4) {
			s.coins = append(s.coins, messages.SetCoin{
				Out: wire.OutPoint{Hash: id, Index: index}, Height: rng.Int32N(1000), Coinbase: rng.IntN(2) == 0,
				Amount: rng.Int64N(1e8), Packed: pack(byte(1+rng.IntN(2)), script(rng.IntN(scripts))),
			})
		}
	}
	slices.SortFunc(s.coins, func(a, b messages.SetCoin) int {
		if c := bytes.Compare(a.Out.Hash[:], b.Out.Hash[:]); c != 0 {
			return c
		}
		return int(a.Out.Index) - int(b.Out.Index)
	})
	return s
}

// found is what a scan of the set for a script must find.
func (s *coinSet) found(script []byte) (list []messages.FoundCoin) {
	for _, c := range s.coins {
		if bytes.Equal(c.Packed[1:], script) {
			list = append(list, messages.FoundCoin{
				Out: c.Out, Script: script, Amount: c.Amount, Height: c.Height, Coinbase: c.Coinbase,
			})
		}
	}
	return list
}

// rig is the actor over a set, with a chain that hands it out.
type rig struct {
	sys  *actortest.System
	set  *coinSet
	ref  *ask.Ref
	fail error // what the chain answers
	lost int   // requests that the chain fails over and forgets
}

func newRig(tb testing.TB, set *coinSet, workers int) *rig {
	tb.Helper()
	r := &rig{sys: actortest.New(tb), set: set}
	chain := r.sys.Spawn("chain", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			m, ok := c.Message().(*ask.Call[messages.SnapshotCoins, messages.CoinSet])
			switch {
			case !ok:
				ask.Unhandled(c)
			case m.Req.At != nil && *m.Req.At != r.set.tip.Hash:
				m.Answer(nil, messages.ErrNoRollback)
			case r.lost > 0:
				r.lost--
				panic("the chain fails")
			case r.fail != nil:
				m.Answer(nil, r.fail)
			default:
				m.Answer(r.set, nil)
			}
		})
	})
	r.ref = r.sys.Spawn(
		"coins", coins.New(coins.Config{Chain: chain, Workers: workers, Log: r.sys.Log}), coins.Requests...,
	)
	return r
}

func do[Q messages.Request[R], R any](tb testing.TB, to *ask.Ref, q Q) R {
	tb.Helper()
	got, err := ask.Ask(tb.Context(), to, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

type answer struct {
	result messages.CoinScanResult
	err    error
}

// begin starts a scan and returns where its answer will be.
func (r *rig) begin(tb testing.TB, scripts ...[]byte) <-chan answer {
	tb.Helper()
	slot := do(tb, r.ref, messages.ReserveCoinScan{})
	answers := make(chan answer, 1)
	go func() {
		got, err := ask.Ask(tb.Context(), r.ref, messages.RunCoinScan{Slot: slot.ID, Scripts: scripts})
		answers <- answer{got, err}
	}()
	return answers
}
