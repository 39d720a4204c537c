package searches

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
)

// pass is a round in a worker.
type pass struct {
	cfg         *Config
	reader      chainview.Reader
	round       *round
	mergedQuery *mergedQuery

	buffers sync.Pool
	built   time.Duration // it took to make the merged query
	members []*member     // by the numbers of the merged query; nil: not in the round

	mu     sync.Mutex
	blocks int                               // that were looked into
	weight int                               // of all that was found in them
	found  map[chainhash.Hash][]search.Entry // with numbers of the merged query
	pruned map[chainhash.Hash]chainview.Fetched
}

const (
	// maxWeight is about how many entries a round may find, of all its members, so that what waits for the
	// disk stays small, and a write short.
	maxWeight = 5_000

	// A block that was fetched weighs as much as an entry for so many bytes.
	bytesAnEntry = 1000
)

// errHeavy ends a round that has found too much: it is made smaller.
var errHeavy = errors.New("the round has found too much")

// weigh notes how much was found in a block.
func (p *pass) weigh(n int) error {
	p.blocks++
	p.weight += n
	if p.weight > maxWeight && !p.round.small() {
		return errHeavy
	}
	return nil
}

// run looks at the blocks of the round and sets what its members have found.
func (p *pass) run(ctx context.Context) error {
	if !p.mergedQuery.has(p.round.members) {
		began := time.Now()
		p.mergedQuery = newMergedQuery(p.round.members)
		p.built = time.Since(began)
	}
	p.members = p.mergedQuery.numbered(p.round.members)
	p.buffers.New = func() any { return new([]byte) }
	p.found, p.pruned = map[chainhash.Hash][]search.Entry{}, map[chainhash.Hash]chainview.Fetched{}
	scan := p.cfg.Scheduler.NewPass(match.Config{
		Query: p.mergedQuery.query, First: p.round.base.Height + 1, Stop: p.round.stop, Exact: true, Keep: p.keep,
		KeepAll: true, Blocks: &match.Blocks{Reader: p.reader, HeaderLen: p.cfg.HeaderLen},
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
	weight := 0
	for i := range entries {
		weight += len(p.mergedQuery.ownersOf(entries[i].Script))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found[*hash] = entries
	return true, p.weigh(weight)
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
	var spent [][]chainview.Coin
	if slices.ContainsFunc(scripts, p.mergedQuery.query.HasScript) {
		if spent, err = p.reader.Spent(hash); err != nil {
			return nil, err
		}
	}
	return search.InRaw(raw, p.cfg.HeaderLen(raw), spent, p.mergedQuery)
}

// share gives the members what is theirs of a block.
func (p *pass) share(block *chainview.Block, found []search.Entry) {
	own := make(map[uint32][]search.Entry)
	for _, e := range found {
		for _, o := range p.mergedQuery.ownersOf(e.Script) {
			if p.members[o.member] == nil {
				continue
			}
			mine := e
			mine.Script = o.number
			own[o.member] = append(own[o.member], mine)
		}
	}
	for i, list := range own {
		give(p.members[i], block, list)
	}
}

// has reports whether a block's filter has the script of any of the entries found in the block.
func (m *member) has(list []search.Entry) bool {
	return slices.ContainsFunc(list, func(e search.Entry) bool { return search.Indexed(m.scripts[e.Script].Script) })
}

// give adds what a member has found in a block.
func give(m *member, block *chainview.Block, list []search.Entry) {
	if block.Height > m.last.Height || !m.has(list) {
		return
	}
	for i := range list {
		m.used.Add(&m.scripts[list[i].Script])
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
