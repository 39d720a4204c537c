package chaindb

import (
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// mostPlaces is of how many blocks it is remembered where they lie: some 400 kB.
const mostPlaces = 2048

// places remembers where blocks lie of which a part was read lately: to look that up costs as
// much as to read the part.
type places struct {
	mu      sync.Mutex
	known   map[chainhash.Hash]location
	changes int // how often something was forgotten
}

// get returns where a block lies, nil where that is not remembered.
func (p *places) get(hash *chainhash.Hash) *location {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.known[*hash]; ok {
		return &l
	}
	return nil
}

// now returns a moment for put.
func (p *places) now() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes
}

// put remembers where a block lies, which was looked up after a moment; what may have changed
// since is not remembered.
func (p *places) put(hash *chainhash.Hash, l *location, moment int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes != moment {
		return
	}
	if len(p.known) >= mostPlaces || p.known == nil {
		p.known = make(map[chainhash.Hash]location) // what is used often is soon there again
	}
	p.known[*hash] = *l
}

// forget is called when a block lies somewhere, or somewhere else.
func (p *places) forget(hash *chainhash.Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes++
	delete(p.known, *hash)
}

// find is [findLocation].
func (p *places) find(r reader, hash *chainhash.Hash) (*location, error) {
	if l := p.get(hash); l != nil {
		return l, nil
	}
	moment := p.now()
	l, err := findLocation(r, hash)
	if err == nil {
		p.put(hash, l, moment)
	}
	return l, err
}
