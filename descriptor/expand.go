package descriptor

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// Expand returns the output scripts of one index, 0 to [MaxIndex], in Core's
// order: combo() has two or four, all others have one. Descriptors that are
// not ranged ignore the index. The caller must not write to the scripts.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable].
func (d *Descriptor) Expand(index uint32) ([][]byte, error) {
	if index > MaxIndex {
		return nil, ErrNotDerivable
	}
	e, err := d.expander()
	if err != nil {
		return nil, err
	}
	var scripts [][]byte
	w, err := e.worker()
	if err == nil {
		scripts, err = w.expandOne(index)
	}
	return scripts, derivationError(err)
}

// expander holds the keys of one branch as far as they do not depend on the
// index. It is shared by the workers of a range.
type expander struct {
	root   script
	keys   []publicKeys
	ranged int  // number of keys that depend on the index
	slow   bool // a key takes milliseconds
}

func (d *Descriptor) expander() (*expander, error) {
	e := &expander{root: d.root, keys: make([]publicKeys, len(d.keys))}
	for i, k := range d.keys {
		var err error
		if e.keys[i], err = k.openKeys(d.branch, d.cache); err != nil {
			return nil, derivationError(err)
		}
		if e.keys[i].fixed == nil {
			e.ranged++
			e.slow = e.slow || k.pqc() && d.cache == nil
		}
	}
	return e, nil
}

// worker expands indices in one goroutine.
type worker struct {
	*expander

	streams []keyStream // nil for fixed keys
	current [][]byte    // the keys of one index, by number
	buffer  []byte      // the keys of a chunk: expression by expression
	batch   batch       // nil: index by index
}

func (e *expander) worker() (*worker, error) {
	w := &worker{
		expander: e,
		streams:  make([]keyStream, len(e.keys)),
		current:  make([][]byte, len(e.keys)),
	}
	if root, ok := e.root.(batchable); ok {
		w.batch = root.batch()
	}
	for i, k := range e.keys {
		if k.fixed != nil {
			w.current[i] = k.fixed
			continue
		}
		var err error
		if w.streams[i], err = k.stream(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *worker) expandOne(index uint32) ([][]byte, error) {
	chunk, err := w.expand(context.Background(), index, 1)
	if err != nil {
		return nil, err
	}
	return chunk[0], nil
}

// expand returns the scripts of n consecutive indices.
func (w *worker) expand(ctx context.Context, first uint32, n int) ([][][]byte, error) {
	if err := w.deriveKeys(ctx, first, n); err != nil {
		return nil, err
	}
	chunk := make([][][]byte, n)
	for j := range chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.selectKeys(j, n)
		var err error
		if w.batch != nil {
			err = w.batch.add(w.current)
		} else {
			chunk[j], err = w.root.scripts(w.current)
		}
		if err != nil {
			return nil, err
		}
	}
	if w.batch != nil {
		return w.batch.scripts()
	}
	return chunk, nil
}

// deriveKeys fills the buffer with the keys of n consecutive indices.
func (w *worker) deriveKeys(ctx context.Context, first uint32, n int) error {
	if need := w.ranged * n * keyLen; len(w.buffer) < need {
		w.buffer = make([]byte, need)
	}
	rest := w.buffer
	for _, s := range w.streams {
		if s == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.PublicKeys(rest[:n*keyLen], first); err != nil {
			return err
		}
		rest = rest[n*keyLen:]
	}
	return nil
}

// selectKeys makes the keys of the j-th index of a chunk of n current.
func (w *worker) selectKeys(j, n int) {
	at := j * keyLen
	for i, s := range w.streams {
		if s != nil {
			w.current[i] = w.buffer[at : at+keyLen : at+keyLen]
			at += n * keyLen
		}
	}
}

// keyLen is the size of a derived key.
const keyLen = 33

// derivationError hides which step of the derivation failed.
func derivationError(err error) error {
	if errors.Is(err, hdkey.ErrDepth) || errors.Is(err, hdkey.ErrInvalidChild) {
		return ErrNotDerivable
	}
	return err
}
