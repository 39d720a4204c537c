package walletdb

import "context"

// Setting returns the value of a setting of the connection.
func (db *DB) Setting(name string) (value string, err error) {
	err = db.conn.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&value)
	return value, err
}

// Share is what says that files are being made in a directory.
var Share = share
