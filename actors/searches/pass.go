package searches

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/scriptset"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/searchdb"
)

// owner is a script of a search.
type owner struct {
	member int // place among the members
	number uint32
}

// union is the scripts of the members of a round. The next round has mostly the same.
type union struct {
	of     []wanted
	set    *scriptset.Set
	owners [][]owner
	query  *filters.Query
}

// wanted says which scripts a member brought.
type wanted struct {
	id     searchdb.ID
	ranges [][2]uint32
}

func wantedBy(members []*member) []wanted {
	of := make([]wanted, len(members))
	for i, m := range members {
		of[i] = wanted{m.ID, m.ranges}
	}
	return of
}

func newUnion(members []*member) *union {
	u := &union{of: wantedBy(members)}
	count := 0
	for _, w := range u.of {
		for _, r := range w.ranges {
			count += int(r[1] - r[0])
		}
	}
	u.set = scriptset.New(count)
	u.owners = make([][]owner, 0, count)
	for i, m := range members {
		for _, r := range m.ranges {
			for n := r[0]; n < r[1]; n++ {
				script := m.scripts[n].Script
				if u.set.Add(script) {
					u.owners = append(u.owners, []owner{{i, n}})
					continue
				}
				place, _ := u.set.Find(script)
				u.owners[place] = append(u.owners[place], owner{i, n})
			}
		}
	}
	u.query = filters.NewQuery(u.set.List())
	return u
}

func (u *union) isOf(members []*member) bool {
	return u != nil && slices.EqualFunc(u.of, wantedBy(members), func(a, b wanted) bool {
		return a.id == b.id && slices.Equal(a.ranges, b.ranges)
	})
}

// pass is a round in a worker.
type pass struct {
	cfg    *Config
	reader chainview.Reader
	round  *round
	union  *union

	buffers sync.Pool

	mu     sync.Mutex
	found  map[chainhash.Hash][]search.Entry // with numbers of the union
	pruned map[chainhash.Hash]chainview.Fetched
}

// run looks at the blocks of the round and sets what its members have found.
func (p *pass) run(ctx context.Context) error {
	slices.SortFunc(p.round.members, func(a, b *member) int { return int(int64(a.Number) - int64(b.Number)) })
	if !p.union.isOf(p.round.members) {
		p.union = newUnion(p.round.members)
	}
	p.buffers.New = func() any { return new([]byte) }
	p.found, p.pruned = map[chainhash.Hash][]search.Entry{}, map[chainhash.Hash]chainview.Fetched{}
	scan := p.cfg.Scheduler.NewPass(match.Config{
		Query: p.union.query, First: p.round.base.Height + 1, Stop: p.round.stop, Exact: true, Keep: p.keep,
	})
	if err := p.cfg.Scheduler.Run(ctx, scan); err != nil {
		return err
	}
	hits, _ := scan.Hits()
	for _, hit := range hits {
		block := p.reader.Lookup(&hit.Block)
		if raw, ok := p.pruned[hit.Block]; ok {
			p.sharePruned(block, raw)
			continue
		}
		p.share(block, p.found[hit.Block])
	}
	return nil
}

// keep looks into a block whose filter matches.
func (p *pass) keep(ctx context.Context, hash *chainhash.Hash) (bool, error) {
	entries, err := p.look(hash)
	if errors.Is(err, chainview.ErrPruned) && p.cfg.Fetch != nil {
		return p.fetch(ctx, hash)
	}
	if err != nil || len(entries) == 0 {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found[*hash] = entries
	return true, nil
}

func (p *pass) look(hash *chainhash.Hash) ([]search.Entry, error) {
	buf := p.buffers.Get().(*[]byte)
	defer p.buffers.Put(buf)
	raw, err := chainview.RawInto(p.reader, buf, hash)
	if err != nil {
		return nil, err
	}
	scripts, err := p.reader.SpentScripts(hash)
	if err != nil {
		return nil, err
	}
	hit, err := p.union.query.InBlock(raw, p.cfg.HeaderLen(raw), scripts)
	if err != nil || !hit {
		return nil, err
	}
	block, err := p.reader.Block(hash)
	if err != nil {
		return nil, err
	}
	spent, err := p.reader.Spent(hash)
	if err != nil {
		return nil, err
	}
	return search.InBlock(block, spent, p.union.set), nil
}

// share gives the members what is theirs of a block.
func (p *pass) share(block *chainview.Block, found []search.Entry) {
	own := make(map[int][]search.Entry)
	for _, e := range found {
		for _, o := range p.union.owners[e.Script] {
			mine := e
			mine.Script = o.number
			own[o.member] = append(own[o.member], mine)
		}
	}
	for i, list := range own {
		give(p.round.members[i], block, list)
	}
}

// give adds what a member has found in a block.
func give(m *member, block *chainview.Block, list []search.Entry) {
	if block.Height > m.last.Height || !slices.ContainsFunc(list, func(e search.Entry) bool {
		return search.Indexed(m.scripts[e.Script].Script)
	}) {
		return
	}
	if m.BlocksOnly {
		list = []search.Entry{{Kind: search.Hit}}
	}
	for i := range list {
		list[i].Height, list[i].Block, list[i].Time = block.Height, block.Hash, uint32(block.Time().Unix())
	}
	m.found = append(m.found, list...)
	m.known.add(m.scripts, list)
}
