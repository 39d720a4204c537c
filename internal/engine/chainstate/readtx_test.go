package chainstate_test

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// Single transactions are read as they stand in their blocks, by several at once.
func TestReadTx(t *testing.T) {
	chain := genesis(t).chainOn(110)
	first := spending(chain[0].txs[0], trueScript, 1)
	second := spending(first, trueScript, 1)
	chain = append(chain, chain[109].on([]*wire.MsgTx{first, second, spending(chain[1].txs[0], trueScript, 1)}))
	r := opened(t, quick(t), chain...).Reader()
	reader, ok := r.(chainview.TxReader)
	if !ok {
		t.Fatal("it reads whole blocks alone")
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, b := range chain[100:] {
				ids, places, err := reader.Txs(&b.hash)
				if err != nil || len(ids) != len(b.txs) || len(places) != len(ids) {
					t.Errorf("height %d: %d ids, %d places, %v", b.height, len(ids), len(places), err)
					return
				}
				for place, tx := range b.txs {
					id := tx.TxHash()
					if ids[place] != id || places[place].Index != place {
						t.Errorf("height %d, transaction %d: %v at %v", b.height, place, ids[place], places[place])
					}
					for _, likely := range []chainview.TxPlace{
						chainview.Nowhere, places[place],
						{Index: place},
						{Index: 0},
						{Index: len(b.txs)},
						{Index: place, Offset: places[place].Offset + 1, Sum: places[place].Sum},
						{Index: place, Offset: places[place].Offset, Sum: places[place].Sum + 1},
						{Index: place, Offset: 1 << 30},
					} {
						got, at, err := reader.Tx(&b.hash, &id, likely)
						if err != nil || got == nil || at != place || got.WitnessHash() != tx.WitnessHash() {
							t.Errorf("height %d, transaction %d, looked for at %v: %v at %d, %v",
								b.height, place, likely, got, at, err)
						}
					}
				}
			}
		})
	}
	group.Wait()
	testTxAt(t, reader, chain[100:])
	tip, id := &chain[110].hash, chain[0].txs[0].TxHash()
	if tx, _, err := reader.Tx(tip, &id, chainview.TxPlace{Index: 1}); tx != nil || err != nil {
		t.Errorf("a transaction of another block: %v, %v", tx, err)
	}
	if _, _, err := reader.Tx(new(chainhash.Hash), &id, chainview.Nowhere); !errors.Is(err, chainview.ErrNotFound) {
		t.Errorf("of no block: %v", err)
	}
}

// testTxAt: a transaction is read from its place alone, as from a reader that has whole blocks; at another
// place or with another checksum there is none.
func testTxAt(t *testing.T, reader chainview.TxReader, blocks []*made) {
	t.Helper()
	type plain struct{ chainview.Reader }
	for _, b := range blocks {
		_, places, err := reader.Txs(&b.hash)
		if err != nil {
			t.Fatal(err)
		}
		for i, tx := range b.txs {
			for _, r := range []chainview.Reader{reader, plain{reader}} {
				got, err := chainview.TxAt(r, &b.hash, places[i])
				if err != nil || got.WitnessHash() != tx.WitnessHash() {
					t.Errorf("height %d, transaction %d: %v, %v", b.height, i, got, err)
				}
				for _, wrong := range []chainview.TxPlace{
					{}, {Offset: -1}, {Offset: 1 << 30}, {Offset: places[i].Offset + 1, Sum: places[i].Sum},
					{Offset: places[i].Offset, Sum: places[i].Sum + 1},
				} {
					if got, err := chainview.TxAt(r, &b.hash, wrong); !errors.Is(err, chainview.ErrUnreadable) {
						t.Errorf("height %d, at %v: %v, %v", b.height, wrong, got, err)
					}
				}
				if _, err := chainview.TxAt(r, new(chainhash.Hash), places[i]); !errors.Is(err, chainview.ErrNotFound) {
					t.Errorf("of no block: %v", err)
				}
			}
		}
	}
}

// An outline of a block is read without its transactions, and equals the values of the
// whole block.
func TestOutline(t *testing.T) {
	chain := genesis(t).chainOn(110)
	witnessScript := []byte{txscript.OP_DROP, txscript.OP_TRUE}
	hash := sha256.Sum256(witnessScript)
	pays := spending(chain[0].txs[0], append([]byte{txscript.OP_0, 32}, hash[:]...), 1)
	spends := spending(pays, trueScript, 1)
	spends.TxIn[0].Witness = wire.TxWitness{make([]byte, 300), witnessScript}
	chain = append(chain, chain[109].on([]*wire.MsgTx{pays, spends, spending(chain[1].txs[0], trueScript, 1)}))
	r := opened(t, quick(t), chain...).Reader()
	for _, b := range chain[100:] {
		block := r.Lookup(&b.hash)
		got, err := chainview.OutlineOf(r, block)
		want, wantErr := chainview.OutlineOf(struct{ chainview.Reader }{r}, block) // parsed
		coinbase := got.Coinbase
		if coinbase == nil || coinbase.WitnessHash() != want.Coinbase.WitnessHash() {
			t.Errorf("height %d: another coinbase: %+v", b.height, coinbase)
		}
		got.Coinbase, want.Coinbase = nil, nil
		if err != nil || wantErr != nil || len(got.IDs) != len(b.txs) || !reflect.DeepEqual(got, want) {
			t.Errorf("height %d: %+v, %v, want %+v, %v", b.height, got, err, want, wantErr)
		}
	}
	if _, err := r.(chainview.TxReader).Outline(new(chainhash.Hash)); !errors.Is(err, chainview.ErrNotFound) {
		t.Errorf("of no block: %v", err)
	}
}
