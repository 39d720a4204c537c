package rpc

import (
	"errors"
	"io"
	"net/http"

	"github.com/seed61375155/trawl/rpc/command"
)

// takeStream keeps a result that is to be streamed, if the job is a call by itself.
func (j *job) takeStream(stream command.Stream) error {
	if !j.alone {
		_ = stream.Close()
		return command.ErrStream
	}
	j.stream = stream
	return nil
}

// endWith ends what a call was given: now, or when its stream has gone out, which comes
// from there.
func (j *job) endWith(end func()) {
	if j.stream == nil {
		end()
		return
	}
	j.stream = &endingStream{j.stream, end}
}

type endingStream struct {
	command.Stream

	end func()
}

// Close implements io.Closer.
func (s *endingStream) Close() error {
	err := s.Stream.Close()
	s.end()
	return err
}

func (j *job) closeStream() {
	if j.stream != nil {
		_ = j.stream.Close()
	}
}

// streamed is the response whose body has the result of the job's stream.
func (j *job) streamed() response {
	const mark = "0"
	// The envelope around a value of one byte is that around any.
	envelope, _ := j.appendResult(nil, 0)
	before := len(j.open(nil)) + len(`"result":`)
	after := append(envelope[before+len(mark):], '\n')
	return response{
		status: http.StatusOK, body: [][]byte{envelope[:before:before]}, json: true, stream: j.stream, tail: after,
	}
}

// copyStream writes the stream of a response. If the stream cannot be read to its end
// the connection is cut, so that no client takes a part for the whole.
func (r *response) copyStream(write func([]byte) error) error {
	buf := make([]byte, partSize)
	for {
		n, err := r.stream.Read(buf)
		if failed := write(buf[:n]); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return write(r.tail)
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}
