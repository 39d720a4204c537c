package chainview_test

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
)

// sized counts how often it is asked.
type sized struct {
	chainview.Reader
	asked int
	err   error
}

func (r *sized) Size(*chainhash.Hash) (size, txs int, err error) {
	r.asked++
	return 1_000, 7, r.err
}

func TestTxCount(t *testing.T) {
	errDisk := errors.New("disk")
	r := &sized{err: errDisk}
	b := new(chainview.Block)
	if n, err := b.TxCount(r); n != 0 || !errors.Is(err, errDisk) {
		t.Errorf("%d, %v", n, err)
	}
	r.err = nil
	for range 3 {
		if n, err := b.TxCount(r); n != 7 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if r.asked != 2 {
		t.Errorf("was read %d times", r.asked)
	}
}
