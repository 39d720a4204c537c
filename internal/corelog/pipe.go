package corelog

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// A pipe is a named pipe that takes lines as long as it has room: the program never waits for its
// reader.
type pipe struct {
	*os.File
	raw  syscall.RawConn
	lost int // lines since the last that went in
}

// pipeFlags open a named pipe whether or not anybody reads it yet. To hold its other end too keeps it
// from breaking when its reader goes.
const pipeFlags = os.O_RDWR | syscall.O_NONBLOCK

func newPipe(file *os.File) (*pipe, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &pipe{File: file, raw: raw}, nil
}

// Write implements io.Writer. A line for which there is no room is left out, and the next that goes
// in comes after a word about it. A line of more than 4,096 bytes may be cut off.
func (p *pipe) Write(line []byte) (int, error) {
	if p.lost > 0 {
		whole, err := p.try(fmt.Appendf(nil, "\n[%d lines of the log are missing here]\n", p.lost))
		if !whole || err != nil {
			p.lost++
			return len(line), err
		}
		p.lost = 0
	}
	whole, err := p.try(line)
	if !whole {
		p.lost++
	}
	return len(line), err
}

// try writes what there is room for now, and reports whether that was all.
func (p *pipe) try(text []byte) (whole bool, err error) {
	var n int
	failed := p.raw.Write(func(fd uintptr) bool {
		n, err = syscall.Write(int(fd), text)
		return true
	})
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return n == len(text), errors.Join(err, failed)
}
