package blockfile

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed61375155/trawl/internal/vfs"
)

// DiskSize returns how many bytes the files of this kind in dir take.
func (k Kind) DiskSize(dir string) (int64, error) {
	numbers, err := k.Numbers(vfs.OS, dir)
	if err != nil {
		return 0, fmt.Errorf("size of %s files: %w", k, err)
	}
	var total int64
	for _, n := range numbers {
		info, err := vfs.OS.Stat(k.Path(dir, n))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			return 0, fmt.Errorf("size of %s files: %w", k, err)
		}
		total += info.Size()
	}
	return total, nil
}
