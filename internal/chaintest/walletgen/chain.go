package walletgen

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
)

// A Miner makes blocks that pay to scripts.
type Miner struct {
	Chain  *chaintest.Chain
	Random *rand.Rand

	// Valid makes blocks that every node takes, up to the first halving: nothing is spent but old coinbases. Else
	// blocks also spend what was paid before, without signatures.
	Valid bool
}

// maturity is how old a coinbase is when it is spent in valid blocks.
const maturity = 100

// Mine puts blocks on another, one for each list of scripts, and returns the last.
func (m *Miner) Mine(on *chainview.Block, plan [][][]byte) *chainview.Block {
	var paid []wire.OutPoint // by the block before
	for m.Valid && on.Height < maturity {
		on = m.Chain.MineOn(on, chaintest.Template{Solved: true})
	}
	for _, scripts := range plan {
		t := chaintest.Template{Solved: m.Valid, Script: []byte{0x51}}
		if len(scripts) > 0 && !m.Valid && m.Random.IntN(4) == 0 {
			t.Script, scripts = scripts[0], scripts[1:] // of the coinbase
		}
		if len(scripts) > 0 && on.Height > 0 {
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(wire.NewTxIn(m.funds(on), nil, nil))
			for i := range paid {
				if m.Random.IntN(3) == 0 {
					tx.AddTxIn(wire.NewTxIn(&paid[i], nil, nil))
				}
			}
			for _, script := range scripts {
				tx.AddTxOut(wire.NewTxOut(1000+m.Random.Int64N(9000), script))
			}
			t.Txs = append(t.Txs, tx)
		}
		on, paid = m.Chain.MineOn(on, t), nil
		for _, tx := range t.Txs {
			for n := range tx.TxOut {
				paid = append(paid, wire.OutPoint{Hash: tx.TxHash(), Index: uint32(n)})
			}
		}
		if m.Valid {
			paid = nil
		}
	}
	return on
}

// funds returns the coinbase that the block after one spends.
func (m *Miner) funds(on *chainview.Block) *wire.OutPoint {
	height := on.Height
	if m.Valid {
		height = on.Height + 1 - maturity
	}
	block, err := m.Chain.Block(&on.Ancestor(height).Hash)
	if err != nil {
		panic(err) // the chain is in memory
	}
	return &wire.OutPoint{Hash: block.Transactions[0].TxHash()}
}

// An Entry is an output that a block creates or spends.
type Entry struct {
	Height int32
	Block  chainhash.Hash
	Spend  bool
	TxID   chainhash.Hash // of the transaction that creates or spends it
	N      uint32         // number of the output or of the input

	place int // in the block
}

// Seen is what whole blocks have, by script.
type Seen struct{ entries map[string][]Entry }

// Look looks at all blocks up to one.
func Look(chain chainview.Reader, stop *chainview.Block) (*Seen, error) {
	s := &Seen{map[string][]Entry{}}
	for height := range stop.Height + 1 {
		b := stop.Ancestor(height)
		block, err := chain.Block(&b.Hash)
		if err != nil {
			return nil, err
		}
		spent, err := chain.Spent(&b.Hash)
		if err != nil {
			return nil, err
		}
		place := 0
		add := func(script []byte, e Entry) {
			e.Height, e.Block, e.place = height, b.Hash, place
			place++
			s.entries[string(script)] = append(s.entries[string(script)], e)
		}
		for i, tx := range block.Transactions {
			id := tx.TxHash()
			for n := range tx.TxIn {
				if i > 0 {
					add(spent[i-1][n].Script, Entry{Spend: true, TxID: id, N: uint32(n)})
				}
			}
			for n, out := range tx.TxOut {
				add(out.PkScript, Entry{TxID: id, N: uint32(n)})
			}
		}
	}
	return s, nil
}

// Heights are the blocks that are looked at.
type Heights struct{ From, To int32 }

// uses reports whether an index is used.
func (s *Seen) uses(b *Branch, index int32, in Heights) bool {
	for _, script := range b.Scripts(index) {
		for i := range s.entries[string(script)] {
			if e := &s.entries[string(script)][i]; in.From <= e.Height && e.Height <= in.To {
				return true
			}
		}
	}
	return false
}

// A Range is what a gap makes of the range of an object's branch.
type Range struct {
	Last, Highest int32 // the highest used index, -1: none
	Exhausted     bool  // there are no higher indices, and the gap would go on
}

// Range returns the least range that satisfies a gap, by looking at one index after the other.
func (s *Seen) Range(o *Object, branch int, gap int32, in Heights) Range {
	return s.Widened(o, branch, gap, in, Range{Last: o.Last, Highest: -1})
}

// Widened is Range where a range is there already, with a highest used index.
func (s *Seen) Widened(o *Object, branch int, gap int32, in Heights, before Range) Range {
	r := Range{Last: o.First - 1, Highest: -1}
	unused := int32(0)
	for index := int64(o.First); index <= int64(before.Last) || unused < gap; index++ {
		if index > math.MaxInt32 {
			r.Exhausted = unused < gap
			break
		}
		r.Last, unused = int32(index), unused+1
		if index == int64(before.Highest) || s.uses(o.Branches[branch], int32(index), in) {
			r.Highest, unused = int32(index), 0
		}
	}
	return r
}

// Need returns the highest index of a branch that is paid, -1 if none is, and the least gap that lets find it.
func (s *Seen) Need(o *Object, branch int, in Heights) (highest, gap int32) {
	highest = -1
	at := o.First - 1
	for _, index := range slices.Sorted(slices.Values(o.used[branch])) {
		if index < o.First || !s.uses(o.Branches[branch], index, in) {
			continue
		}
		if index > o.Last {
			gap = max(gap, index-at)
		}
		highest, at = index, index
	}
	return highest, gap
}

// Entries returns what blocks have of the indices of a branch up to one, in the order of the chain.
func (s *Seen) Entries(o *Object, branch int, last int32, in Heights) (all []Entry) {
	for index := int64(o.First); index <= int64(last); index++ {
		for _, script := range o.Branches[branch].Scripts(int32(index)) {
			for _, e := range s.entries[string(script)] {
				if in.From <= e.Height && e.Height <= in.To {
					all = append(all, e)
				}
			}
		}
	}
	return Sorted(all)
}

// Sorted puts entries into the order of the chain, each once.
func Sorted(all []Entry) []Entry {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(a.place, b.place))
	})
	return slices.Compact(all)
}

// Blocks returns the blocks of sorted entries.
func Blocks(sorted []Entry) (blocks []chainhash.Hash) {
	for i := range sorted {
		if n := len(blocks); n == 0 || blocks[n-1] != sorted[i].Block {
			blocks = append(blocks, sorted[i].Block)
		}
	}
	return blocks
}
