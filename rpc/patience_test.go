package rpc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// timedWriter is a reply of which is known how long each step might have taken.
type timedWriter struct {
	recorder
	reading, writing []time.Duration // that were allowed; negative: as long as it takes
	sizes            []int           // of writes
	flushed          int             // bytes, when it was flushed; -1: it was not
	fails            int             // the write that fails, from 1
}

var errLeft = errors.New("the client has left")

func allowed(deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return -1
	}
	return time.Until(deadline)
}

func (w *timedWriter) SetReadDeadline(t time.Time) error {
	w.reading = append(w.reading, allowed(t))
	return nil
}

func (w *timedWriter) SetWriteDeadline(t time.Time) error {
	w.writing = append(w.writing, allowed(t))
	return nil
}

func (w *timedWriter) Flush() { w.flushed = w.Len() }

func (w *timedWriter) Write(b []byte) (int, error) {
	w.sizes = append(w.sizes, len(b))
	if len(w.sizes) == w.fails {
		return 0, errLeft
	}
	time.Sleep(time.Second)
	return w.recorder.Write(b)
}

// ReadFrom is how a secret is written.
func (w *timedWriter) ReadFrom(r io.Reader) (int64, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// A client may take its time for the head of a reply, and then for each part of it; less
// where others need the memory.
func TestTimeForReplies(t *testing.T) {
	const timeout, first, short = 40 * time.Second, 80 * time.Second, 10 * time.Second
	parts := func(sizes ...int) (body [][]byte) {
		for _, size := range sizes {
			body = append(body, bytes.Repeat([]byte("x"), size))
		}
		return body
	}
	for _, test := range []struct {
		what    string
		resp    response
		used    int64 // of 1000 bytes for replies
		fails   int
		head    string
		writing []time.Duration
		sizes   []int
	}{
		{
			"nothing",
			response{status: 204},
			0, 0, "204 text/html; charset=ISO-8859-1 -",
			[]time.Duration{first},
			nil,
		},
		{
			"an empty body",
			response{status: 403},
			0, 0, "403 text/html; charset=ISO-8859-1 0",
			[]time.Duration{first},
			nil,
		},
		{
			"a small one",
			response{status: 200, json: true, body: parts(5)},
			0, 0, "200 application/json 5",
			[]time.Duration{first, first},
			[]int{5},
		},
		{
			"a large one",
			response{status: 200, json: true, body: parts(2*writeChunk + 1)},
			500, 0,
			"200 application/json 524289",
			[]time.Duration{first, first, timeout, timeout},
			[]int{writeChunk, writeChunk, 1},
		},
		{
			"parts",
			response{status: 200, json: true, body: parts(writeChunk, 0, 7)},
			0, 0,
			"200 application/json 262151",
			[]time.Duration{first, first, timeout},
			[]int{writeChunk, 7},
		},
		{
			"while memory is short",
			response{status: 200, json: true, body: parts(writeChunk, 7, 8)},
			501, 0,
			"200 application/json 262159",
			[]time.Duration{first, first, short, short},
			[]int{writeChunk, 7, 8},
		},
		{
			"to one who leaves",
			response{status: 200, json: true, body: parts(writeChunk, 7, 8)},
			0, 2,
			"200 application/json 262159",
			[]time.Duration{first, first, timeout},
			[]int{writeChunk, 7},
		},
		{
			"a secret",
			response{status: 200, json: true, secret: true, body: parts(writeChunk, 7)},
			0, 0,
			"200 application/json 262151",
			[]time.Duration{first, first, timeout},
			[]int{writeChunk, 7},
		},
		{
			"a secret to one who leaves",
			response{status: 200, json: true, secret: true, body: parts(6, 7, 8)},
			0, 2,
			"200 application/json 21",
			[]time.Duration{first, first, timeout},
			[]int{6, 7},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &Server{timeout: timeout, observer: nobody{}, replies: budget{limit: 1000}}
			s.replies.used.Store(test.used)
			want := bytes.Join(test.resp.body, nil)
			w := &timedWriter{flushed: -1, fails: test.fails}
			s.reply(w, test.resp)
			length := "-"
			if got := w.Header()["Content-Length"]; got != nil {
				length = got[0]
			}
			head := strconv.Itoa(w.status) + " " + w.Header().Get("Content-Type") + " " + length
			if head != test.head || !slices.Equal(w.writing, test.writing) || !slices.Equal(w.sizes, test.sizes) {
				t.Errorf("%s: got %s, times %v, writes of %v", test.what, head, w.writing, w.sizes)
			}
			if test.fails == 0 && !bytes.Equal(w.Bytes(), want) {
				t.Errorf("%s: wrote %d bytes, want %d", test.what, w.Len(), len(want))
			}
			if flushed := w.flushed == 0; flushed != test.resp.secret {
				t.Errorf("%s: the head was flushed: %v", test.what, flushed)
			}
			for _, part := range test.resp.body {
				if wiped := bytes.Count(part, []byte{0}) == len(part); len(part) > 0 && wiped != test.resp.secret {
					t.Errorf("%s: wiped is %v", test.what, wiped)
				}
			}
		})
	}
}

// slowBody comes in pieces, each after a while.
type slowBody struct {
	pause time.Duration
	size  int
	left  int
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	b.left--
	time.Sleep(b.pause)
	return min(len(p), b.size), nil
}

func (*slowBody) Close() error { return nil }

