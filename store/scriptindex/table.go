package scriptindex

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/scriptindex/heighttable"
)

// A table is an open file of package heighttable. It starts with one reference, the store's; the file is closed with
// the last.
type table struct {
	tableName

	heights *heighttable.Table
	file    vfs.File
	refs    atomic.Int64
}

func (t *table) acquire() { t.refs.Add(1) }

func (t *table) release() {
	if t.refs.Add(-1) == 0 {
		_ = t.file.Close() // it was only read
	}
}

func (t *table) failed(err error) error {
	return fmt.Errorf("table %d of the script index: %w", t.number, err)
}

// label is what the store says of a table in the table.
func (s *Store) label(name tableName) (l heighttable.Label) {
	check := keyCheck(&s.secret)
	b := append(appendPosition(append(l[:0], s.o.Network[:]...), name.last), check[:8]...)
	copy(l[:], b)
	return l
}

func (s *Store) openTable(name tableName) (*table, error) {
	file, err := vfs.Open(s.o.FS, s.path(name.number, tabName))
	if err != nil {
		return nil, err
	}
	t := &table{tableName: name, file: file}
	t.refs.Store(1)
	stat, err := file.Stat()
	if err == nil {
		t.heights, err = heighttable.Open(file, stat.Size())
	}
	if err == nil && t.heights.Label() != s.label(name) {
		err = fmt.Errorf("%w: it is another table", ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(t.failed(err), file.Close())
	}
	return t, nil
}

// A source has elements, in tables or in memory.
type source interface {
	// Read appends the elements with keys from lo on, below hi.
	Read(lo, hi Key, to []heighttable.Element) ([]heighttable.Element, error)
}

// input is what a table is made of.
type input struct {
	sources  []source // by height, if blocks did not leave the chain
	elements uint64
	from, to uint32 // heights
	last     Position
}

// memory is used again by workers that make sections.
type memory struct{ elements, other []heighttable.Element }

// writeTable makes a table, with so many workers. Nothing is left of it after an error.
func (s *Store) writeTable(ctx context.Context, in *input, workers int) (*table, error) {
	name := tableName{number: s.numbers.Add(1), last: in.last}
	file, err := vfs.CreateReplacement(s.o.FS, s.path(name.number, tabName), 0o600)
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, file, in, name, workers); err != nil {
		return nil, errors.Join(err, file.Discard())
	}
	if err := file.Commit(); err != nil {
		return nil, err
	}
	return s.openTable(name)
}

// fill writes the sections in their order. They are made ahead.
func (s *Store) fill(ctx context.Context, file vfs.File, in *input, name tableName, workers int) error {
	n := heighttable.SectionsOf(in.elements)
	first, err := in.section(0, n, new(memory))
	if err != nil {
		return err
	}
	encoder, err := heighttable.NewEncoder(in.elements, in.from, in.to, first)
	if err != nil {
		return err
	}
	layout := encoder.NewLayout()
	made := makeSections(encoder, in, workers)
	defer made.Close()
	var progress corelog.Progress
	for i := range n {
		m, _ := made.Take(ctx.Done())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.err != nil {
			return m.err
		}
		if _, err := file.WriteAt(m.section.Bytes, layout.Place(&m.section)); err != nil {
			return err
		}
		if words := progress.Words(time.Now(), int64(i), float64(i)/float64(n), "parts"); words != "" {
			corelog.Printf(s.o.Log, slog.LevelInfo, "Joining %d tables of the script index: part %d of %d, %s",
				len(in.sources), i, n, words)
		}
	}
	head, tail, at := layout.End(s.label(name))
	if _, err := file.WriteAt(tail, at); err != nil {
		return err
	}
	_, err = file.WriteAt(head, 0)
	return err
}

// madeSection is a section, or why there is none.
type madeSection struct {
	section heighttable.Section
	err     error
}

// makeSections makes the sections of a table in other goroutines.
func makeSections(e *heighttable.Encoder, in *input, workers int) *cores.Prefetch[madeSection] {
	free := make(chan *memory, workers+1)
	next, n := 0, e.Sections()
	return cores.StartPrefetch(workers, 1, func() (cores.Piece[madeSection], bool) {
		i := next
		next++
		return cores.Piece[madeSection]{Work: func() (m madeSection) {
			var mem *memory
			select {
			case mem = <-free:
			default:
				mem = new(memory)
			}
			elements, err := in.section(i, n, mem)
			if m.err = err; err == nil {
				m.section, m.err = e.Encode(i, elements)
			}
			select {
			case free <- mem:
			default:
			}
			return m
		}}, i < n
	})
}

// section returns the elements of one of n sections, in order. They are valid until the memory is used again.
func (in *input) section(i, n int, m *memory) ([]heighttable.Element, error) {
	lo, hi := heighttable.RangeOf(i, n)
	list := m.elements[:0]
	for _, s := range in.sources {
		var err error
		if list, err = s.Read(lo, hi, list); err != nil {
			return nil, err
		}
	}
	if cap(m.other) < len(list) {
		m.other = make([]heighttable.Element, len(list))
	}
	m.elements = list
	return heighttable.Sort(list, m.other, heighttable.SpanOf(n)), nil
}
