package rpc

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed61375155/trawl/rpc/command"
)

// A textStream is a result that is streamed.
type textStream struct {
	io.Reader

	size   int64
	closed chan struct{}
}

func (s *textStream) Size() int64 { return s.size }

func (s *textStream) Close() error {
	close(s.closed)
	return nil
}

// A result that is streamed goes out whole, in the envelope of any other, and is closed then. A client is cut off
// where the result cannot be read to its end, and a batch has an error in its place.
func TestStreamedReply(t *testing.T) {
	whole := `"` + strings.Repeat("x", partSize+1) + `"`
	var stream *textStream
	table, err := command.NewTable([]command.Command{{
		Name: "large", Run: func(context.Context, *command.Args) (any, error) { return stream, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, Config{User: "u", Password: "p"})
	s.Ready(table)
	c := newClient(t, s)
	begin := func(end error) {
		stream = &textStream{
			Reader: io.MultiReader(strings.NewReader(whole), iotest.ErrReader(end)), size: int64(len(whole)),
			closed: make(chan struct{}),
		}
	}
	begin(io.EOF)
	c.want(t, v2Call("large"), `200 {"jsonrpc":"2.0","result":`+whole+`,"id":1}`)
	<-stream.closed
	begin(io.EOF)
	c.want(t, `{"method":"large","id":"1"}`, `200 {"result":`+whole+`,"error":null,"id":"1"}`)
	<-stream.closed
	begin(errors.New("the disk is broken"))
	if got, err := c.post(t.Context(), "/", "u:p", v2Call("large")); err == nil {
		t.Errorf("a part was taken for the whole: %d bytes", len(got))
	}
	<-stream.closed
	begin(io.EOF)
	c.want(t, "["+v2Call("large")+"]", `200 [{"jsonrpc":"2.0","error":{"code":-7,"message":"`+
		command.ErrStream.Message+`"},"id":1}]`)
	<-stream.closed
}
