package txpool_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// After any steps, the state that a pool keeps up to date is what follows from
// its transactions, and its events add up to its content.
func TestConsistency(t *testing.T) {
	for seed := range uint64(16) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, func(p *txpool.Policy) {
			p.Limits.Ancestors, p.Limits.Descendants = 6, 6
			p.Limits.Cluster = 12
			p.MaxBytes = 60_000
			p.Order = txpool.Order(seed % 2)
		})
		s := &storm{rig: r, rng: rng, known: make(map[chainhash.Hash]bool)}
		for range 15 {
			s.free = append(s.free, r.coin())
		}
		for step := range 300 {
			s.step()
			if err := r.pool.Check(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			s.listen()
		}
	}
}

// storm does random things to a pool.
type storm struct {
	*rig

	rng    *rand.Rand
	free   []wire.OutPoint // coins of the chain
	blocks [][]*wire.MsgTx // that may leave the chain
	known  map[chainhash.Hash]bool
}

func (s *storm) step() {
	switch n := s.rng.IntN(20); {
	case n < 14:
		s.accept(s.random())
	case n < 16:
		if list := s.pool.Ordered(); len(list) > 0 {
			s.pool.Prioritise(&list[s.rng.IntN(len(list))].ID, s.rng.Int64N(5000)-2000)
		}
	case n < 18:
		s.connect()
	case n < 19:
		s.disconnect()
	default:
		s.now.Time += 60
		s.pool.Limit(s.now.Time)
	}
}

// random spends some outputs of the chain and of the pool, spent ones among them.
func (s *storm) random() *wire.MsgTx {
	outs := append(s.pool.Unspent(), s.free...)
	var from []wire.OutPoint
	for range 1 + s.rng.IntN(3) {
		at := outs[s.rng.IntN(len(outs))]
		_, confirmed := s.coins[at]
		if s.pool.Lookup(&at.Hash) == nil && !confirmed || slices.Contains(from, at) {
			continue
		}
		from = append(from, at)
	}
	if len(from) == 0 {
		from = append(from, s.coin())
	}
	return s.tx(100+s.rng.Int64N(20_000), 1+s.rng.IntN(3), from...)
}

// connect makes a block of the best transactions, at random with a foreign
// transaction.
func (s *storm) connect() {
	var block []*wire.MsgTx
	if s.rng.IntN(2) == 0 {
		block = append(block, s.tx(1000, 1, s.coin()))
	}
	for _, e := range s.pool.Choose(40_000, 1000, txpool.PerKvB(1)) {
		block = append(block, e.Tx)
	}
	for _, tx := range block {
		for i, o := range tx.TxOut {
			s.coins[out(tx, uint32(i))] = messages.Coin{Output: o, Height: 60}
		}
		for _, in := range tx.TxIn {
			delete(s.coins, in.PreviousOutPoint)
		}
	}
	s.pool.Connect(block, s.now.Time)
	s.blocks = append(s.blocks, block)
}

// disconnect takes the last block back.
func (s *storm) disconnect() {
	if len(s.blocks) == 0 {
		return
	}
	block := s.blocks[len(s.blocks)-1]
	s.blocks = s.blocks[:len(s.blocks)-1]
	made := make(map[wire.OutPoint]bool)
	for _, tx := range block {
		for i := range tx.TxOut {
			delete(s.coins, out(tx, uint32(i)))
			made[out(tx, uint32(i))] = true
		}
	}
	for _, tx := range block {
		for _, in := range tx.TxIn {
			if !made[in.PreviousOutPoint] {
				s.coins[in.PreviousOutPoint] = messages.Coin{Output: wire.NewTxOut(coinValue, anyone), Height: 50}
			}
		}
	}
	s.pool.Return(block, s.coins, s.now)
}

// listen follows the events.
func (s *storm) listen() {
	s.t.Helper()
	for _, change := range s.pool.TakeChanges() {
		if !change.Added && !s.known[change.ID] && change.Reason == messages.PoolSizeLimit {
			continue // it had no room: only that it left is reported
		}
		if s.known[change.ID] == change.Added {
			s.t.Fatalf("changes of %v come twice", change.ID)
		}
		s.known[change.ID] = change.Added
		if !change.Added {
			delete(s.known, change.ID)
		}
	}
	if len(s.known) != s.pool.Len() {
		s.t.Fatalf("the changes lead to %d transactions, there are %d", len(s.known), s.pool.Len())
	}
}

