package rpc

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
)

// soon is within what every test waits for something that takes milliseconds
// unless the machine is very busy.
const soon = 10 * time.Second

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	return c
}

func head(login, rest string) string {
	return "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " +
		base64.StdEncoding.EncodeToString([]byte(login)) + "\r\n" + rest
}

// A client that stops sending is cut off once the timeout has passed.
func TestSilentClientsAreCutOff(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Timeout: 300 * time.Millisecond})
	s.Ready(blockerTable(t, newBlocker()))
	for name, test := range map[string]struct{ sends, answer string }{
		"nothing":          {"", ""},
		"half a line":      {"POST / HT", ""},
		"half a head":      {head("u:p", "Content-Length: 5\r\n"), ""},
		"no body":          {head("u:p", "Content-Length: 5\r\n\r\n"), ""},
		"half a body":      {head("u:p", "Content-Length: 5\r\n\r\n{\""), ""},
		"half a chunk":     {head("u:p", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"), ""},
		"wrong login":      {head("u:x", "Content-Length: 5\r\n\r\n"), "HTTP/1.1 401 "},
		"no login":         {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{", "HTTP/1.1 401 "},
		"silent afterward": {head("u:p", "Content-Length: 0\r\n\r\n"), "HTTP/1.1 500 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			if _, err := io.WriteString(c, test.sends); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if errors.Is(err, os.ErrDeadlineExceeded) || !strings.HasPrefix(string(got), test.answer) ||
				test.answer == "" && len(got) > 0 {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// While memory is short, a body that comes byte by byte is cut off although no pause is long.
func TestSlowBody(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Timeout: 200 * time.Millisecond})
	s.bodies.used.Store(s.bodies.limit/2 + 1)
	c := dial(t, s)
	if _, err := io.WriteString(c, head("u:p", "Content-Length: 1000000\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < soon; time.Sleep(10 * time.Millisecond) {
		if _, err := io.WriteString(c, " "); err != nil {
			return
		}
	}
	t.Error("still read")
}

// Heads and bodies without an end get an answer and no more.
func TestEndless(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	for name, test := range map[string]struct{ begin, more, want string }{
		"request line": {"POST /", "xxxxxxxxxxxxxxxx", "HTTP/1.1 400 "},
		"headers":      {"POST / HTTP/1.1\r\n", "A: xxxxxxxxxxxx\r\n", "HTTP/1.1 400 "},
		"chunks":       {head("u:p", "Transfer-Encoding: chunked\r\n\r\n"), "10000\r\n" + strings.Repeat(" ", 0x10000) + "\r\n", "HTTP/1.1 413 "},
		"length":       {head("u:p", "Content-Length: 33554433\r\n\r\n"), " ", "HTTP/1.1 413 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			go func() {
				_, err := io.WriteString(c, test.begin)
				for block := strings.Repeat(test.more, 1+100_000/len(test.more)); err == nil; {
					_, err = io.WriteString(c, block)
				}
			}()
			line, err := bufio.NewReader(c).ReadString('\n')
			if !strings.HasPrefix(line, test.want) {
				t.Errorf("got %q, %v", line, err)
			}
		})
	}
}

// A client that does not take its reply is cut off, and what it held is free.
func TestReplyNotTaken(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Timeout: 100 * time.Millisecond})
	table, err := command.NewTable([]command.Command{{
		Name: "large",
		Run:  func(context.Context, *command.Args) (any, error) { return strings.Repeat("x", 32<<20), nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(table)
	c := dial(t, s)
	if _, err := io.WriteString(c, head("u:p", "Content-Length: 18\r\n\r\n{\"method\":\"large\"}")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return s.replies.used.Load() > 0 })
	waitFor(t, func() bool { return s.replies.used.Load() == 0 && s.conns.open() == 0 })
}

// A server that stops does not wait for connections without a call, however
// long their timeout.
func TestShutdownDoesNotWaitForSilence(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Timeout: time.Hour})
	s.Ready(blockerTable(t, newBlocker()))
	for _, sends := range []string{"", "POST /", head("u:p", "Content-Length: 5\r\n\r\n"), head("u:x", "Content-Length: 5\r\n\r\n")} {
		if _, err := io.WriteString(dial(t, s), sends); err != nil {
			t.Fatal(err)
		}
	}
	newClient(t, s).want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`) // stays open, idle
	waitFor(t, func() bool { return s.conns.open() == 5 })
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

// waitFor waits until something is true that soon is.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for began := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(began) > soon {
			t.Fatal("never happens")
		}
	}
}

// open returns how many connections there are.
func (s *conns) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Requests that are large together are refused, small ones never.
func TestMemoryIsShared(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.bodies.limit, s.replies.limit = 100_000, 100_000
	b := newBlocker()
	s.Ready(blockerTable(t, b))
	c := newClient(t, s)
	padded := func(n int) string { return v2Call("quick") + strings.Repeat(" ", n) }
	const fine, refused = `200 {"jsonrpc":"2.0","result":1,"id":1}`, "503 Too many large requests at a time"
	c.want(t, padded(90_000), fine)
	c.want(t, padded(110_000), refused)
	c.want(t, "["+strings.Repeat("1,", 10_000)+"1]", refused) // small as text, large as a tree
	held := share{of: &s.bodies}
	if !held.grow(60_000) {
		t.Fatal("not free")
	}
	c.want(t, padded(50_000), refused)
	c.want(t, padded(1_000), fine)
	held.release()
	c.want(t, padded(50_000), fine)
	id := strings.Repeat("x", 60_000)
	other := share{of: &s.replies}
	if !other.grow(60_000) {
		t.Fatal("not free")
	}
	c.want(t, `{"method":"quick","id":"`+id+`"}`, refused)
	other.release()
	c.want(t, `{"method":"quick","id":"`+id+`"}`, `200 {"result":1,"error":null,"id":"`+id+`"}`)
	waitFor(t, func() bool { return s.bodies.used.Load() == 0 && s.replies.used.Load() == 0 })
}

// The largest body there may be fits, whatever is in it.
func TestLargestBodyFits(t *testing.T) {
	for _, unit := range []string{"1,", "[],", "{},", ",", " ", `"":0,`} {
		body := []byte(strings.Repeat(unit, maxBody/len(unit)))
		held := share{of: &budget{limit: maxBodies}}
		if !held.grow(weigh(body)) {
			t.Errorf("%q does not fit: %d", unit, weigh(body))
		}
	}
}

func TestBatchLimits(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.batch = 60
	s.Ready(blockerTable(t, newBlocker()))
	c := newClient(t, s)
	c.want(t, "["+strings.Repeat("1,", maxBatch)+"1]",
		`400 {"result":null,"error":{"code":-32600,"message":"A batch may have 100000 requests"},"id":null}`)
	const one = `{"jsonrpc":"2.0","result":1,"id":1}`
	const last = `{"jsonrpc":"2.0","error":{"code":-7,"message":"The reply to the batch is too large"},"id":1}`
	quick := v2Call("quick")
	c.want(t, "["+quick+","+quick+","+quick+"]", "200 ["+one+","+one+","+last+"]")
}

// Many clients that try passwords cost those that know theirs nothing: none of
// their calls is refused or waits. The guessers learn what twenty guesses a second
// tell, however many connections they have.
func TestWrongPasswordsHurtNobody(t *testing.T) {
	const attackers, calls = 128, 300
	s := startServer(t, Config{User: "u", Password: "p", Threads: 2, WorkQueue: 2})
	s.Ready(blockerTable(t, newBlocker()))
	c, took := newClient(t, s), make([]time.Duration, calls)
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	began, answered := time.Now(), atomic.Int64{}
	tried := make(chan error, attackers)
	for range attackers {
		c := newClient(t, s)
		go func() {
			guess := func() error {
				got, err := c.post(ctx, "/", "u:guess", v2Call("quick"))
				if err == nil && got == "401" {
					answered.Add(1)
				} else if err == nil && got != "503 Too many wrong passwords" {
					err = errors.New(got)
				}
				return err
			}
			tried <- nil
			for guess() == nil {
			}
		}()
	}
	for range attackers {
		if err := <-tried; err != nil {
			t.Fatal(err)
		}
	}
	for i := range took {
		began := time.Now()
		c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	if half := took[calls/2]; half >= loginDelay { // calls behind wrong logins would wait as long
		t.Errorf("half of the calls took %v or more", half)
	}
	if most := int64(time.Since(began)/guessGap) + 1; answered.Load() > most {
		t.Errorf("%d guesses were answered, want %d at most", answered.Load(), most)
	}
}

// Statuses that net/http has and Core has not become what Core answers.
func TestFinerStatuses(t *testing.T) {
	for sent, want := range map[string]string{
		"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n" +
			"Connection: close\r\n\r\n431": badRequest,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nDate: now\r\n\r\nour words": "HTTP/1.1 400 " +
			"Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nDate: now\r\n\r\nour words",
		"HTTP/1.1 501 Not Implemented\r\nContent-Type: text/html\r\n\r\n": "HTTP/1.1 501 Not Implemented\r\nContent-Type: text/html\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n": "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 400 ":           "HTTP/1.1 400 ",
	} {
		ours, theirs := net.Pipe()
		go func() {
			if n, err := (&headConn{Conn: ours}).Write([]byte(sent)); n != len(sent) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
			ours.Close()
		}()
		if got, _ := io.ReadAll(theirs); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
