package rpc

import (
	"bytes"
	"strconv"
)

// A framing follows the requests on one connection, so that it knows where each
// head begins and ends. It hands them on as net/http wants them: with mended heads
// (see mendHead), chunks without extensions, and a single statement of the body's
// length. A proxy between a client and this server may read two such statements
// otherwise than we do, and so take a part of a body for a request of its own.
//
// Input that it cannot read becomes something that net/http refuses, in its turn
// among the answers; nothing after that is read. It keeps no more of the input
// than a head that is not whole yet.
type framing struct {
	state framingState
	line  []byte // the head, or the line of the chunk, as far as it was read
	left  int64  // bytes of the body, or of the chunk, that are to come
	later bool   // a request was read before this one

	chunksFirst bool // a body may tell its length, too, where it comes in chunks
	extensions  bool // chunks may have some, which are passed over
}

type framingState uint8

const (
	inHead     framingState = iota
	inBody                  // of a known length
	inSize                  // the line before a chunk
	inChunk                 // the data of a chunk
	inChunkEnd              // the line end after it
	inTrailer               // the lines after the last chunk
	refused                 // no more is read
)

const (
	// maxChunkLine bounds the line before a chunk.
	maxChunkLine = 64

	// headRefused is a head that net/http answers with 400, and sizeRefused a
	// chunk whose body it cannot read.
	headRefused = "?\r\n\r\n"
	sizeRefused = "?\r\n"
)

// whole reports whether data, the next that was sent, is nothing but body and
// so needs no copy. It is taken then.
func (f *framing) whole(data []byte) bool {
	if f.state != inBody || f.left < int64(len(data)) {
		return false
	}
	f.body(len(data))
	return true
}

func (f *framing) body(n int) {
	if f.left -= int64(n); f.left == 0 {
		f.state = inHead
	}
}

// pass appends what net/http is to read of data, the next that was sent, up to the
// end of the request. The rest is the next one's.
func (f *framing) pass(dst, data []byte) (out, rest []byte) {
	for len(data) > 0 && f.state != refused {
		switch f.state {
		case inHead:
			dst, data = f.passHead(dst, data)
		case inBody:
			n := int(min(f.left, int64(len(data))))
			dst, data = appendMoving(dst, data[:n]), data[n:]
			f.body(n)
		case inChunk:
			n := int(min(f.left, int64(len(data))))
			dst, data = appendMoving(dst, data[:n]), data[n:]
			if f.left -= int64(n); f.left == 0 {
				f.state = inChunkEnd
			}
		default:
			dst, data = f.passLine(dst, data)
		}
		if f.state == inHead && len(dst) > 0 && len(f.line) == 0 {
			return dst, data
		}
	}
	return dst, nil
}

func (f *framing) refuse(dst []byte, with string) []byte {
	f.state, f.line = refused, nil
	return append(dst, with...)
}

// passHead takes a head, once it is whole.
func (f *framing) passHead(dst, data []byte) (out, rest []byte) {
	if f.later && len(f.line) == 0 {
		// Some clients end a body with a line end that its length does not count.
		if data = bytes.TrimLeft(data, "\r\n"); len(data) == 0 {
			return dst, nil
		}
	}
	from := max(len(f.line)-3, 0) // the empty line may have begun before data
	kept := len(f.line)
	f.line = append(f.line, data[:min(len(data), maxHead+1-kept)]...)
	end := headEnd(f.line, from)
	switch {
	case end > maxHead, end < 0 && len(f.line) > maxHead:
		return f.refuse(dst, headRefused), nil
	case end < 0:
		return dst, nil
	}
	mended, length, ok := mendHead(f.line[:end], f.chunksFirst)
	if !ok {
		return f.refuse(dst, headRefused), nil
	}
	switch {
	case length == chunked:
		f.state = inSize
	case length > 0:
		f.state, f.left = inBody, length
	}
	clear(f.line) // which has the beginning of the body
	f.line, f.later = nil, true
	return append(dst, mended...), data[end-kept:]
}

// passLine takes one of the lines around chunks, once it is whole.
func (f *framing) passLine(dst, data []byte) (out, rest []byte) {
	end := bytes.IndexByte(data, '\n')
	n := end + 1
	if end < 0 {
		n = len(data)
	}
	limit := maxChunkLine
	if f.state == inTrailer || f.state == inSize && f.extensions {
		limit = maxHead
	}
	if len(f.line)+n > limit {
		return f.refuse(dst, sizeRefused), nil
	}
	f.line = append(f.line, data[:n]...)
	if end < 0 {
		return dst, nil
	}
	line, hasReturn := bytes.CutSuffix(f.line, []byte("\r\n"))
	f.line = f.line[:0]
	data = data[n:]
	switch {
	case f.state == inTrailer:
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) == 0 {
			f.state, f.line = inHead, nil
			return append(dst, "\r\n"...), data
		}
		return dst, data // nothing of ours reads them
	case !hasReturn:
	case f.state == inChunkEnd && len(line) == 0:
		f.state = inSize
		return append(dst, "\r\n"...), data
	case f.state == inSize:
		if i := bytes.IndexByte(line, ';'); i >= 0 && f.extensions {
			line = line[:i]
		}
		size, err := strconv.ParseUint(string(bytes.TrimRight(line, " ")), 16, 32)
		if err != nil {
			break
		}
		f.state, f.left = inChunk, int64(size)
		if size == 0 {
			f.state = inTrailer
		}
		return append(strconv.AppendUint(dst, size, 16), "\r\n"...), data
	}
	return f.refuse(dst, sizeRefused), nil
}

// clip gives the memory of a large buffer back once it is empty.
func clip(buffer []byte) []byte {
	if cap(buffer) > smallBuffer {
		return nil
	}
	return buffer[:0]
}

// smallBuffer is what an open connection may keep.
const smallBuffer = 1 << 10
