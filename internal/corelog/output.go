package corelog

import (
	"errors"
	"io"
	"os"
	"sync"
)

// Core's rule for -shrinkdebugfile: a log beyond 11 MB is cut to its last 10 MB.
const (
	shrinkBeyond = 11_000_000
	shrinkTo     = 10_000_000
)

// Output is where lines go: a file, a console, or both. It is safe for
// concurrent use. Lines are written as they come, unbuffered, so that a crash
// loses none.
type Output struct {
	path    string
	console io.Writer

	mu   sync.Mutex
	file io.WriteCloser
}

// Open opens the file path for appending, with mode 0600 if it is new, unless
// path is empty; console may be nil. Like Core it first writes five line feeds to
// the file, to set this run apart from the last. A named pipe never makes the
// program wait: lines that its reader does not take in time are dropped.
func Open(path string, console io.Writer) (*Output, error) {
	o := &Output{path: path, console: console}
	if path == "" {
		return o, nil
	}
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	o.file = file
	if _, err := io.WriteString(file, "\n\n\n\n\n"); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return o, nil
}

func openFile(path string) (io.WriteCloser, error) {
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	info, err := os.Stat(path)
	isPipe := err == nil && info.Mode()&os.ModeNamedPipe != 0
	if isPipe {
		flags = pipeFlags
	}
	file, err := os.OpenFile(path, flags, 0o600) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	if isPipe {
		return newPipe(file)
	}
	return file, nil
}

// Reopen opens the file anew, after somebody moved it away. Where that fails the
// old file stays in use.
func (o *Output) Reopen() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	file, err := openFile(o.path)
	if err != nil {
		return err
	}
	old := o.file
	if from, ok := old.(*pipe); ok {
		if to, ok := file.(*pipe); ok {
			to.lost = from.lost
		}
	}
	o.file = file
	return old.Close()
}

// Close closes the file; lines to come reach the console only.
func (o *Output) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return nil
	}
	file := o.file
	o.file = nil
	return file.Close()
}

// write writes one whole line, its line feed included, to the console and, if
// toFile is true, to the file.
func (o *Output) write(line []byte, toFile bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errConsole, errFile error
	if o.console != nil {
		_, errConsole = o.console.Write(line)
	}
	if o.file != nil && toFile {
		_, errFile = o.file.Write(line)
	}
	return errors.Join(errConsole, errFile)
}

// Shrink cuts a file that has grown beyond 11 MB to its last 10 MB. A file that
// does not exist is fine.
func Shrink(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the user names the file
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(shrink(file), file.Close())
}

func shrink(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() <= shrinkBeyond {
		return err
	}
	tail := make([]byte, shrinkTo)
	if _, err := file.ReadAt(tail, info.Size()-shrinkTo); err != nil {
		return err
	}
	if _, err := file.WriteAt(tail, 0); err != nil {
		return err
	}
	return file.Truncate(shrinkTo)
}
