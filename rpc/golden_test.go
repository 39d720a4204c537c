package rpc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// A goldenCase is one exchange, or several on one connection, recorded from
// Bitcoin Core 30.2.
type goldenCase struct {
	Name       string          `json:"name"`
	RawHTTP    json.RawMessage `json:"raw_http"` // a string, or several to be sent one after the other
	RawHTTPB64 []byte          `json:"raw_http_b64"`
	HalfClose  bool            `json:"half_close"`
	Tags       []string        `json:"tags"`
	goldenReply
	Responses *[]goldenReply `json:"responses"`
	Compare   struct{ Mode, Error string }
}

type goldenReply struct {
	Status      int                `json:"http_status"`
	Headers     map[string]*string `json:"headers"` // nil: absent
	Response    *string            `json:"response"`
	ResponseB64 []byte             `json:"response_b64"`
}

// elsewhere counts the cases that get as far as a method that other packages
// define. Here such a method is only declared, and of the reply only status
// and headers are compared.
var elsewhere = map[string]int{
	"createwallet": 7, "listlabels": 31, "loadwallet": 5, "unloadwallet": 11,
	"decoderawtransaction": 2, "deriveaddresses": 7, "disconnectnode": 10,
	"getblockfilter": 2, "getblockheader": 2, "getdescriptorinfo": 4, "validateaddress": 2,
}

// skipped are the cases that net/http answers in its own way, all of them
// tagged as answers of Core's HTTP library, and those that need wallets.
var skipped = map[string]string{
	"http/length/plus":           "400 for a length with a sign, which invites request smuggling; Core takes it",
	"wallet-paths/listwallets":   "lists wallets made before",
	"wallet-paths/listwallets~2": "lists wallets made before",
	"wallet-paths/listwallets~3": "lists wallets made before",
}

func TestGolden(t *testing.T) {
	addr, auth := startGolden(t)
	files, err := filepath.Glob("testdata/jsonrpc-http/*.jsonl*")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	var mu sync.Mutex
	reached := map[string]int{}
	t.Run("cases", func(t *testing.T) {
		for _, file := range files {
			group, _, _ := strings.Cut(filepath.Base(file), ".")
			for _, c := range readGolden(t, file) {
				name := group + "/" + c.Name
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					if why, ok := skipped[name]; ok {
						t.Skip(why)
					}
					if method := c.check(t, c.exchange(t, addr, auth)); method != "" {
						mu.Lock()
						defer mu.Unlock()
						reached[method]++
					}
				})
			}
		}
	})
	for method := range maps.Keys(elsewhere) {
		if reached[method] != elsewhere[method] {
			t.Errorf("%d cases end in %s, want %d", reached[method], method, elsewhere[method])
		}
	}
}

func readGolden(t *testing.T, file string) []goldenCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var cases []goldenCase
	for dec := json.NewDecoder(r); ; {
		var c goldenCase
		if err := dec.Decode(&c); err == io.EOF {
			return cases
		} else if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
}

// startGolden serves the methods that the cases call on a chain of one block.
func startGolden(t *testing.T) (addr, auth string) {
	t.Helper()
	s := startServer(t, Config{
		Threads: 4, WorkQueue: 2000, CookieFile: filepath.Join(t.TempDir(), ".cookie"),
		HTTP: dialect.HTTPOf(dialect.Core30),
	})
	s.Ready(goldenTable(t))
	login := cookieUser + ":" + s.cookie.password
	return s.Addrs()[0].String(), "Basic " + base64.StdEncoding.EncodeToString([]byte(login))
}

