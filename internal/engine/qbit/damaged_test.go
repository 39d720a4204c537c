package qbit

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Rows of blocks that cannot be read are damage, and so is a block without its parent.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	net := regtest(t, dialect.Choices{})
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	row := append([]byte{0}, b.build(e.tree.Active().Tip(), nil, nil)[:wire.MaxBlockHeaderPayload]...)
	orphan := bytes.Clone(row)
	orphan[1+4] ^= 1 // its parent's hash
	for name, test := range map[string]struct {
		row  []byte
		want error
	}{
		"whole":      {row, nil},
		"no parent":  {orphan, chaindb.ErrDamaged},
		"short":      {row[:len(row)-1], chainstate.ErrRow},
		"empty":      {nil, chainstate.ErrRow},
		"long":       {append(bytes.Clone(row), 0), chainstate.ErrRow},
		"no payload": {mergeMined(row), chainstate.ErrRow},
	} {
		dir := t.TempDir()
		if err := openIn(t, dir, net).Close(); err != nil {
			t.Fatal(err)
		}
		db, err := chaindb.Open(dbOptions(vfs.OS, dir, net))
		if err != nil {
			t.Fatal(err)
		}
		err = db.BTCD().Update(func(tx database.Tx) error {
			return tx.Metadata().Bucket([]byte(indexBucket)).Put([]byte{0xff}, test.row)
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		e, err := openOn(vfs.OS, dir, net)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if err != nil {
			continue
		}
		if tips := e.tree.Tips(); len(tips) != 1 || tips[0].Height != 1 {
			t.Errorf("%s: %d branches", name, len(tips))
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// mergeMined is a row whose header says that a payload follows.
func mergeMined(row []byte) []byte {
	row = bytes.Clone(row)
	row[2] |= 1 // the mark among the bits of the version
	return row
}

// A transaction is not valid without all outputs that it spends, even if its scripts look at none.
func TestSpendWithoutOutputs(t *testing.T) {
	net, at := regtest(t, dialect.Choices{}), &chainview.Block{Height: 5}
	r := &rules{P2MR: net.P2MR, net: net}
	tx := spend(wire.OutPoint{Hash: chainhash.Hash{1}}, 1000)
	tx.AddTxIn(tx.TxIn[0])
	spent := []*wire.TxOut{wire.NewTxOut(1000, anyoneScript())}
	if err := r.Spend(tx, spent, at).VerifyInput(0, r.Flags(at)); !errors.Is(err, p2mr.ErrPrevOuts) {
		t.Errorf("with an output of two: %v", err)
	}
	spent = append(spent, spent[0])
	if err := r.Spend(tx, spent, at).VerifyInput(0, r.Flags(at)); err != nil {
		t.Errorf("with both: %v", err)
	}
}
