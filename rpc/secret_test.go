package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// TestReadBufferIsForgotten sends requests one after the other without waiting: when
// the first is answered the buffer that it was read through is empty, and nothing of
// the second is lost.
func TestReadBufferIsForgotten(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n"
	const chunks = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nsec\r\n3\r\nret\r\n0\r\n\r\n"
	for name, sent := range map[string]string{
		"alone": head + "secret", "two": head + "secret" + head + "second", "chunks": chunks + chunks + head + "secret",
		"line ends": head + "secret\r\n" + head + "second\r\n",
	} {
		for _, size := range []int{1, 7, 4096} {
			client, server := net.Pipe()
			go func() {
				for piece := range slices.Chunk([]byte(sent), size) {
					_, _ = client.Write(piece)
				}
				client.Close()
			}()
			c := &headConn{Conn: server}
			buffer := bufio.NewReader(c)
			bodies := 0
			for ; ; bodies++ {
				request, err := http.ReadRequest(buffer)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				body, err := io.ReadAll(request.Body)
				if err != nil || string(body) != "secret" && string(body) != "second" {
					t.Fatalf("%s: %q, %v", name, body, err)
				}
				given := c.given
				c.forget()
				if buffer.Buffered() > 0 {
					t.Errorf("%s: %d bytes of the next request were read", name, buffer.Buffered())
				}
				for _, held := range [][]byte{given, c.unused[:cap(c.unused)]} {
					if bytes.Contains(held, body) {
						t.Errorf("%s: %q is left", name, held)
					}
				}
			}
			if want := strings.Count(sent, "POST"); bodies != want {
				t.Errorf("%s in pieces of %d: %d requests, want %d", name, size, bodies, want)
			}
		}
	}
}

// TestReadAll reads bodies of known and unknown lengths.
func TestReadAll(t *testing.T) {
	for _, n := range []int{0, 1, 511, 512, 513, 5000, 300_000, 1 << 20} {
		want := bytes.Repeat([]byte("x"), n)
		for _, length := range []int64{-1, int64(n)} {
			got, err := readAll(iotest.DataErrReader(bytes.NewReader(want)), length)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, length %d: got %d, %v", n, length, len(got), err)
			}
			if length >= 0 && cap(got) > n+bytes.MinRead {
				t.Errorf("%d bytes take %d", n, cap(got))
			}
		}
	}
	failing := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("secret")))
	if _, err := readAll(failing, 6); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

// keyResult is a result with a secret.
type keyResult struct {
	Key  command.Secret `json:"key"`
	Name string         `json:"name"`
}

func (r keyResult) Secrets() []command.Secret { return []command.Secret{r.Key} }

// TestSecretReply looks at the texts of a result, and at the memory of its reply,
// when it was written.
func TestSecretReply(t *testing.T) {
	j := &job{request: request{header: header{hasID: true, id: jsontree.NewInt(7)}}}
	key := command.Secret(strings.Repeat("key", 100))
	before := []byte(`[`)
	reply, err := j.appendSecrets(before, keyResult{key, "a name"})
	want := `[{"result":{"key":"` + strings.Repeat("key", 100) + `","name":"a name"},"error":null,"id":7}`
	if err != nil || string(reply) != want {
		t.Fatalf("got %s, %v", reply, err)
	}
	if strings.Trim(string(key), "\x00") != "" {
		t.Errorf("%q is left", string(key))
	}
	if cap(reply) < len(want)+1 {
		t.Error("no room for what follows")
	}
	r := response{body: [][]byte{reply}, secret: true}
	r.wipe()
	if bytes.Contains(reply[:cap(reply)], []byte("key")) {
		t.Errorf("%q is left", reply)
	}
}

// Secret bytes stay in place as long as there is room, and leave nothing behind where they move.
func TestAppendMoving(t *testing.T) {
	for n, moves := range map[int]bool{0: false, 2: false, 3: false, 4: true, 100: true} {
		before := append(make([]byte, 0, 8), "begin"...)
		data := bytes.Repeat([]byte("x"), n)
		after := appendMoving(before, data)
		if string(after) != "begin"+string(data) {
			t.Errorf("%d bytes more: %q", n, after)
		}
		if moved := string(before) == strings.Repeat("\x00", len(before)); moved != moves {
			t.Errorf("%d bytes more: %q is left", n, before)
		}
	}
}
