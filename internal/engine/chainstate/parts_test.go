package chainstate

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

// Of blocks that proved to break a rule so many are remembered; other errors are not remembered.
func TestLateRefusalsAreBounded(t *testing.T) {
	_, chain := treeOf(t, 1)
	var late lateRefusals
	late.add(chain[1], errors.New("torn"))
	for range maxLate + 5 {
		late.add(chain[1], fmt.Errorf("x: %w", reject("bad", "")))
	}
	if len(late) != maxLate || late[0].Hash != chain[1].Hash || late[0].Reason.Reason != "bad" {
		t.Errorf("%d refusals", len(late))
	}
}

// The move that leaves a branch names it: once there is a better tip, or at the end of the search for one.
func TestTrail(t *testing.T) {
	tree, chain := treeOf(t, 3)
	branch := grow(t, tree, chain[1], 7) // as high as 2
	longer := grow(t, tree, branch, 7)
	last := grow(t, tree, longer, 7)
	left := func(tr *trail) (all []string) {
		for _, m := range tr.Moves() {
			name := "-"
			if m.Left != nil {
				name = strconv.Itoa(int(m.Left.Height))
			}
			all = append(all, name)
		}
		return all
	}
	step := func(tr *trail, to *chainview.Block) {
		tr.now = append(tr.now, engine.Move{Tip: to})
		tr.improve(to)
	}
	for name, test := range map[string]struct {
		from  *chainview.Block
		steps []*chainview.Block
		saved int // steps before a commit
		want  string
	}{
		"forward":               {chain[1], chain[2:], 1, "- -"},
		"back by hand":          {chain[3], []*chainview.Block{chain[2]}, 0, "3"},
		"to a better branch":    {chain[2], []*chainview.Block{chain[1], branch, longer}, 0, "- - 2"},
		"committed before":      {chain[2], []*chainview.Block{chain[1], branch, longer}, 3, "- - 2"},
		"to an equal branch":    {chain[2], []*chainview.Block{chain[1], branch}, 0, "- 2"},
		"of those committed":    {chain[2], []*chainview.Block{chain[1], branch}, 2, "- 2"},
		"there and back":        {chain[2], []*chainview.Block{chain[1], chain[2]}, 0, "- -"},
		"nowhere":               {chain[2], nil, 0, ""},
		"and on, on the branch": {chain[2], []*chainview.Block{chain[1], branch, longer, last}, 0, "- - 2 -"},
	} {
		var tr trail
		tr.begin(test.from)
		tip := test.from
		for i, to := range test.steps {
			if step(&tr, to); i+1 == test.saved {
				tr.save()
			}
			tip = to
		}
		tr.end(tip)
		tr.save()
		if got := strings.Join(left(&tr), " "); got != test.want || tr.from != nil || len(tr.Moves()) != 0 {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Transactions are counted where the chain counts them, also back.
func TestTxCount(t *testing.T) {
	for _, counts := range []bool{true, false} {
		c := txCount{counts: counts}
		c.add(7)
		c.add(-3)
		if want := map[bool]uint64{true: 4}[counts]; c.n != want {
			t.Errorf("counts %v: %d", counts, c.n)
		}
	}
}

// The last step is there if it goes in the direction that is asked for, and a block was taken back if a
// step goes back from the block.
func TestSteps(t *testing.T) {
	_, chain := treeOf(t, 2)
	all := steps{{block: chain[1]}, {block: chain[2], back: true}}
	if one, ok := all.last(true); !ok || one.block != chain[2] {
		t.Errorf("%+v", one)
	}
	if _, ok := all.last(false); ok {
		t.Error("the last one goes forward")
	}
	if one, ok := all[:1].last(false); !ok || one.block != chain[1] {
		t.Errorf("%+v", one)
	}
	if _, ok := (steps)(nil).last(true); ok || all.tookBack(chain[1]) || !all.tookBack(chain[2]) {
		t.Error("other steps")
	}
}

// A row that names sets is read as it was written, and no other is.
func TestSetsRow(t *testing.T) {
	hash := chainhash.Hash{1, 2}
	for _, set := range []chaindb.CoinSet{chaindb.FirstCoins, chaindb.SecondCoins} {
		for _, base := range []*chainhash.Hash{nil, &hash} {
			got, from, err := parseSets(setsRow(set, base).Value)
			if got != set || err != nil || (from == nil) != (base == nil) || from != nil && *from != hash {
				t.Errorf("%v, %v: %v, %v, %v", set, base, got, from, err)
			}
		}
	}
	if set, base, err := parseSets(nil); set != chaindb.FirstCoins || base != nil || err != nil {
		t.Errorf("no row: %v, %v, %v", set, base, err)
	}
	for _, row := range [][]byte{{}, {2}, {0, 1}, make([]byte, 32), make([]byte, 34), append([]byte{2}, hash[:]...)} {
		if len(row) == 0 {
			continue // no row has no bytes
		}
		if _, _, err := parseSets(row); !errors.Is(err, ErrRow) {
			t.Errorf("%x: %v", row, err)
		}
	}
}

// The flags of a row say the status, but for what other rows say.
func TestRowFlags(t *testing.T) {
	all := []chainview.Status{
		chainview.HasData, chainview.Valid, chainview.Failed, chainview.FailedAncestor, chainview.NoUndo,
	}
	seen := map[byte]bool{}
	for bits := range 1 << len(all) {
		var s chainview.Status
		for i, one := range all {
			if bits>>i&1 != 0 {
				s |= one
			}
		}
		flags := RowFlags(s | chainview.Pruned | chainview.Stripped)
		if RowStatus(flags) != s || seen[flags] {
			t.Errorf("%b is %b", s, flags)
		}
		seen[flags] = true
	}
}

// The row of the tip has its hash, its height, the number of transactions and the work; the key of a block its height
// and its hash.
func TestRowsOfBlocks(t *testing.T) {
	_, chain := treeOf(t, 3)
	row := stateRow(chain[3], 1<<40+5)
	want := slices.Concat(chain[3].Hash[:], []byte{3, 0, 0, 0, 5, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 8})
	if !bytes.Equal(row, want) {
		t.Errorf("%x, want %x", row, want)
	}
	if key := IndexKey(chain[3]); !bytes.Equal(key, slices.Concat([]byte{0, 0, 0, 3}, chain[3].Hash[:])) {
		t.Errorf("%x", key)
	}
}

// Memory goes to the set that changes more: that of the active chain while it is far behind.
func TestBalance(t *testing.T) {
	tree, chain := treeOf(t, manyBehind+2)
	choice := forkchoice.New(tree, chain[0], func(*chainview.Block, chainview.Status) {})
	choice.AddHeader(chain[manyBehind+2])
	for height, catchingUp := range map[int]bool{1: true, 2: false, 3: false} {
		main := &Engine{choice: choice, tip: chain[height], coins: coincache.New(nil, 700)}
		b := &background{Engine: &Engine{coins: coincache.New(nil, 300)}, main: main}
		b.balance()
		want := [2]int64{50, 950}
		if catchingUp {
			want = [2]int64{950, 50}
		}
		if got := [2]int64{main.coins.Limit(), b.coins.Limit()}; got != want {
			t.Errorf("at %d: %v, want %v", height, got, want)
		}
	}
}

// The background goes to the base some blocks at a time, as far as blocks are there.
func TestNextOfBackground(t *testing.T) {
	tree, chain := treeOf(t, 30)
	choice := forkchoice.New(tree, chain[0], func(*chainview.Block, chainview.Status) {})
	for _, test := range []struct{ tip, base, without, want int }{
		{0, 30, 0, stepBlocks}, {5, 30, 0, 5 + stepBlocks}, {25, 30, 0, 30}, {30, 30, 0, 30},
		{0, stepBlocks, 0, stepBlocks},
		{0, 30, 3, 2}, {2, 30, 3, 2}, {0, 30, stepBlocks + 1, stepBlocks}, {0, 5, 6, 5},
	} {
		for _, lacks := range []chainview.Status{0, chainview.HasData | chainview.Pruned} {
			if test.without > 0 {
				tree.SetStatus(chain[test.without], lacks)
			}
			b := &background{Engine: &Engine{tip: chain[test.tip], choice: choice}, base: chain[test.base]}
			if got := b.next(); got != chain[test.want] {
				t.Errorf("%+v: to %d", test, got.Height)
			}
			if test.without > 0 {
				tree.SetStatus(chain[test.without], chainview.HasData|chainview.Valid)
			}
		}
	}
}

// How long work takes is told by the difficulty of the later block, without end for more than can be counted.
func TestEquivalentTime(t *testing.T) {
	_, chain := treeOf(t, 10)
	if got := equivalentTime(chain[9], chain[2], 10*time.Minute); got != 70*time.Minute {
		t.Errorf("%v", got)
	}
	if got := equivalentTime(chain[2], chain[2], time.Minute); got != 0 {
		t.Errorf("%v", got)
	}
	tree, short := treeOf(t, 1)
	header := wire.BlockHeader{PrevBlock: short[1].Hash, Bits: 0x207fffff}
	const most = math.MaxInt64 / int64(time.Second)
	for work, want := range map[int64]time.Duration{
		1 << 62: math.MaxInt64, 20: 10 * time.Second, 2 * most: time.Duration(most) * time.Second,
		2*most + 2: math.MaxInt64,
	} {
		header.Nonce++
		b, err := tree.Add(&header, big.NewInt(work), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := equivalentTime(b, short[1], time.Second); got != want {
			t.Errorf("%d: %v, want %v", work, got, want)
		}
	}
}

// Outputs that do not parse are listed by their ids, the ones of a range; of two with one key the first counts.
func TestListOfOddOutputs(t *testing.T) {
	_, chain := treeOf(t, 3)
	var l snapshotLoader
	l.base, l.odd.kept = chain[3], true
	add := func(first, second byte, amount int64) {
		out := wire.OutPoint{Hash: chainhash.Hash{first, second}, Index: 7}
		coin := &blockfile.Coin{Height: 2, Coinbase: true, Amount: amount, Script: []byte{0x4c}}
		if err := l.addOdd(out, coin); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range [][2]byte{{3, 0}, {0, 1}, {2, 255}, {255, 255}, {0, 0}, {3, 1}} {
		add(id[0], id[1], int64(id[0]))
	}
	add(3, 1, 99)
	if l.bytes != 7*201 {
		t.Errorf("%d bytes", l.bytes)
	}
	for _, test := range []struct {
		first, last uint16
		want        string
	}{
		{0, 0xffff, "0000 0001 02ff 0300 0301 ffff"}, {0, 0, "0000"}, {1, 0x2ff, "0001 02ff"}, {0x300, 0x300, "0300"},
		{0x301, 0xfffe, "0301"}, {0x302, 0xfffe, ""},
	} {
		var got []string
		for _, c := range l.odd.list(test.first, test.last) {
			got = append(got, hex.EncodeToString(c.Out.Hash[:2]))
			if c.Height != 2 || !c.Coinbase || c.Out.Index != 7 || c.Amount != int64(c.Out.Hash[0]) ||
				len(c.Packed) == 0 {
				t.Errorf("%+v", c)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%x to %x: %v, want %s", test.first, test.last, got, test.want)
		}
	}
	l.bytes = maxOdd - 201
	add(9, 9, 1)
	var bad *coinfile.ContentError
	if err := l.addOdd(wire.OutPoint{}, &blockfile.Coin{Script: []byte{0x4c}}); !errors.As(err, &bad) {
		t.Errorf("too many: %v", err)
	}
}

// The row of an output that does not parse is read where its block is on the chain; what cannot be one is damage.
func TestParseUnparsable(t *testing.T) {
	_, chain := treeOf(t, 3)
	id := chainhash.Hash{5}
	key := slices.Concat(id[:], []byte{0, 0, 1, 2}, chain[2].Hash[:])
	value := slices.Concat([]byte{1}, binary.LittleEndian.AppendUint64(nil, 77), []byte{0x4c, 9})
	at := func(hash *chainhash.Hash) *chainview.Block {
		if *hash == chain[2].Hash {
			return chain[2]
		}
		return nil
	}
	c, script, ok, err := parseUnparsable(key, value, at)
	want := messages.SetCoin{Out: wire.OutPoint{Hash: id, Index: 258}, Height: 2, Coinbase: true, Amount: 77}
	if err != nil || !ok || fmt.Sprint(c) != fmt.Sprint(want) || !bytes.Equal(script, value[9:]) {
		t.Errorf("%+v, %x, %v, %v", c, script, ok, err)
	}
	none := func(*chainhash.Hash) *chainview.Block { return nil }
	if _, _, ok, err := parseUnparsable(key, value, none); ok || err != nil {
		t.Errorf("of another chain: %v, %v", ok, err)
	}
	huge := slices.Clone(value)
	huge[8] = 0x80
	for name, row := range map[string][2][]byte{
		"a short key": {key[1:], value}, "a long key": {append(key, 0), value}, "a short value": {key, value[:8]},
		"an amount below 0": {key, huge},
	} {
		if _, _, ok, err := parseUnparsable(row[0], row[1], at); ok || !errors.Is(err, errUnparsableRow) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	value[0] = 0
	if c, _, _, _ := parseUnparsable(key, value, at); c.Coinbase {
		t.Error("no coinbase is one")
	}
}

// The blocks of a commit are noted once for each block, with its size.
func TestPending(t *testing.T) {
	_, chain := treeOf(t, 3)
	var p pending
	p.markDirty(chain[1])
	p.link(chain[2], true)
	p.link(chain[2], false)
	p.link(chain[1], false)
	p.markDirty(chain[2])
	if len(p.rows) != 2 || p.rows[chain[1]] || !p.rows[chain[2]] {
		t.Errorf("%v", p.rows)
	}
	p.link(chain[1], true)
	if !p.rows[chain[1]] {
		t.Error("the row of a header is forgotten")
	}
	p.store(&block{Header: &Header{Hash: chain[1].Hash}, raw: make([]byte, 100)})
	for range 2 {
		p.addUndo(&chain[1].Hash, make([]byte, 7))
	}
	p.put(chaindb.Row{}, chaindb.Row{})
	if p.size != 107 || len(p.change.Blocks) != 1 || len(p.change.Undo) != 1 || len(p.change.Rows) != 2 ||
		p.blocks[chain[1].Hash] == nil {
		t.Errorf("%d bytes, %+v", p.size, p.change)
	}
}

// The engine has work in the background while a snapshot is not validated, and while an old set is not erased.
func TestBehind(t *testing.T) {
	for name, test := range map[string]struct {
		engine Engine
		want   bool
	}{
		"nothing": {Engine{}, false}, "a snapshot": {Engine{behind: &background{}}, true},
		"an old set": {Engine{erasing: &chaindb.CoinStore{}}, true},
	} {
		if got := (assuming{engine: &test.engine}).Behind(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Pieces grow while they are fast and shrink while they are slow. On the slowest disk they are of one part.
func TestNextWidth(t *testing.T) {
	for _, test := range []struct {
		width uint32
		took  time.Duration
		want  uint32
	}{
		{16, pieceFast - 1, 32}, {16, pieceFast, 16}, {16, pieceSlow, 16}, {16, pieceSlow + 1, 8},
		{3, pieceSlow + 1, 1}, {2, pieceSlow + 1, 1}, {1, pieceSlow + 1, 1},
	} {
		if got := nextWidth(test.width, test.took); got != test.want {
			t.Errorf("%d after %v: %d, want %d", test.width, test.took, got, test.want)
		}
	}
}
