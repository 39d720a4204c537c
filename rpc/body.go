package rpc

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// maxBody bounds the body of a request, in bytes (Core: MAX_SIZE).
const maxBody = 0x02000000

// writeChunk is how much of a reply has to go out within the timeout.
const writeChunk = 256 << 10

// readBody returns the whole body, and the status to refuse it with. The
// timeout counts from each piece that arrives to the next.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, int) {
	control := http.NewResponseController(w)
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	body, err := io.ReadAll(http.MaxBytesReader(w, &patientReader{r.Body, control, s.timeout}, maxBody))
	if err == nil {
		return body, http.StatusOK
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, http.StatusRequestEntityTooLarge
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		panic(http.ErrAbortHandler) // the client left in the middle of it
	}
	return nil, http.StatusBadRequest
}

// A patientReader gives the client the timeout anew for every read.
type patientReader struct {
	io.ReadCloser
	control *http.ResponseController
	timeout time.Duration
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	_ = r.control.SetReadDeadline(time.Now().Add(r.timeout))
	return r.ReadCloser.Read(p)
}

// reply writes a response. A client that does not take it is dropped after
// the timeout.
func (s *Server) reply(w http.ResponseWriter, resp response) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=ISO-8859-1")
	if resp.json {
		h.Set("Content-Type", "application/json")
	}
	if resp.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(resp.body)))
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(s.timeout))
	w.WriteHeader(resp.status)
	for rest := resp.body; len(rest) > 0; {
		n := min(len(rest), writeChunk)
		_ = control.SetWriteDeadline(time.Now().Add(s.timeout))
		if _, err := w.Write(rest[:n]); err != nil {
			return
		}
		rest = rest[n:]
	}
}
