package options

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
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

// pipeWait is how long a pipe is waited for, until it was written and closed.
const pipeWait = 5 * time.Second

// OS is the [Files] of the operating system.
type OS struct {
	RegularOnly bool // only regular files are read: pipes and devices are refused
}

// ReadFile implements [Files]. Files beyond 16 MiB are refused, and so are pipes that nobody writes to.
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
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	read, open := readAll, os.Open
	if info.Mode()&os.ModeNamedPipe != 0 {
		read, open = readPipe, openPipe
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := read(f, time.Now().Add(pipeWait))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	return text, err
}

func readAll(f *os.File, _ time.Time) ([]byte, error) {
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// openPipe opens a pipe to read it, and waits for no writer.
func openPipe(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// readPipe reads a pipe until its writer closes it. A pipe whose writer has yet to come reads as empty.
func readPipe(f *os.File, until time.Time) ([]byte, error) {
	if err := f.SetReadDeadline(until); err != nil {
		return nil, err
	}
	for {
		text, err := readAll(f, until)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("%s: nobody has written to this pipe and closed it for %v", f.Name(), pipeWait)
		}
		if len(text) > 0 || err != nil {
			return text, err
		}
		time.Sleep(pipeTurn)
	}
}

// pipeTurn is how long an empty pipe is left alone.
const pipeTurn = 10 * time.Millisecond

// IsDir implements [Files].
func (OS) IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
