package searches

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/searchdb"
)

type reads interface{ match.View } // so that a view can have a method View

// oneFilter has the filter of one block.
type oneFilter struct {
	reads

	filter filters.Filter
	height int32
	err    error
	open   int
}

func (o *oneFilter) View() match.View {
	o.open++
	return o
}

func (o *oneFilter) Filters(from int32, active bool, dst []filters.Filter) error {
	if from != o.height || active || len(dst) != 1 || dst[0].Block != o.filter.Block {
		return errors.New("another filter is asked for")
	}
	dst[0] = o.filter
	return o.err
}

func (o *oneFilter) Active(int32, *chainhash.Hash) bool { return false }

func (o *oneFilter) Guard(read func()) error {
	read()
	return nil
}

func (o *oneFilter) Release() { o.open-- }

// A pruned block may spend scripts that it neither shows nor pays to. If its filter has such a script of the search,
// nobody can say what was spent.
func TestDoubtOfPruned(t *testing.T) {
	taproot := append([]byte{0x51, 32}, make([]byte, 32)...)
	hashed := append([]byte{0x00, 20}, make([]byte, 20)...)
	bare := []byte{0x51}
	block := &chainview.Block{Height: 7, Hash: chainhash.Hash{5}}
	own := search.NewScriptSet(3)
	for _, s := range [][]byte{taproot, hashed, bare} {
		own.Add(s)
	}
	var builder filters.Builder
	filterOf := func(scripts ...[]byte) filters.Filter {
		data := append([]byte(nil), builder.Build(&block.Hash, append(scripts, []byte("other")))...)
		return filters.Filter{Block: block.Hash, Data: data}
	}
	lost, damaged := errors.New("lost"), filterOf()
	damaged.Unsure = true
	for _, test := range []struct {
		name     string
		evidence match.Evidence
		seen     []byte
		filter   filters.Filter
		err      error
		want     error
	}{
		{"shows nothing", match.Evidence{}, nil, filters.Filter{}, nil, nil},
		{
			"shows one",
			match.Evidence{Scripts: [][]byte{bare, hashed}},
			nil,
			filters.Filter{},
			nil,
			chainview.ErrPruned,
		},
		{"shows another", match.Evidence{Scripts: [][]byte{[]byte("x")}}, nil, filters.Filter{}, nil, nil},
		{"hides one", match.Evidence{Taproot: true}, nil, filterOf(taproot), nil, chainview.ErrPruned},
		{"hides a bare one", match.Evidence{Bare: true}, nil, filterOf(bare), nil, chainview.ErrPruned},
		{"hides another", match.Evidence{Taproot: true, Bare: true}, nil, filterOf(hashed), nil, nil},
		{"hides none of that class", match.Evidence{Bare: true}, nil, filterOf(taproot), nil, nil},
		{"pays to it", match.Evidence{Bare: true}, bare, filterOf(bare), nil, nil},
		{"damaged", match.Evidence{Bare: true}, nil, damaged, nil, filters.ErrBadFilter},
		{"not read", match.Evidence{Bare: true}, nil, filterOf(), lost, lost},
	} {
		source := &oneFilter{filter: test.filter, height: 7, err: test.err}
		p := &pass{cfg: &Config{Scheduler: match.NewScheduler(match.SchedulerConfig{Source: source})}}
		seen := map[string]bool{}
		if test.seen != nil {
			seen[string(test.seen)] = true
		}
		err := p.doubt(block, own, seen, &test.evidence)
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		again, ok := errors.AsType[*match.DamagedError](err)
		if damaged := errors.Is(test.want, filters.ErrBadFilter); ok != damaged || ok && again.Block != block.Hash {
			t.Errorf("%s: it can be made again: %v", test.name, ok)
		}
		if source.open != 0 {
			t.Errorf("%s: %d views are open", test.name, source.open)
		}
	}
}

// A payment that a pruned block shows is the reason why its filter has the script: that leaves no doubt.
func TestPaidInPruned(t *testing.T) {
	t.Parallel()
	bare := []byte{0x51}
	block := &chainview.Block{Height: 7, Hash: chainhash.Hash{5}}
	var builder filters.Builder
	data := append([]byte(nil), builder.Build(&block.Hash, [][]byte{bare, []byte("other")})...)
	source := &oneFilter{filter: filters.Filter{Block: block.Hash, Data: data}, height: 7}
	p := &pass{cfg: &Config{Scheduler: match.NewScheduler(match.SchedulerConfig{Source: source})}}
	m := &member{
		job: &job{Search: &searchdb.Search{}}, scripts: []searchdb.Script{{Script: bare}},
		from: 3, ranges: [][2]uint32{{0, 1}}, known: &outputs{},
	}
	spend := wire.NewMsgTx(2)
	spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{9}}}) // an unknown output
	spend.AddTxOut(wire.NewTxOut(5, bare))
	fetched := chainview.Fetched{Block: &wire.MsgBlock{Transactions: []*wire.MsgTx{wire.NewMsgTx(2), spend}}}
	list, err := p.inPruned(m, block, fetched)
	if err != nil || len(list) != 1 || list[0].Kind != search.Receive {
		t.Errorf("got %+v, %v", list, err)
	}
	spend.TxOut[0].PkScript = []byte("x")
	if _, err := p.inPruned(m, block, fetched); !errors.Is(err, chainview.ErrPruned) {
		t.Errorf("a block that shows no payment: %v", err)
	}
}
