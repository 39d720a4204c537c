package corenode

import (
	"bytes"
	"fmt"
	"io"
)

// How Core frames the result of a call with the id 0 that has succeeded: as version 2 of
// JSON-RPC, and before version 28 of Core.
var frames = []struct{ begin, end []byte }{
	{[]byte(`{"jsonrpc":"2.0","result":`), []byte(`,"id":0}` + "\n")},
	{[]byte(`{"result":`), []byte(`,"error":null,"id":0}` + "\n")},
}

// A Large is the result in a reply that is too large to be kept in memory.
type Large struct {
	body io.ReadCloser
	head []byte // of the result, that was read already
	left int64  // of the result, after head
	end  []byte // what has to follow it
	size int64
	done func() // the call has ended
}

// newLarge reads the beginning of a body, which says where its result stands.
func newLarge(body io.ReadCloser, length int64) (*Large, error) {
	head := make([]byte, len(frames[0].begin))
	if _, err := io.ReadFull(body, head); err != nil {
		return nil, away("%w", err)
	}
	for _, f := range frames {
		if rest, ok := bytes.CutPrefix(head, f.begin); ok {
			size := length - int64(len(f.begin)+len(f.end))
			return &Large{body: body, head: rest, left: size - int64(len(rest)), end: f.end, size: size}, nil
		}
	}
	return nil, ErrTooLarge
}

// Size returns how many bytes of JSON the result has.
func (l *Large) Size() int64 { return l.size }

// Read implements io.Reader: it reads the result. At its end the error is io.EOF only if
// the reply ends there as it has to.
func (l *Large) Read(p []byte) (int, error) {
	if len(l.head) > 0 {
		n := copy(p, l.head)
		l.head = l.head[n:]
		return n, nil
	}
	if l.left == 0 {
		return 0, l.finish()
	}
	n, err := l.body.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && (l.left > 0 || err != io.EOF) {
		return n, away("%w", io.ErrUnexpectedEOF)
	}
	return n, nil
}

func (l *Large) finish() error {
	end := make([]byte, len(l.end))
	if _, err := io.ReadFull(l.body, end); err != nil || !bytes.Equal(end, l.end) {
		return fmt.Errorf("%w: its end", ErrReply)
	}
	return io.EOF
}

// Close gives up what was not read.
func (l *Large) Close() error {
	defer l.done()
	return l.body.Close()
}
