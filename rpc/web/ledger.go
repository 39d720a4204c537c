package web

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// A ledger adds up the entries of a search. It has read them up to a cursor and goes on from there, so that each entry
// is read once, however often the page is shown. Its memory is bounded: of a long chain the older blocks are kept
// together in spans.
type ledger struct {
	turn chan struct{} // one element: the right to read on
	used time.Time     // of the ledgers that it is one of

	mu     sync.Mutex
	cursor string
	read   int64 // entries up to the cursor
	more   bool  // there were more entries behind the cursor

	received, spent  amount
	receives, spends int64
	blocks           map[string]*span // by hash
	older            map[int64]*span  // by height divided by width
	width            int64
	top              int64 // highest height of a block with entries
	indices          map[string]indices
	marks            []mark
	tail             []entry // the last ones, for the first page of them
}

// A span is what one block has for a search, or several blocks together.
type span struct {
	First, Last      int64 // heights
	Time             int64 // of the last one
	Received, Spent  amount
	Blocks, Hits     int64
	receives, spends int64
}

func (s *span) add(o *span) {
	if s.Blocks == 0 || o.First < s.First {
		s.First = o.First
	}
	if s.Blocks == 0 || o.Last >= s.Last {
		s.Last, s.Time = o.Last, o.Time
	}
	s.Received += o.Received
	s.Spent += o.Spent
	s.Blocks += o.Blocks
	s.Hits += o.Hits
}

// indices are the used indices of a descriptor.
type indices map[int64]bool

// A mark is a place among the entries, from which on they can be read again.
type mark struct {
	at     int64
	cursor string
}

const (
	maxSpans   = 6000  // of blocks, and of older ones
	lastBlocks = 1000  // that are kept apart, for those that leave the chain
	markEvery  = 1000  // entries between two marks, at least
	maxIndices = 20000 // that are kept of a descriptor
	maxRanges  = 64    // descriptors whose indices are kept
	maxLedgers = 32

	// readTime is how long a page waits for entries to be added up; the next time it goes on from there.
	readTime = 400 * time.Millisecond

	// ledgerLimit is how many entries are read at a time.
	ledgerLimit = 2000
)

func newLedger() *ledger {
	l := &ledger{turn: make(chan struct{}, 1), more: true}
	l.reset()
	return l
}

// reset forgets what was read.
func (l *ledger) reset() {
	l.cursor, l.read, l.more, l.marks, l.tail = "", 0, true, []mark{{}}, nil
	l.received, l.spent, l.receives, l.spends, l.width, l.top = 0, 0, 0, 0, 0, 0
	l.blocks, l.older, l.indices = map[string]*span{}, map[int64]*span{}, map[string]indices{}
}

// advance reads the entries behind the cursor, for a while. It leaves that to another page which takes longer. The
// unconfirmed entries are those of the last reply, where there is one.
func (l *ledger) advance(ctx context.Context, v viewer, id string) (unconfirmed []entry, err error) {
	patience := time.NewTimer(2 * readTime)
	defer patience.Stop()
	select {
	case l.turn <- struct{}{}:
	case <-patience.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l.turn }()
	for began := time.Now(); ; {
		l.mu.Lock()
		cursor := l.cursor
		l.mu.Unlock()
		p, err := readEntries(ctx, v, id, cursor, ledgerLimit)
		if err != nil {
			l.mu.Lock()
			l.reset() // the cursor may be the reason
			l.mu.Unlock()
			return nil, err
		}
		entries, err := parseEntries(p.Entries)
		if err != nil {
			return nil, err
		}
		l.take(entries, p.Cursor, p.More)
		if !p.More || time.Since(began) > readTime {
			return parseEntries(p.Unconfirmed)
		}
	}
}

// take adds entries that follow the cursor.
func (l *ledger) take(entries []entry, cursor string, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range entries {
		l.add(&entries[i])
	}
	l.tail = append(l.tail, entries[max(0, len(entries)-pageRows):]...)
	l.tail = slices.Clone(l.tail[max(0, len(l.tail)-pageRows):])
	l.read += int64(len(entries))
	l.cursor, l.more = cursor, more
	if l.read-l.marks[len(l.marks)-1].at >= markEvery {
		l.marks = append(l.marks, mark{l.read, cursor})
	}
	l.fold()
}

