package headersync_test

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/headersync"
)

var (
	params  = &chaincfg.MainNetParams
	lengths = headersync.Lengths{Period: 632, Lookout: 15_009}
)

func start() headersync.Start {
	g := params.GenesisBlock.Header
	return headersync.Start{
		Hash: *params.GenesisHash, Bits: g.Bits, Work: consensus.TargetWork(g.Bits), Time: g.Timestamp,
	}
}

// chain returns n headers on the genesis block, which prove no work.
func chain(n int, salt byte) []headersync.Header {
	list := make([]headersync.Header, n)
	prev, at := *params.GenesisHash, params.GenesisBlock.Header.Timestamp
	for i := range list {
		h := wire.BlockHeader{
			Version: 4, PrevBlock: prev, Bits: params.PowLimitBits,
			Timestamp: at.Add(time.Duration(i+1) * 10 * time.Minute),
		}
		h.MerkleRoot[0] = salt
		prev = h.BlockHash()
		list[i] = headersync.Header{BlockHeader: h, Hash: prev}
	}
	return list
}

// workOf is the work of n headers after the first block.
func workOf(n int) *big.Int {
	w := consensus.TargetWork(params.PowLimitBits)
	return w.Mul(w, big.NewInt(int64(n+1)))
}

func newState(least *big.Int) *headersync.State {
	now := params.GenesisBlock.Header.Timestamp.Add(10 * 365 * 24 * time.Hour)
	return headersync.New(params, lengths, start(), least, now)
}

const message = 2000

// play gives headers to a state, from the place where it asks, until it is over.
func play(
	t *testing.T, s *headersync.State, read func(again bool) []headersync.Header,
) (pass []headersync.Header, ok bool) {
	t.Helper()
	for !s.Over() {
		_, _, first := s.Progress()
		list := read(!first)
		last := s.Last()
		from := slices.IndexFunc(list, func(h headersync.Header) bool { return h.Hash == last }) + 1
		end := min(from+message, len(list))
		if from == end {
			return pass, true // an empty message ends it
		}
		got, _, good := s.Next(list[from:end], end-from == message)
		if pass = append(pass, got...); !good {
			return pass, false
		}
	}
	return pass, true
}

// A chain with enough work passes whole, one without leaves nothing.
func TestPasses(t *testing.T) {
	list := chain(20_000, 1)
	pass, ok := play(t, newState(workOf(19_500)), func(bool) []headersync.Header { return list })
	if !ok || len(pass) != len(list) {
		t.Fatalf("%d of %d headers pass", len(pass), len(list))
	}
	for i := range pass {
		if pass[i].Hash != list[i].Hash {
			t.Fatalf("header %d is another", i)
		}
	}
	pass, ok = play(t, newState(workOf(21_000)), func(bool) []headersync.Header { return list })
	if !ok || len(pass) != 0 {
		t.Errorf("too little work: %d headers pass, %v", len(pass), ok)
	}
}

// A peer that shows one chain and gives another gets little of it through.
func TestBaitAndSwitch(t *testing.T) {
	shown, given := chain(25_000, 1), chain(25_000, 2)
	caught := 0
	for range 5 {
		pass, ok := play(t, newState(workOf(24_000)), func(again bool) []headersync.Header {
			if again {
				return given
			}
			return shown
		})
		if len(pass) > 0 {
			t.Errorf("%d headers of another chain pass", len(pass))
		}
		if !ok {
			caught++
		}
	}
	if caught != 5 {
		t.Errorf("caught %d of 5 times", caught)
	}
}

func TestRefuses(t *testing.T) {
	list := chain(4000, 1)
	gap := slices.Clone(list[:message])
	gap = append(gap, list[message+1:]...)
	s := newState(workOf(1 << 20))
	if _, _, ok := s.Next(gap[:message], true); !ok {
		t.Fatal("a good message is refused")
	}
	if _, _, ok := s.Next(gap[message:], true); ok || !s.Over() {
		t.Error("a gap is not seen")
	}
	easier := chain(10, 1)
	easier[5].Bits--
	if _, _, ok := newState(workOf(1<<20)).Next(easier[:6], true); ok {
		t.Error("a change of the target within a period is not seen")
	}
	// More headers than there can be seconds for.
	long := chain(message, 1)
	s = headersync.New(params, lengths, start(), workOf(1<<20), params.GenesisBlock.Header.Timestamp.Add(-2*time.Hour))
	if _, _, ok := s.Next(long, true); ok {
		t.Error("more headers than times pass")
	}
}

// Where the start is later than the clock lets any header be, a chain may leave one bit, not fewer than none.
func TestStartAfterTheClock(t *testing.T) {
	g := params.GenesisBlock.Header.Timestamp
	for ahead, want := range map[time.Duration]int{
		-2 * time.Hour: 1, -2*time.Hour - time.Second: 1, -10 * 365 * 24 * time.Hour: 1, 0: 2*3600*6/632 + 1,
	} {
		s := headersync.New(params, lengths, start(), workOf(3), g.Add(ahead))
		if s.Limit() != want {
			t.Errorf("%v: %d bits, want %d", ahead, s.Limit(), want)
		}
		if _, more, ok := s.Next(chain(2, 1), true); !more || !ok {
			t.Errorf("%v: the first headers are refused", ahead)
		}
	}
}
