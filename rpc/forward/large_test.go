package forward_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/rpc/forward"
)

// largeReply answers with a string as the result, framed as given. The reply is by cut
// bytes shorter than announced.
func largeReply(begin, end string, size, cut int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", strconv.Itoa(len(begin)+2+size+len(end)))
		_, _ = io.WriteString(w, begin+`"`)
		chunk := bytes.Repeat([]byte("a"), 1<<16)
		for left := size - cut; left > 0; left -= len(chunk) {
			_, _ = w.Write(chunk[:min(left, len(chunk))])
		}
		if cut > 0 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `"`+end)
	}
}

const (
	beginV2, endV2   = `{"jsonrpc":"2.0","result":`, `,"id":0}` + "\n"
	beginOld, endOld = `{"result":`, `,"error":null,"id":0}` + "\n"
)

// A reply of Core's that is too large to be kept goes through as it comes, with the
// envelope of the client's request, in little memory. A reply that cannot be streamed is
// refused in words, and a reply that ends too early is never taken for the whole.
func TestLargeReplies(t *testing.T) {
	const size = corenode.MaxReply + 100_000
	whole, broken := largeReply(beginV2, endV2, size, 0), largeReply(beginV2, endV2, size, 1000)
	tests := []struct {
		name, method, body string
		reply              func(http.ResponseWriter)
		begin, end         string // of what the client gets; no begin: it gets no whole reply
	}{
		{
			"version 2", "getrawmempool", `{"jsonrpc":"2.0","method":"getrawmempool","id":"x"}`, whole,
			`{"jsonrpc":"2.0","result":"a`, `a","id":"x"}` + "\n",
		},
		{
			"version 1", "getrawmempool", `{"method":"getrawmempool","id":7}`, whole,
			`{"result":"a`, `a","error":null,"id":7}` + "\n",
		},
		{
			"an old Core", "getrawmempool", `{"method":"getrawmempool","id":7}`, largeReply(beginOld, endOld, size, 0),
			`{"result":"a`, `a","error":null,"id":7}` + "\n",
		},
		{"Core ends", "getrawmempool", `{"method":"getrawmempool","id":7}`, broken, "", ""},
		{
			"another end", "getrawmempool", `{"method":"getrawmempool"}`,
			largeReply(beginV2, `,"id":1}`+"\n", size, 0), "", "",
		},
		{
			"another beginning", "getrawmempool", `{"method":"getrawmempool"}`, largeReply(beginV2[1:], endV2, size, 0),
			`{"result":null,"error":{"code":-7`, "}\n",
		},
		{
			"a batch", "getrawmempool", `[{"method":"getrawmempool","id":7}]`, whole,
			`[{"result":null,"error":{"code":-7`, "}]\n",
		},
		{
			"a secret one", "listtransactions", `{"method":"listtransactions","id":7}`, whole,
			`{"result":null,"error":{"code":-7`, "}\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPair(t, func(c *forward.Config) { c.Mode = forward.All })
			p.core.large = map[string]func(http.ResponseWriter){test.method: test.reply}
			begin, end, n, err := p.measure(t, test.body)
			if test.begin == "" {
				if err == nil {
					t.Errorf("%d bytes, %s … %s, taken for the whole", n, begin, end)
				}
				return
			}
			if err != nil || !strings.HasPrefix(begin, test.begin) || !strings.HasSuffix(end, test.end) {
				t.Fatalf("%s … %s: %v", begin, end, err)
			}
			if want := len(test.begin) + len(test.end) - 2 + size; strings.Contains(test.end, "a") && n != want {
				t.Errorf("%d bytes, want %d", n, want)
			}
		})
	}
}

// measure posts a body and returns both ends and the length of the reply.
func (p *pair) measure(t *testing.T, body string) (begin, end string, n int, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(asOwn)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", 0, err
	}
	defer resp.Body.Close()
	const kept = 128
	buf := make([]byte, 1<<16)
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	for {
		got, err := resp.Body.Read(buf)
		n += got
		begin += string(buf[:min(kept-len(begin), got)])
		end += string(buf[max(0, got-kept):got])
		end = end[max(0, len(end)-kept):]
		if err == io.EOF {
			break
		}
		if err != nil {
			return begin, end, n, err
		}
	}
	runtime.ReadMemStats(&during)
	if grown := int64(during.HeapSys) - int64(before.HeapSys); grown > corenode.MaxReply/2 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	return begin, end, n, nil
}
