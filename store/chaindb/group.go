package chaindb

import (
	"errors"

	"github.com/btcsuite/btcd/database"
)

// errUndone reports a transaction of a group that failed after it had written
// something: the group cannot take back a part of itself.
var errUndone = errors.New("transaction within a group failed")

// Groups is a DB in the form of btcd's interface, whose transactions can be
// gathered so that they become one. btcd moves the tip block by block, each in
// a transaction of its own; gathered, a kill finds all of a move done or none of
// it.
//
// It is used by one goroutine at a time. What is gathered is seen by its own
// transactions, and by nobody else before [Groups.End].
type Groups struct {
	btcdDB
	tx     *tx // nil outside a group
	failed error
}

var _ database.DB = (*Groups)(nil)

// Groups returns the database in a form that can gather transactions.
func (db *DB) Groups() *Groups { return &Groups{btcdDB: btcdDB{db}} }

// Start begins a group: all transactions up to its end are one.
func (g *Groups) Start() error {
	t, err := g.db.begin(true)
	if err != nil {
		return err
	}
	t.managed = true
	g.tx, g.failed = t, nil
	return nil
}

// End commits what was gathered since Start. After an error nothing of it was.
func (g *Groups) End() error {
	t := g.tx
	g.tx = nil
	defer t.close()
	if g.failed != nil {
		return g.failed
	}
	return t.commit()
}

// Drop forgets what was gathered since Start. Outside a group it does nothing.
func (g *Groups) Drop() {
	if g.tx != nil {
		g.tx.close()
		g.tx = nil
	}
}

// Begin implements [database.DB]. Within a group there is no transaction that
// could end by itself: btcd's chain begins none.
func (g *Groups) Begin(writable bool) (database.Tx, error) {
	if g.tx != nil {
		return nil, dbError(database.ErrDriverSpecific, "unmanaged transaction within a group")
	}
	return g.btcdDB.Begin(writable)
}

// View implements [database.DB].
func (g *Groups) View(fn func(database.Tx) error) error {
	if g.tx != nil {
		return fn(g.tx)
	}
	return g.btcdDB.View(fn)
}

// Update implements [database.DB].
func (g *Groups) Update(fn func(database.Tx) error) error {
	if g.tx == nil {
		return g.btcdDB.Update(fn)
	}
	before := g.tx.writes()
	err := fn(g.tx)
	if err != nil && g.tx.writes() != before {
		g.failed = errors.Join(errUndone, err)
	}
	return err
}

// writes counts what a transaction has noted to write.
func (t *tx) writes() int { return t.changes + len(t.blocks) + len(t.undo) }