// startServer serves on a free port of this machine until the test ends.
func startServer(t *testing.T, c Config) *Server {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s, err := NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

var repeat = regexp.MustCompile(`(?s)\{\{repeat:(\d+):(.*?)\}\}`)

// expand fills in the placeholders of a request or of an expected response.
func expand(s, addr, auth string) string {
	s = strings.NewReplacer("{{AUTH}}", auth, "{{HOST}}", addr).Replace(s)
	return repeat.ReplaceAllStringFunc(s, func(m string) string {
		sub := repeat.FindStringSubmatch(m)
		n, _ := strconv.Atoi(sub[1])
		return strings.Repeat(sub[2], n)
	})
}

func (c *goldenCase) chunks(t *testing.T, addr, auth string) []string {
	t.Helper()
	if c.RawHTTPB64 != nil {
		return []string{strings.ReplaceAll(string(c.RawHTTPB64), "{{AUTH}}", auth)}
	}
	var one string
	parts := []string{}
	if json.Unmarshal(c.RawHTTP, &one) == nil {
		parts = append(parts, one)
	} else if err := json.Unmarshal(c.RawHTTP, &parts); err != nil {
		t.Fatal(err)
	}
	for i, part := range parts {
		part = expand(part, addr, auth)
		head, body, _ := strings.Cut(part, "\r\n\r\n")
		if strings.Contains(head, "{{CL}}") {
			part = strings.Replace(head, "{{CL}}", strconv.Itoa(len(body)), 1) + "\r\n\r\n" + body
		}
		parts[i] = part
	}
	return parts
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (c *goldenCase) want() []goldenReply {
	if c.Responses != nil {
		return *c.Responses
	}
	return []goldenReply{c.goldenReply}
}

// exchange sends the case's bytes and reads as many replies as it should get.
func (c *goldenCase) exchange(t *testing.T, addr, auth string) []reply {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for _, chunk := range c.chunks(t, addr, auth) {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return // refused before the end
			}
		}
		if c.HalfClose {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	defer func() { _ = conn.Close(); <-sent }()
	var replies []reply
	request := &http.Request{Method: http.MethodPost}
	if bytes.HasPrefix(c.RawHTTP, []byte(`"HEAD`)) {
		request.Method = http.MethodHead
	}
	for r := bufio.NewReader(conn); len(replies) < max(len(c.want()), 1); {
		resp, err := http.ReadResponse(r, request)
		if err != nil {
			break
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, reply{resp.StatusCode, resp.Header, string(body)})
	}
	return replies
}

// check compares; it returns the method that a case ended in whose answer is
// not known here.
func (c *goldenCase) check(t *testing.T, got []reply) (elsewhere string) {
	t.Helper()
	want := c.want()
	if len(got) != len(want) {
		t.Fatalf("got %d replies, want %d", len(got), len(want))
	}
	for i := range want {
		c.checkHead(t, got[i], want[i])
		if c.Compare.Mode == "status" {
			continue
		}
		if v, err := jsontree.Parse([]byte(got[i].body)); err == nil &&
			v.Get("error").Get("code").Text() == onlyDeclaredCode {
			return v.Get("error").Get("message").Text()
		}
		c.checkBody(t, got[i], want[i])
	}
	return ""
}

func (c *goldenCase) checkHead(t *testing.T, got reply, want goldenReply) {
	t.Helper()
	if want.Status != 0 && got.status != want.Status {
		t.Errorf("got status %d, want %d", got.status, want.Status)
	}
	if c.Compare.Mode == "status" {
		return
	}
	for name, value := range want.Headers {
		if values := got.header.Values(name); value == nil && len(values) > 0 {
			t.Errorf("got header %s: %q", name, values)
		} else if value != nil && got.header.Get(name) != *value {
			t.Errorf("got header %s: %q, want %q", name, values, *value)
		}
	}
}

func (c *goldenCase) checkBody(t *testing.T, got reply, want goldenReply) {
	t.Helper()
	body := string(want.ResponseB64)
	if want.Response != nil {
		body = *want.Response
	}
	body = expand(body, "", "")
	if c.Compare.Error == "code" {
		got.body, body = cutHelp(t, got.body), cutHelp(t, body)
	}
	if got.body != body && !sameButAny(got.body, body) {
		t.Errorf("got  %.400s\nwant %.400s", got.body, body)
	}
}

// sameButAny compares with an expected text that has wild cards.
func sameButAny(got, want string) bool {
	parts := strings.Split(want, "{{ANY}}")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return len(parts) > 1 && regexp.MustCompile("(?s)^"+strings.Join(parts, ".*?")+"$").MatchString(got)
}

// cutHelp leaves of every message that is a help text the usage line.
func cutHelp(t *testing.T, body string) string {
	t.Helper()
	v, err := jsontree.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	message := regexp.MustCompile(`"message":"((?:[^"\\]|\\.)*?)(?: \[help text cut\]|\\n(?:[^"\\]|\\.)*)"`)
	return message.ReplaceAllString(v.String(), `"message":"$1"`)
}
