package segment

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// Look reads whose filter index lies in a folder. Nothing is changed, nor opened as
// a database.
func Look(dir string) (dbfiles.Verdict, error) {
	whose, err := dbfiles.Judge(filepath.Join(dir, "db"), owns)
	if err != nil || whose == dbfiles.Foreign {
		return whose, err
	}
	paths, err := filesLike(vfs.OS, dir, "fltr*.dat")
	if errors.Is(err, os.ErrNotExist) {
		return whose, nil
	}
	for _, path := range paths {
		begin, err := firstBytes(path, len(magic))
		switch {
		case err != nil:
			return whose, err
		case bytes.Equal(begin, magic):
			return dbfiles.Own, nil
		case len(bytes.Trim(begin, "\x00")) > 0 && whose == dbfiles.Empty:
			whose = dbfiles.Foreign
		}
	}
	return whose, err
}

// owns reports whether a pair can be one of this package's.
func owns(key, _ []byte) bool {
	switch {
	case bytes.HasPrefix(key, keyFilter):
		return len(key) == len(keyFilter)+positionSize
	case bytes.Equal(key, keyTip), bytes.Equal(key, keySynced), bytes.Equal(key, keyFormat):
		return true
	}
	return false
}

// firstBytes reads the beginning of a file, less if it is shorter.
func firstBytes(path string, n int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(n)))
}
