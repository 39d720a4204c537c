package searches

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/searchdb"
)

// A pruned block that matches is fetched again. The outputs that it spends are not known any
// more: those that a search has found before are found among its entries, by their
// outpoints. Where the block may spend another output with a script of the search, nobody
// can say how much that was, and the search fails.

// fetch is keep for a pruned block: it is looked into when all before it were.
func (p *pass) fetch(ctx context.Context, hash *chainhash.Hash) (bool, error) {
	var block chainview.Fetched
	var err error
	match.Outside(ctx, func() { block, err = p.cfg.Fetch.Pruned(ctx, hash) })
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pruned[*hash] = block
	return true, p.weigh(len(block.Raw) / bytesAnEntry)
}

// outputs are those that a search has found.
type outputs struct {
	of map[wire.OutPoint]chainview.Coin
}

// add notes the payments among some entries.
func (o *outputs) add(scripts []searchdb.Script, found []search.Entry) {
	if o == nil {
		return
	}
	for i := range found {
		if e := &found[i]; e.Kind == search.Receive {
			o.of[wire.OutPoint{Hash: e.TxID, Index: e.N}] = chainview.Coin{
				Value: btcutil.Amount(e.Amount), Script: scripts[e.Script].Script,
			}
		}
	}
}

// readKnown reads the outputs that a member has found before the round.
func (p *pass) readKnown(m *member) error {
	if m.known != nil {
		return nil
	}
	known := &outputs{of: map[wire.OutPoint]chainview.Coin{}}
	err := p.cfg.Lists.Entries(m.ID, searchdb.Place{}, searchdb.LastOf(^uint32(0), 1<<31-1),
		func(_ searchdb.Place, e *search.Entry) bool {
			known.add(m.scripts, []search.Entry{*e})
			return true
		})
	if err != nil {
		return err
	}
	known.add(m.scripts, m.found)
	m.known = known
	return nil
}

// sharePruned gives the members what is theirs of a block that was fetched.
func (p *pass) sharePruned(block *chainview.Block, fetched chainview.Fetched) {
	for _, m := range p.round.members {
		if m.err != nil || block.Height > m.last.Height {
			continue
		}
		list, err := p.inPruned(m, block, fetched)
		if err != nil {
			m.err = err
			continue
		}
		give(m, block, list)
	}
}

func (p *pass) inPruned(m *member, block *chainview.Block, fetched chainview.Fetched) ([]search.Entry, error) {
	if err := p.readKnown(m); err != nil {
		return nil, err
	}
	own := search.NewScriptSet(len(m.scripts))
	numbers := make([]uint32, 0, len(m.scripts))
	for _, r := range m.ranges {
		for n := r[0]; n < r[1]; n++ {
			if own.Add(m.scripts[n].Script) {
				numbers = append(numbers, n)
			}
		}
	}
	spent, rest := m.known.spentBy(fetched.Block)
	list := search.InBlock(fetched.Block, spent, own)
	seen := map[string]bool{}
	for i := range list {
		seen[string(own.List()[list[i].Script])] = true
		list[i].Script = numbers[list[i].Script]
	}
	evidence := match.EvidenceOf(rest)
	switch {
	case m.BlocksOnly: // what was found is not kept, so that nothing is known of its outputs
		if at := slices.IndexFunc(evidence.Scripts, own.Has); at >= 0 {
			n, _ := own.Find(evidence.Scripts[at])
			list = append(list, search.Entry{Kind: search.Spend, Script: numbers[n]})
		}
		if m.has(list) {
			return list, nil
		}
	case m.from == 0:
		return list, nil // all outputs that there have been are known
	}
	return list, p.doubt(block, own, seen, &evidence)
}

// spentBy returns the outputs that a block spends, as far as they are known, and a block with
// the other inputs. An output that is not known has no script.
func (o *outputs) spentBy(block *wire.MsgBlock) (spent [][]chainview.Coin, rest *wire.MsgBlock) {
	known := map[wire.OutPoint]chainview.Coin{}
	for _, tx := range block.Transactions {
		for _, in := range tx.TxIn {
			if coin, ok := o.of[in.PreviousOutPoint]; ok {
				known[in.PreviousOutPoint] = coin
			}
		}
		id := tx.TxHash()
		for n, out := range tx.TxOut { // it may be spent in the same block
			known[wire.OutPoint{Hash: id, Index: uint32(n)}] = chainview.Coin{
				Value: btcutil.Amount(out.Value), Script: out.PkScript,
			}
		}
	}
	rest = &wire.MsgBlock{Transactions: block.Transactions[:1:1]}
	for _, tx := range block.Transactions[1:] {
		coins := make([]chainview.Coin, len(tx.TxIn))
		other := &wire.MsgTx{}
		for n, in := range tx.TxIn {
			coin, ok := known[in.PreviousOutPoint]
			if !ok {
				other.TxIn = append(other.TxIn, in)
			}
			coins[n] = coin
		}
		spent, rest.Transactions = append(spent, coins), append(rest.Transactions, other)
	}
	return spent, rest
}

// doubt returns an error where inputs may spend outputs with some of the scripts.
func (p *pass) doubt(
	block *chainview.Block, own *search.ScriptSet, seen map[string]bool, evidence *match.Evidence,
) error {
	lost := fmt.Errorf("%w: block %v: %w", chainview.ErrUndo, block.Hash, chainview.ErrPruned)
	if slices.ContainsFunc(evidence.Scripts, own.Has) {
		return lost
	}
	var doubtful [][]byte
	for _, script := range own.List() {
		if evidence.Hides(match.SpendClassOf(script)) && !seen[string(script)] {
			doubtful = append(doubtful, script)
		}
	}
	// A script that the filter has for a payment may be spent as well.
	for script := range seen {
		if class := match.SpendClassOf([]byte(script)); class == match.Taproot && evidence.Hides(class) {
			return lost
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	filter, err := p.filterOf(block)
	if err != nil {
		return err
	}
	hit, err := filters.Match(&block.Hash, filter, doubtful)
	if err == nil && hit {
		err = lost
	}
	return err
}

// filterOf reads the filter of a block.
func (p *pass) filterOf(block *chainview.Block) ([]byte, error) {
	view := p.cfg.Scheduler.View()
	defer view.Release()
	var one [1]filters.Filter
	one[0].Block = block.Hash
	if err := view.Filters(block.Height, false, one[:]); err != nil {
		return nil, err
	}
	f := &one[0]
	err := view.Guard(func() { f.Data = bytes.Clone(f.Data) })
	if err == nil && !f.Sound() {
		err = fmt.Errorf("%w: checksum mismatch", filters.ErrBadFilter)
	}
	if err != nil {
		return nil, &match.DamagedError{Block: block.Hash, Err: err}
	}
	return f.Data, nil
}
