package rpc

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// Passphrases and private keys in calls and replies are overwritten when the call is
// answered, wherever this package or net/http has put them. They may be in the
// buffers of the connection, in the body, in its parse tree, and in the reply. A
// command declares which of its parameters and results hold secrets.

const (
	// escaped is how much longer a text becomes in JSON at most, and slack more
	// than what else there is in a reply that has an ordinary id.
	escaped = 6
	slack   = 256
)

// secret reports whether a reply may show secrets: a result, or an error that
// repeats a part of an argument.
func (j *job) secret() bool {
	return j.call != nil && (j.call.ShowsSecrets() || j.call.TakesSecrets())
}

// mayShow reports whether a reply, with its failure, does show some, or may.
func (j *job) mayShow(failure *command.Error) bool {
	return j.secret() && (failure != nil || j.call.ShowsSecrets())
}

// wipe overwrites the secrets of a request that was answered, and all that nobody
// has read.
func (j *job) wipe(v *jsontree.Value) {
	if j.abandoned {
		return
	}
	if v.Kind() != jsontree.Object {
		v.Wipe()
		return
	}
	for _, member := range v.Members() {
		switch {
		case member == j.id || member == v.Get("method"): // in the reply, and perhaps in logs
		case member == j.params && j.call != nil:
			j.call.Wipe()
		default:
			member.Wipe()
		}
	}
}

// appendSecrets appends the reply to a request with a result that may hold secrets,
// and overwrites the secrets in the result. It gives dst enough room for the reply
// first, because growing later would leave a copy behind.
func (j *job) appendSecrets(dst []byte, result any) ([]byte, error) {
	teller, ok := result.(command.Teller)
	if !ok {
		return j.appendResult(dst, result)
	}
	secrets := teller.Secrets()
	var length int
	command.Masked(secrets, func() {
		masked, _ := j.appendResult(nil, result)
		length = len(masked)
	})
	dst, err := j.appendResult(slices.Grow(dst, length+slack), result)
	for _, secret := range secrets {
		clear(secret)
	}
	return dst, err
}

// readAll reads a body of a length, or of an unknown one (-1). Where it becomes longer
// than the memory it is read into, that is overwritten.
func readAll(r io.Reader, length int64) ([]byte, error) {
	body := make([]byte, 0, min(max(length, 0), largeBody)+bytes.MinRead)
	for {
		if len(body) == cap(body) {
			size := int64(2 * cap(body))
			if length >= 0 {
				size = min(size, length+bytes.MinRead)
			}
			body = moved(body, int(size))
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch err {
		case nil:
		case io.EOF:
			return body, nil
		default:
			clear(body)
			return nil, err
		}
	}
}

// moved returns what is in a buffer in a larger one, and overwrites the old one.
func moved(buffer []byte, size int) []byte {
	larger := append(make([]byte, 0, size), buffer...)
	clear(buffer)
	return larger
}

// appendMoving is append for what may be secret: where dst grows, the old one is
// overwritten.
func appendMoving(dst, data []byte) []byte {
	if len(dst)+len(data) > cap(dst) {
		dst = moved(dst, 2*cap(dst)+len(data))
	}
	return append(dst, data...)
}

// writeSecret writes a part of a reply past the buffers of net/http, and overwrites
// it.
func writeSecret(w http.ResponseWriter, part []byte) error {
	defer clear(part)
	if direct, ok := w.(io.ReaderFrom); ok {
		_, err := direct.ReadFrom(bytes.NewReader(part))
		return err
	}
	_, err := w.Write(part)
	return err
}

// ReadFrom implements io.ReaderFrom, which has net/http copy nothing.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	if whole, ok := r.(io.WriterTo); ok {
		return whole.WriteTo(c.Conn)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// forget overwrites what net/http has read of a request on this connection and is
// done with.
func (c *conn) forget() {
	if c == nil {
		return
	}
	if read, ok := c.Conn.(*headConn); ok {
		read.forget()
	}
}
