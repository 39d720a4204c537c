package attachdb

import (
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/store/internal/ledger"
)

// A Change is what one commit does, all of it or nothing.
type Change struct {
	Add     []Block           // get the next numbers
	Set     map[uint32]Block  // replace the records of these blocks
	Filters map[uint32]Filter // by number of the block
	Tip     *Tip              // nil: it stays; its number may be one of Add
}

// Commit makes a change. Errors: [ErrDamaged], [ErrNotFound] for a number that no block
// has, those of the file system; after an error nothing is changed, and nothing can be
// until the directory is opened again.
func (s *Store) Commit(c *Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := position{s.count + uint32(len(c.Add)), s.tip}
	if c.Tip != nil {
		after.tip = *c.Tip
	}
	if after.tip.Number > after.count {
		return fmt.Errorf("tip: %w: number %d of %d", ErrNotFound, after.tip.Number, after.count)
	}
	batch := new(ledger.Batch)
	for n := range c.Set {
		if n == 0 || n > s.count {
			return fmt.Errorf("%w: number %d of %d", ErrNotFound, n, s.count)
		}
		put(batch, n, c.Set[n])
	}
	for i, b := range c.Add {
		n := s.count + 1 + uint32(i)
		put(batch, n, b)
		batch.Delete(key(prefixFilter, n)) // of a block that had the number before it was dropped
	}
	for n, f := range c.Filters {
		if n > after.count {
			return fmt.Errorf("filter: %w: number %d of %d", ErrNotFound, n, after.count)
		}
		if f.Source == Built {
			batch.Delete(key(prefixFilter, n))
			continue
		}
		batch.Put(key(prefixFilter, n), f.encode())
	}
	if err := s.ledger.Commit(batch, after.encode()); err != nil {
		return err
	}
	s.position = after
	return nil
}

func put(batch *ledger.Batch, number uint32, b Block) {
	k := key(prefixBlock, number)
	batch.Put(k, b.encode(k))
}

// Load hands all blocks over, in the order of their numbers. Where keep refuses one, or
// one is missing or damaged, it is dropped with all that come after it, and where the
// tip was among these there is none: the zero value. Nothing else is asked of the store
// meanwhile. Errors: those of the file system, [ErrDamaged] where the directory has to
// be wiped.
func (s *Store) Load(keep func(number uint32, b *Block) bool) error {
	loaded, err := s.load(keep)
	if err != nil || loaded == s.Count() {
		return err
	}
	return s.truncate(loaded)
}

// load returns how many blocks were handed over and kept.
func (s *Store) load(keep func(number uint32, b *Block) bool) (loaded uint32, err error) {
	count := s.Count()
	for pair, err := range s.ledger.Range(prefixBlock) {
		if err != nil {
			return loaded, err
		}
		n, ok := numberOf(pair.Key)
		if !ok || n != loaded+1 || n > count {
			break
		}
		b, err := decodeBlock(pair.Key, pair.Value)
		if err != nil || !keep(n, &b) {
			break
		}
		loaded = n
	}
	return loaded, nil
}

// truncate drops the blocks after the first count ones.
func (s *Store) truncate(count uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := position{count, s.tip}
	if s.tip.Number > count {
		after.tip = Tip{}
	}
	batch := new(ledger.Batch)
	for _, prefix := range [][]byte{prefixBlock, prefixFilter} {
		for n := count + 1; n <= s.count; n++ {
			batch.Delete(key(prefix, n))
		}
	}
	if err := s.ledger.Commit(batch, after.encode()); err != nil {
		return err
	}
	s.position = after
	return nil
}

// Block returns what is kept of a block. Errors: [ErrNotFound], [ErrDamaged].
func (s *Store) Block(number uint32) (Block, error) {
	k := key(prefixBlock, number)
	record, err := s.ledger.Get(k)
	if errors.Is(err, ledger.ErrNotFound) {
		return Block{}, fmt.Errorf("%w: number %d", ErrNotFound, number)
	}
	if err != nil {
		return Block{}, err
	}
	return decodeBlock(k, record)
}

// Filter returns the record of a block's filter; the zero value stands for a filter
// that was built here. Error: [ErrDamaged].
func (s *Store) Filter(number uint32) (Filter, error) {
	k := key(prefixFilter, number)
	record, err := s.ledger.Get(k)
	if errors.Is(err, ledger.ErrNotFound) {
		return Filter{}, nil
	}
	if err != nil {
		return Filter{}, err
	}
	return decodeFilter(k, record)
}

// Imported visits the filters that were not built here, in the order of their blocks'
// numbers, until visit returns false. Nothing is asked of the store meanwhile.
// Error: [ErrDamaged].
func (s *Store) Imported(visit func(number uint32, f Filter) bool) error {
	for pair, err := range s.ledger.Range(prefixFilter) {
		if err != nil {
			return err
		}
		f, err := decodeFilter(pair.Key, pair.Value)
		if err != nil {
			return err
		}
		if n, ok := numberOf(pair.Key); ok && !visit(n, f) {
			return nil
		}
	}
	return nil
}

// First returns the height from which on there are filters; 0 where there are all.
func (s *Store) First() (height uint32, err error) {
	for pair, err := range s.ledger.Range(prefixFirst) {
		if err != nil {
			return 0, err
		}
		if n, ok := numberOf(pair.Key); ok {
			height = max(height, n)
		}
	}
	return height, nil
}

// SetFirst notes the height from which on there are filters.
func (s *Store) SetFirst(height uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := new(ledger.Batch)
	batch.Put(key(prefixFirst, height), []byte{1, 0})
	return s.ledger.Commit(batch, s.encode())
}