// A block holds each transaction after those that it spends from, and within its
// weight no other package of the pool pays more.
func TestChoose(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		s := &storm{rig: newRig(t, func(p *txpool.Policy) { p.Order = txpool.Order(seed % 2) }), rng: rng}
		for range 20 {
			s.free = append(s.free, s.coin())
		}
		for range 80 {
			s.accept(s.random())
		}
		limit := int64(2000 + rng.IntN(20_000))
		chosen := s.pool.Choose(limit, 400, txpool.PerKvB(1))
		weight, in := int64(400), make(map[chainhash.Hash]bool)
		for _, e := range chosen {
			for _, parent := range e.Parents() {
				if !in[parent.ID] {
					t.Fatalf("seed %d: a transaction comes before its parent", seed)
				}
			}
			in[e.ID] = true
			weight += e.Weight
		}
		if weight > limit {
			t.Errorf("seed %d: weight %d of %d", seed, weight, limit)
		}
		if all := s.pool.Choose(4_000_000, 400, txpool.PerKvB(1)); len(all) != s.pool.Len() {
			t.Errorf("seed %d: %d of %d transactions fit nowhere", seed, s.pool.Len()-len(all), s.pool.Len())
		}
		if s.pool.Policy().Order == txpool.ByClusters {
			s.byChunks(chosen, limit-400)
			continue
		}
		s.bestFirst(chosen)
	}
}

// byChunks checks that a block has whole chunks, in their order, and of each cluster all before the
// first that has no room.
func (s *storm) byChunks(chosen []*txpool.Entry, room int64) {
	var want []*txpool.Entry
	passed := make(map[*txpool.Entry]bool)
	for _, chunk := range txpool.ChunksOf(s.pool).All() {
		switch {
		case passed[chunk.Entries[0]]:
		case chunk.Weight >= room:
			for _, other := range txpool.ChunksOf(s.pool).Cluster(chunk.Entries[0]) {
				for _, e := range other.Entries {
					passed[e] = true
				}
			}
		default:
			want = append(want, chunk.Entries...)
			room -= chunk.Weight
		}
	}
	if !slices.Equal(chosen, want) {
		s.t.Errorf("a block of %d, want %d", len(chosen), len(want))
	}
}

// bestFirst checks the first choice against all that could have been chosen.
func (s *storm) bestFirst(chosen []*txpool.Entry) {
	if len(chosen) == 0 {
		return
	}
	first := txpool.FeeRate{}
	var fees, vsize int64
	for _, e := range chosen {
		fees, vsize = fees+e.Modified, vsize+e.VSize
		if rate := txpool.RateOf(fees, vsize); rate.Compare(first) > 0 {
			first = rate
		}
	}
	for _, e := range s.pool.Ordered() {
		if e.Ancestors.VSize*4+400 >= 2000 {
			continue // may not have fit
		}
		if rate := txpool.RateOf(e.Ancestors.Fees, e.Ancestors.VSize); rate.Compare(first) > 0 {
			s.t.Errorf("a package pays %v, the best of the block %v", rate, first)
		}
	}
}

// Rates are compared and rounded without loss, however large they are.
func TestFeeRate(t *testing.T) {
	const most = 21e14
	for _, test := range []struct {
		fee, size, vsize, want int64
	}{
		{100, 1000, 250, 25},
		{100, 1000, 251, 26},
		{0, 1000, 500, 0},
		{-100, 1000, 251, -25},
		{most, 100, 101, most / 100 * 101},
		{100, 0, 250, 0},
	} {
		if got := txpool.RateOf(test.fee, test.size).Fee(test.vsize); got != test.want {
			t.Errorf("%d for %d: %d cost %d, want %d", test.fee, test.size, test.vsize, got, test.want)
		}
	}
	if txpool.RateOf(most, 3).Compare(txpool.RateOf(most-1, 3)) != 1 ||
		txpool.RateOf(-1, 5).Compare(txpool.RateOf(1, 9)) != -1 ||
		txpool.RateOf(most, 100_000).Compare(txpool.RateOf(most-1, 100_000)) != 1 ||
		txpool.RateOf(2, 4).Compare(txpool.RateOf(1, 2)) != 0 {
		t.Error("rates are out of order")
	}
	if got := txpool.PerKvB(1234).Text("BTC"); got != "0.00001234 BTC/kvB" {
		t.Error(got)
	}
}
