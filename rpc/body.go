package rpc

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// maxBody bounds the body of a request, in bytes (Core: MAX_SIZE).
const maxBody = 0x02000000

// writeChunk is how much of a reply has to go out within the timeout.
const writeChunk = 256 << 10

// errNoMemory ends the reading of a body when others take all memory there is.
var errNoMemory = errors.New("too many large requests at a time")

// noMemory answers a request that would take more memory than is left.
var noMemory = response{status: http.StatusServiceUnavailable, body: text("Too many large requests at a time")}

// readBody returns the whole body, or what to refuse it with. Its memory is taken
// from held as it arrives, then that of the tree it will become.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, held *share) ([]byte, *response) {
	control := http.NewResponseController(w)
	patient := &patientReader{
		ReadCloser: r.Body, control: control, timeout: s.timeout, began: time.Now(), held: held,
	}
	body, err := readAll(http.MaxBytesReader(w, patient, maxBody), r.ContentLength)
	if err == nil && !held.grow(weigh(body)) {
		err = errNoMemory
	}
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		_ = control.SetReadDeadline(time.Time{}) // the call may take its time
		return body, nil
	case errors.Is(err, errNoMemory):
		return nil, &noMemory
	case !tooLarge && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded)):
		panic(http.ErrAbortHandler) // the client left in the middle of it, or fell silent
	default: // what Core answers to chunks that cannot be read, too
		return nil, &response{status: http.StatusRequestEntityTooLarge}
	}
}

// A patientReader gives the client the timeout for every read. While memory for bodies is short it must not be slower
// than minRate on the whole, so that slow ones do not keep others from theirs.
type patientReader struct {
	io.ReadCloser
	control *http.ResponseController
	timeout time.Duration
	began   time.Time
	read    int
	held    *share
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	deadline := time.Now().Add(r.timeout)
	if last := r.began.Add(slowest(r.read, r.timeout)); last.Before(deadline) && r.held.of.short() {
		deadline = last
	}
	_ = r.control.SetReadDeadline(deadline)
	n, err := r.ReadCloser.Read(p)
	r.read += n
	if !r.held.grow(r.read) {
		return n, errNoMemory
	}
	return n, err
}

// reply writes a response and gives back what it holds. A client that does not
// take it is dropped after the timeout.
func (s *Server) reply(w http.ResponseWriter, resp response) {
	defer resp.held.release()
	s.observer.Replied(resp.status)
	if resp.stream != nil {
		defer resp.stream.Close()
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=ISO-8859-1")
	if resp.json {
		h.Set("Content-Type", "application/json")
	}
	if resp.form != "" {
		h.Set("Content-Type", resp.form)
	}
	if resp.lasts {
		h.Set("Cache-Control", "public, immutable, max-age=86400")
	}
	if resp.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(resp.length()))
	}
	control := http.NewResponseController(w)
	// Before net/http writes the first byte it may wait for the rest of a body
	// that nobody read, for which there is a timeout already.
	patience := 2 * s.timeout
	_ = control.SetWriteDeadline(time.Now().Add(patience))
	w.WriteHeader(resp.status)
	write := w.Write
	if resp.secret {
		defer resp.wipe()
		_ = control.Flush() // so that what follows goes past all buffers
		write = func(part []byte) (int, error) { return len(part), writeSecret(w, part) }
	}
	writeAll := func(part []byte) error {
		for len(part) > 0 {
			n := min(len(part), writeChunk)
			_ = control.SetWriteDeadline(time.Now().Add(patience))
			if _, err := write(part[:n]); err != nil {
				return err
			}
			part, patience = part[n:], s.patience()
		}
		return nil
	}
	for _, part := range resp.body {
		if writeAll(part) != nil {
			return
		}
	}
	if resp.stream != nil {
		_ = resp.copyStream(writeAll)
	}
}

// patience is how long a client may take for a part of its reply. While memory
// for replies is short, slow ones are not to keep others from theirs.
func (s *Server) patience() time.Duration {
	if s.replies.short() {
		return s.timeout / 4
	}
	return s.timeout
}
