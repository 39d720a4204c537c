package command

import "io"

// A Stream is a result that is too large to be kept in memory: JSON that is read once, by
// who answers a single call. It is no result of a call in a batch, or in the process.
type Stream interface {
	io.ReadCloser

	// Size returns how many bytes there are to read.
	Size() int64
}

// ErrStream answers a call with a result that can only be streamed where that cannot be.
var ErrStream = Error{Code: OutOfMemory, Message: "The result is too large, except for a call by itself over HTTP"}