// Each piece of a body may take the timeout, and the whole as long as a slow client
// needs; its memory is taken as it comes.
func TestTimeForBodies(t *testing.T) {
	const second = time.Second
	for _, test := range []struct {
		pause time.Duration
		size  int
		want  []time.Duration
	}{
		{second, 100 * minRate, []time.Duration{30 * second, 30 * second, 30 * second, 30 * second}},
		{2 * second, 2 * minRate, []time.Duration{30 * second, 30 * second, 30 * second, 30 * second}},
		{10 * second, 4 * minRate, []time.Duration{30 * second, 24 * second, 18 * second, 12 * second}},
		{10 * second, minRate - 1, []time.Duration{30 * second, 20 * second, 11 * second, 2 * second}},
		{29 * second, 1, []time.Duration{30 * second, 1 * second, -28 * second, -57 * second}},
	} {
		for _, short := range []bool{true, false} {
			if !short {
				test.want = []time.Duration{30 * second, 30 * second, 30 * second, 30 * second}
			}
			synctest.Test(t, func(t *testing.T) {
				w := &timedWriter{}
				held := share{of: &budget{limit: 2 << 20}}
				if short {
					held.of.limit = 4 << 20
					held.of.used.Store(2<<20 + 1)
				}
				r := &patientReader{
					ReadCloser: &slowBody{test.pause, test.size, 3}, control: http.NewResponseController(w),
					timeout: 30 * second, began: time.Now(), held: &held,
				}
				p, read := make([]byte, 1<<20), 0
				for {
					n, err := r.Read(p)
					read += n
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if read != 3*test.size || !slices.Equal(w.reading, test.want) {
					t.Errorf("%d bytes each %v: read %d, times %v", test.size, test.pause, read, w.reading)
				}
				want := int64(read)
				if read <= smallMessage {
					want = 0
				}
				if held.size != want {
					t.Errorf("%d bytes are counted of %d", held.size, read)
				}
			})
		}
	}
	r := &patientReader{
		ReadCloser: &slowBody{0, 100_000, 5}, control: http.NewResponseController(&timedWriter{}),
		timeout: time.Hour, began: time.Now(), held: &share{of: &budget{limit: 250_000}},
	}
	p := make([]byte, 1<<20)
	for n, want := range []error{nil, nil, errNoMemory} {
		if _, err := r.Read(p); !errors.Is(err, want) {
			t.Errorf("read %d: got %v, want %v", n, err, want)
		}
	}
}

// A refused client may go on sending for the timeout, on a connection whose last reply
// may have been slow.
func TestTimeForTheRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{observer: nobody{}, timeout: 40 * time.Second}
		w := &timedWriter{}
		s.ServeHTTP(w, &http.Request{
			Method: http.MethodPost, RequestURI: "/", RemoteAddr: "192.0.2.7:1", Header: http.Header{},
		})
		if !slices.Equal(w.reading, []time.Duration{40 * time.Second}) ||
			!slices.Equal(w.writing, []time.Duration{-1, 80 * time.Second}) || w.status != http.StatusForbidden {
			t.Errorf("got %d, times %v and %v", w.status, w.reading, w.writing)
		}
	})
}

// A body may have 32 MiB.
func TestLongestBody(t *testing.T) {
	s := &Server{observer: nobody{}, timeout: time.Minute, allowed: alwaysAllowed}
	for length, want := range map[int64]int{
		0: http.StatusUnauthorized, maxBody: http.StatusUnauthorized, maxBody + 1: http.StatusRequestEntityTooLarge,
	} {
		w := &timedWriter{}
		s.ServeHTTP(w, &http.Request{
			Method: http.MethodPost, RequestURI: "/", RemoteAddr: "127.0.0.1:1", Header: http.Header{},
			ContentLength: length,
		})
		if w.status != want {
			t.Errorf("%d bytes: %d, want %d", length, w.status, want)
		}
	}
}

// After what cannot be read a connection is at its end, although its client stays.
func TestRefusedConnectionEnds(t *testing.T) {
	for sent, want := range map[string]string{
		"no request\r\n\r\n": headRefused,
		"POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n": "POST / HTTP/1.1\r\nHost:\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n" + sizeRefused,
	} {
		ours, theirs := net.Pipe()
		go func() { _, _ = theirs.Write([]byte(sent)) }()
		if err := ours.SetReadDeadline(time.Now().Add(soon)); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(&headConn{Conn: ours})
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v", sent, got, err)
		}
		_ = ours.Close()
		_ = theirs.Close()
	}
}

// The memory of all parts of a reply to a batch is counted, and given back where a part
// has no room.
func TestBatchReplyMemory(t *testing.T) {
	s := &Server{batch: maxBatchReply, replies: budget{limit: 4 * partSize}}
	b := s.newBatchReply()
	write := func(dst []byte) []byte { return append(dst, make([]byte, partSize)...) }
	fail := func(dst []byte) []byte { return append(dst, '!') }
	for n := 1; n <= 3; n++ {
		b.add(false, write, fail)
		size := 0
		for _, part := range b.parts {
			size += cap(part)
		}
		if int64(size) <= s.replies.limit && (b.held.size != int64(size) || s.replies.used.Load() != int64(size)) {
			t.Errorf("%d parts: %d bytes are counted, want %d", n, b.held.size, size)
		}
	}
	b.add(false, write, fail)
	b.add(false, write, fail)
	if text := bytes.Join(b.parts, nil); !bytes.HasSuffix(text, []byte(",!")) {
		t.Errorf("%d bytes, more than there is room for", len(text))
	}
	r := b.response()
	r.held.release()
	if used := s.replies.used.Load(); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
}
