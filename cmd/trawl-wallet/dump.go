package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/dump"
	"github.com/seed61375155/trawl/store/walletdb"
)

// dump writes all records of a wallet as text. Legacy wallets are dumped, too.
func (t *tool) dump() error {
	format, each, release, err := t.source()
	if err != nil {
		return err
	}
	defer release()
	if t.dumpFile == "" {
		return failf("No dump file provided. To use dump, -dumpfile=<filename> must be provided.")
	}
	path, err := absolute(t.dumpFile)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil {
		return failf(
			"File %s already exists. If you are sure this is what you want, move it out of the way first.", path,
		)
	}
	err = writeNew(t.disk, path, func(w io.Writer) error {
		d, err := dump.NewWriter(w, format)
		if err == nil {
			err = each(d.Put)
		}
		if err != nil {
			return err
		}
		return d.Close()
	})
	switch {
	case errors.Is(err, errNotOpened):
		return failf("Unable to open %s for writing", path)
	case errors.Is(err, walletdb.ErrIO):
		return failf("Error reading next record from wallet database")
	case err != nil:
		return failf("Error: Unable to write %s: %v", path, err)
	}
	fmt.Fprintf(t.stdout, "The dumpfile may contain private keys. To ensure the safety of your %s, do not share the "+
		"dumpfile.\n", t.names.Coins)
	return nil
}

// source opens the wallet, and returns its format and what visits its records.
func (t *tool) source() (format string, each func(func(walletfile.Record) error) error, release func(), err error) {
	if path, legacy := walletdb.LegacyIn(t.dir); legacy {
		records, err := walletdb.ReadLegacy(path)
		return dump.Berkeley, func(visit func(walletfile.Record) error) error {
			for _, r := range records {
				if err := visit(r); err != nil {
					return err
				}
			}
			return nil
		}, func() {}, err
	}
	db, err := walletdb.OpenDir(t.dir, t.fileOptions())
	if err != nil {
		return "", nil, nil, err
	}
	return dump.SQLite, db.Each, func() { _ = db.Close() }, nil
}

var errNotOpened = errors.New("file cannot be made")

// writeNew makes a file of what write writes. When it returns without error the file is on the disk; with one there is
// no file.
func writeNew(disk vfs.FS, path string, write func(io.Writer) error) error {
	file, err := disk.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotOpened, err)
	}
	buffered := bufio.NewWriterSize(file, 1<<16)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = disk.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(err, disk.Remove(path))
	}
	return nil
}
