package main

import (
	"errors"
	"os"

	"github.com/seed61375155/trawl/internal/walletfile/dump"
	"github.com/seed61375155/trawl/store/walletdb"
)

// createFromDump makes a wallet of the records in a text. The wallet gets its name when all records are there and have
// the checksum of the text.
func (t *tool) createFromDump() error {
	if t.dumpFile == "" {
		return failf("No dump file provided. To use createfromdump, -dumpfile=<filename> must be provided.")
	}
	if err := t.checkNamed(); err != nil {
		return err
	}
	path, err := absolute(t.dumpFile)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return failf("Dump file %s does not exist.", path)
	}
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer file.Close()
	records, err := dump.NewReader(file, t.names.Wallet)
	if err != nil {
		return err
	}
	if err := t.checkFree(); err != nil {
		return err
	}
	err = t.make(func(b *walletdb.Batch) error { return records.Each(b.Put) })
	if errors.Is(err, walletdb.ErrIO) {
		return failf("Error: Unable to write record to new wallet: %v", err)
	}
	return err
}
