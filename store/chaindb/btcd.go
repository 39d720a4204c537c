package chaindb

import (
	"errors"

	"github.com/btcsuite/btcd/database"
)

// driverName is what Type answers; the driver is not registered with btcd's
// database package, since nobody opens it by name.
const driverName = "chaindb"

// btcdDB is a DB in the form of btcd's interface.
type btcdDB struct{ db *DB }

var _ database.DB = btcdDB{}

// Type implements [database.DB].
func (btcdDB) Type() string { return driverName }

// Begin implements [database.DB].
func (d btcdDB) Begin(writable bool) (database.Tx, error) {
	t, err := d.db.begin(writable)
	if err != nil {
		return nil, err // a nil *tx would not be a nil Tx
	}
	return t, nil
}

// View implements [database.DB].
func (d btcdDB) View(fn func(database.Tx) error) error { return d.managed(false, fn) }

// Update implements [database.DB].
func (d btcdDB) Update(fn func(database.Tx) error) error { return d.managed(true, fn) }

// managed runs fn in a transaction that ends with it, also when fn panics.
func (d btcdDB) managed(writable bool, fn func(database.Tx) error) error {
	t, err := d.db.begin(writable)
	if err != nil {
		return err
	}
	t.managed = true
	defer t.close()
	if err := fn(t); err != nil || !writable {
		return err
	}
	return t.commit()
}

// Close implements [database.DB].
func (d btcdDB) Close() error {
	switch err := d.db.Close(); {
	case err == nil:
		return nil
	case errors.Is(err, ErrClosed):
		return dbError(database.ErrDbNotOpen, "database is not open")
	default:
		return database.Error{ErrorCode: database.ErrDriverSpecific, Description: "close", Err: err}
	}
}
