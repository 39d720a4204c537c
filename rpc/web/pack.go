package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// leastPacked is how many bytes a body has at least that is compressed.
const leastPacked = 1024

// A sheet is a body that is sent to several browsers, plain or compressed.
//
// Compression can tell an attacker something of a secret in a body, if the attacker can have a browser fetch it with
// text of the attacker's choice. No other site can have a browser fetch a page of a session: the address is secret,
// and the cookie is sent from pages of this server alone.
type sheet struct {
	body, packed []byte // packed is nil where it would not be shorter
	tag          string
}

// packers are kept: making one costs more than a page.
var packers = sync.Pool{New: func() any {
	p, _ := gzip.NewWriterLevel(nil, 5) // the level is one
	return p
}}

func newSheet(body []byte) *sheet {
	sum := sha256.Sum256(body)
	s := &sheet{body: body, tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	if len(body) < leastPacked {
		return s
	}
	var b bytes.Buffer
	p, _ := packers.Get().(*gzip.Writer)
	defer packers.Put(p)
	p.Reset(&b)
	_, _ = p.Write(body) // into memory
	_ = p.Close()
	if b.Len() < len(body) {
		s.packed = b.Bytes()
	}
	return s
}

// pick returns what a request's browser takes, and says so in the header of the answer.
func (s *sheet) pick(h http.Header, r *http.Request) []byte {
	if s.packed == nil || !takesGzip(r) {
		return s.body
	}
	h.Set("Content-Encoding", "gzip")
	return s.packed
}

// takesGzip reports whether a request accepts a compressed answer.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, q, found := strings.Cut(weight, "q=")
		if !found {
			return true
		}
		share, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return err == nil && share > 0
	}
	return false
}

// hasTag reports whether a request says that its browser has what the tag is of.
func hasTag(r *http.Request, tag string) bool {
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			return true
		}
	}
	return false
}