func (l *ledger) add(e *entry) {
	if e.Type == "disconnect" {
		if gone := l.blocks[e.BlockHash]; gone != nil {
			l.received -= gone.Received
			l.spent -= gone.Spent
			l.receives -= gone.receives
			l.spends -= gone.spends
			delete(l.blocks, e.BlockHash)
		}
		return
	}
	s := l.blocks[e.BlockHash]
	if s == nil {
		s = &span{First: e.Height, Last: e.Height, Time: e.Time, Blocks: 1}
		l.blocks[e.BlockHash] = s
		l.top = max(l.top, e.Height)
	}
	s.Hits++
	switch e.Type {
	case "receive":
		s.Received += e.Amount
		s.receives++
		l.received += e.Amount
		l.receives++
	case "spend":
		s.Spent += e.Amount
		s.spends++
		l.spent += e.Amount
		l.spends++
	}
	l.use(e)
}

// use notes the index of an entry.
func (l *ledger) use(e *entry) {
	if e.Index == nil {
		return
	}
	known := l.indices[e.Desc]
	if known == nil {
		if len(l.indices) >= maxRanges {
			return
		}
		known = indices{}
		l.indices[e.Desc] = known
	}
	if len(known) < maxIndices {
		known[*e.Index] = true
	}
}

// fold joins older blocks where there are too many.
func (l *ledger) fold() {
	if len(l.blocks) <= maxSpans {
		return
	}
	l.width = max(l.width, 16)
	for hash, s := range l.blocks {
		if s.Last > l.top-lastBlocks {
			continue
		}
		l.into(s)
		delete(l.blocks, hash)
	}
	for len(l.older) > maxSpans {
		all := l.older
		l.width *= 2
		l.older = map[int64]*span{}
		for _, s := range all {
			l.into(s)
		}
	}
}

// into adds a span to the older ones.
func (l *ledger) into(s *span) {
	key := s.First / l.width
	if l.older[key] == nil {
		l.older[key] = &span{}
	}
	l.older[key].add(s)
}

// A book is what a ledger says at one moment.
type book struct {
	Received, Spent         amount
	Receives, Spends, Coins int64
	Read                    int64
	Whole                   bool // all entries that there were are added up
	Points                  []span
	end                     int64 // height up to which blocks were looked at
	used                    map[string][]int64
}

// Balance is what was received and not spent.
func (b *book) Balance() amount { return b.Received - b.Spent }

// Amounts reports whether the search knows amounts. A search without entries knows its blocks alone.
func (b *book) Amounts() bool { return b.Receives+b.Spends > 0 || len(b.Points) == 0 }

// book returns a copy of the present state.
func (l *ledger) book() *book {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &book{
		Received: l.received, Spent: l.spent, Receives: l.receives, Spends: l.spends, Coins: l.receives - l.spends,
		Read: l.read, Whole: !l.more, used: map[string][]int64{},
	}
	for _, all := range [][]*span{slices.Collect(maps.Values(l.older)), slices.Collect(maps.Values(l.blocks))} {
		for _, s := range all {
			b.Points = append(b.Points, *s)
		}
	}
	slices.SortFunc(b.Points, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.First, y.First), cmp.Compare(x.Last, y.Last), cmp.Compare(x.Time, y.Time))
	})
	for desc, all := range l.indices {
		b.used[desc] = slices.Sorted(maps.Keys(all))
	}
	return b
}

// before returns the last place from which the entry at a place can be read.
func (l *ledger) before(at int64) mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, _ := slices.BinarySearchFunc(l.marks, at, func(m mark, at int64) int { return cmp.Compare(m.at, at+1) })
	return l.marks[max(n-1, 0)]
}

// last returns the entries from a place on, if they are the last ones and still known.
func (l *ledger) last(from, to int64) (entries []entry, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin := l.read - int64(len(l.tail))
	if from < begin || to > l.read || from > to {
		return nil, false
	}
	return slices.Clone(l.tail[from-begin : to-begin]), true
}

// ledgers are those of the searches that were looked at last. The zero value has none.
type ledgers struct {
	mu   sync.Mutex
	byID map[string]*ledger
}

// of returns the ledger of a search. created tells it from others that may have the id.
func (l *ledgers) of(key string) *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = map[string]*ledger{}
	}
	found := l.byID[key]
	if found == nil {
		if len(l.byID) >= maxLedgers {
			l.forget()
		}
		found = newLedger()
		l.byID[key] = found
	}
	found.used = time.Now()
	return found
}

// forget takes out the ledger that was not used for longest.
func (l *ledgers) forget() {
	oldest := ""
	for key, one := range l.byID {
		if oldest == "" || one.used.Before(l.byID[oldest].used) {
			oldest = key
		}
	}
	delete(l.byID, oldest)
}
