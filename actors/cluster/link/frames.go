package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxFrame is the size of a frame, at most.
	MaxFrame = 320 << 10

	lengthSize = 4
	bufferSize = 32 << 10
)

var errLarge = errors.New("a frame is too large")

// readFrame reads a frame of so many bytes at most.
func readFrame(r *bufio.Reader, most int) ([]byte, error) {
	head, err := r.Peek(lengthSize)
	if err != nil {
		return nil, fmt.Errorf("read a frame's length: %w", err)
	}
	size := binary.BigEndian.Uint32(head)
	if uint64(size) > uint64(most) {
		return nil, errLarge
	}
	_, _ = r.Discard(lengthSize) // they are there
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, fmt.Errorf("read a frame: %w", err)
	}
	return frame, nil
}

// writeFrame writes a frame. Errors are those of the flush.
func writeFrame(w *bufio.Writer, frame []byte) {
	var head [lengthSize]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(frame)))
	_, _ = w.Write(head[:])
	_, _ = w.Write(frame)
}
