package walletdb_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/store/walletdb"
)

// The first bytes and the size decide what a file is.
func TestFormatOf(t *testing.T) {
	magic := [4]byte{0xfa, 0xbf, 0xb5, 0xda}
	sqlite := func(size int, app [4]byte) []byte {
		file := make([]byte, size)
		copy(file, "SQLite format 3\x00")
		copy(file[68:], app[:])
		return file
	}
	berkeley := func(size int, order binary.ByteOrder) []byte {
		file := make([]byte, size)
		order.PutUint32(file[12:], 0x00053162)
		return file
	}
	for name, test := range map[string]struct {
		file []byte
		want walletdb.Format
	}{
		"sqlite":                     {sqlite(512, magic), walletdb.SQLite},
		"sqlite, too short":          {sqlite(511, magic), walletdb.Unknown},
		"sqlite, of another network": {sqlite(512, [4]byte{1}), walletdb.Unknown},
		"berkeley":                   {berkeley(4096, binary.LittleEndian), walletdb.Berkeley},
		"berkeley, big endian":       {berkeley(4096, binary.BigEndian), walletdb.Berkeley},
		"berkeley, too short":        {berkeley(4095, binary.LittleEndian), walletdb.Unknown},
		"berkeley's size":            {make([]byte, 8192), walletdb.Unknown},
		"empty":                      {nil, walletdb.Unknown},
	} {
		path := filepath.Join(t.TempDir(), "wallet.dat")
		if err := os.WriteFile(path, test.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := walletdb.FormatOf(path, magic); err != nil || got != test.want {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, test.want)
		}
	}
	if _, err := walletdb.FormatOf(filepath.Join(t.TempDir(), "none"), magic); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if got, err := walletdb.FormatOf(t.TempDir(), magic); err != nil || got != walletdb.Unknown {
		t.Errorf("a folder: %v, %v", got, err)
	}
}
