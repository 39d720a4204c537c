// Package feefile keeps what is known of fee rates between two runs, in Core's
// fee_estimates.dat.
package feefile

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/atomicfile"
)

// MaxAge is how old a file may be: what is older says too little of today.
const MaxAge = 60 * time.Hour

// ErrStale refuses a file that is older than [MaxAge].
var ErrStale = errors.New("fee estimates are too old")

// Open reads a file. Without one the estimator knows nothing yet, and so it does beside an error,
// which says why the file is not used: [ErrStale], those of [feeestimate.Decode], those of the disk.
// It is not refused for its age where stale is set.
func Open(path string, stale bool, now time.Time) (*feeestimate.Estimator, error) {
	file, err := vfs.Open(vfs.OS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return feeestimate.New(), nil
	}
	if err != nil {
		return feeestimate.New(), err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return feeestimate.New(), err
	case !stale && now.Sub(info.ModTime()) > MaxAge:
		return feeestimate.New(), ErrStale
	}
	known, err := feeestimate.Decode(file)
	if err != nil {
		return feeestimate.New(), err
	}
	return known, nil
}

// Save writes a file whole or not at all.
func Save(disk vfs.FS, path string, content []byte) error {
	if err := atomicfile.Write(disk, path, content, 0o600); err != nil {
		return fmt.Errorf("fee estimates: %w", err)
	}
	return nil
}
