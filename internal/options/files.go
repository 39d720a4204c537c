package options

import (
	"fmt"
	"io"
	"os"
)

// maxFile bounds the bytes read of a configuration file, in case it is a
// device that never ends.
const maxFile = 16 << 20

// Files is what this package sees of the file system.
type Files interface {
	// ReadFile returns the content of a file.
	ReadFile(path string) ([]byte, error)
	// IsDir reports whether path is a directory; symbolic links are followed.
	IsDir(path string) bool
}

// OS is the [Files] of the operating system.
type OS struct {
	RegularOnly bool // what is no regular file is refused: to open a pipe waits until somebody writes to it
}

// ReadFile implements [Files]. Files beyond 16 MiB are refused.
func (o OS) ReadFile(path string) ([]byte, error) {
	if o.RegularOnly {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: not a regular file", path)
		}
	}
	f, err := os.Open(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	return text, err
}

// IsDir implements [Files].
func (OS) IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
