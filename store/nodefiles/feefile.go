package nodefiles

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/internal/vfs"
)

// MaxFeesAge is the greatest age of fee_estimates.dat; older estimates say too little of today.
const MaxFeesAge = 60 * time.Hour

// ErrStaleFees refuses a file that is older than [MaxFeesAge].
var ErrStaleFees = errors.New("fee estimates are too old")

// OpenFees reads fee_estimates.dat. Without one the estimator knows nothing yet, and so it does beside an error,
// which says why the file is not used: [ErrStaleFees], errors of [feeestimate.Form.Decode] and of the disk.
// It is not refused for its age where stale is set.
func OpenFees(
	form feeestimate.Form, path string, stale bool, now time.Time,
) (*feeestimate.Estimator, error) {
	file, err := vfs.Open(vfs.OS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return form.New(), nil
	}
	if err != nil {
		return form.New(), err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return form.New(), err
	case !stale && now.Sub(info.ModTime()) > MaxFeesAge:
		return form.New(), ErrStaleFees
	}
	known, err := form.Decode(file)
	if err != nil {
		return form.New(), err
	}
	return known, nil
}

// SaveFees writes a file whole or not at all.
func SaveFees(disk vfs.FS, path string, content []byte) error {
	if err := vfs.ReplaceFile(disk, path, content, 0o600); err != nil {
		return fmt.Errorf("fee estimates: %w", err)
	}
	return nil
}
