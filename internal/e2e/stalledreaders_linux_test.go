package e2e_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

const (
	// readersOfLogin is how many of a login's allowed streams are taken.
	readersOfLogin = 50

	// denseBefore are the blocks with many payments before there are readers.
	denseBefore = 3

	// stalledBuffer is for how many bytes a reader that reads nothing has room.
	stalledBuffer = 4096
)

// Readers of events that stop reading cost nothing but their own connections: scans and other readers go on, and
// memory is bounded. Readers that are too far behind are cut off. With their Last-Event-ID they go on with nothing
// lost and nothing told twice.
func TestStalledReaders(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	each := 20
	if count(t, "TRAWL_SOAK", 4) >= 100 {
		each = 1000 / 3
	}
	dir := t.TempDir()
	lines := []string{"blockfilterindex=1", "searchroom=1", "rpcservertimeout=10"}
	for n := range (3*each-1)/readersOfLogin + 1 {
		lines = append(lines, rpcAuth(loginOf(n*readersOfLogin), "reader"))
	}
	writeConfig(t, dir, lines...)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir})
	denseBlocks(t, d, denseBefore, 1500)
	var made struct{ ID string }
	d.Get(&made, "createsearch", []string{everybodys}, map[string]any{"follow": true})
	list := "/events?topics=search&search=" + made.ID
	s := &stalled{T: t, d: d, id: made.ID, list: list, sockets: socketsOf(t, d)}
	for range each {
		s.open("/events?topics=tip,search,mempool", stalledBuffer) // is cut off
		s.open(list, stalledBuffer)                                // is closed after it has not read for ten seconds
		s.open("/events?topics=tip", 256<<10)                      // what it is told there is room for
	}
	before := peakMB(d)
	began := time.Now()
	quick := s.busy()
	e2e.Eventually(t, time.Minute, "those that are behind are cut off", func() bool {
		return socketsOf(t, d) <= s.sockets+each+10
	})
	grown := peakMB(d) - before
	t.Logf("%d readers that stall: %d MB more, over after %v", 3*each, grown, time.Since(began).Round(time.Millisecond))
	// Events for stalled readers, while they become more.
	if most := 160 + 4*each; grown > most {
		t.Errorf("memory has grown by %d MB, want %d at most", grown, most)
	}
	// Of each kind one: the system asks rarely whether there is room again.
	s.cutOff(s.readers[0])
	t.Logf("one that was cut off came back after %v", time.Since(began).Round(time.Millisecond))
	s.entries(s.readers[1], quick)
	t.Logf("one that reads a list after %v", time.Since(began).Round(time.Millisecond))
	s.tips(s.readers[2])
}

func loginOf(n int) string { return fmt.Sprint("reader", n/readersOfLogin) }

// stalled are readers that do not read.
type stalled struct {
	*testing.T
	d       *e2e.Daemon
	id      string // of the search
	list    string // path of the stream of its entries
	sockets int    // of the daemon before
	readers []*stalledReader
	first   int // height from which on blocks were told to them
}

// A stalledReader has read the head of the reply.
type stalledReader struct {
	reply *http.Response
	conn  net.Conn
}

func (s *stalled) open(path string, buffer int) {
	s.Helper()
	conn, err := new(net.Dialer).DialContext(s.Context(), "tcp", s.d.Addr)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(buffer); err != nil {
		s.Fatal(err)
	}
	login := base64.StdEncoding.EncodeToString([]byte(loginOf(len(s.readers)) + ":reader"))
	const head = "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n\r\n"
	if _, err := fmt.Fprintf(conn, head, path, login); err != nil {
		s.Fatal(err)
	}
	reply, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil) //nolint:bodyclose // with the connection
	if err != nil || reply.StatusCode != http.StatusOK {
		s.Fatalf("reader %d: %v, %v", len(s.readers), reply, err)
	}
	s.readers = append(s.readers, &stalledReader{reply, conn})
}

// busy makes blocks with thousands of payments, which are events for each reader. Meanwhile a client scans, a client
// reads the tips, and a client reads the list of the search. It returns that list.
func (s *stalled) busy() (entries []string) {
	s.Helper()
	var height int
	s.d.Get(&height, "getblockcount")
	s.first = height + 1
	var tip string
	s.d.Get(&tip, "getbestblockhash")
	tips := &streamReader{t: s.T, d: s.d, path: "/events?topics=tip", last: tip}
	found := &streamReader{t: s.T, d: s.d, path: s.list}
	var slowest time.Duration
	last := height
	for n := range 6 {
		var spent string
		s.d.Get(&spent, "getblockhash", denseBefore+1+n)
		denseBlock(s.T, s.d, spent, 1500)
		asked := time.Now()
		var scan struct{ Completed bool }
		if s.d.Get(&scan, "scanblocks", "start", []string{everybodys}); !scan.Completed {
			s.Error("the scan is not complete")
		}
		slowest = max(slowest, time.Since(asked))
		s.d.Get(&tip, "getbestblockhash")
		tips.read(func(name, data string) bool {
			e := tipOf(s.T, name, data)
			if last++; e.Height != last || len(e.Disconnected) > 0 {
				s.Fatalf("%s after height %d", data, last-1)
			}
			return e.BlockHash == tip
		})
	}
	s.Logf("the slowest of the scans took %v", slowest.Round(time.Millisecond))
	var st struct {
		BlockHash string
		Found     int
	}
	e2e.Eventually(s, time.Minute, "the search is at the tip", func() bool {
		s.d.Get(&st, "getsearch", s.id)
		return st.BlockHash == tip
	})
	found.read(func(name, data string) bool {
		if name == "entry" {
			entries = append(entries, data)
		}
		return len(entries) == st.Found
	})
	return entries
}

type tipTold struct {
	Height       int
	BlockHash    string
	Disconnected []string
}

func tipOf(t *testing.T, name, data string) (e tipTold) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), &e); err != nil || name != "tip" {
		t.Fatalf("event %s: %s", name, data)
	}
	return e
}

// rest reads what a reader was sent, as far as it is whole, until the stream ends or one is enough. It returns the last
// id.
func (s *stalled) rest(r *stalledReader, enough func(name, data string) bool) (last string, err error) {
	s.Helper()
	if err := errors.Join(
		r.conn.(*net.TCPConn).SetReadBuffer(1<<20), r.conn.SetReadDeadline(time.Now().Add(time.Minute)),
	); err != nil {
		s.Fatal(err)
	}
	in := bufio.NewReader(r.reply.Body)
	id, name, data := "", "", ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return last, err
		}
		switch field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = value
		case "":
			if last = id; data != "" && enough(name, data) {
				return last, nil
			}
			name, data = "", ""
		}
	}
}

// isCut reports whether an error is that of a reply that has no end.
func isCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || err != nil && strings.Contains(err.Error(), "reset by peer")
}

// cutOff checks that a reader was cut off, and that it is told the tips since then when it comes back.
func (s *stalled) cutOff(r *stalledReader) {
	s.Helper()
	height := s.first - 1
	last, err := s.rest(r, func(name, data string) bool {
		if name == "tip" {
			height = tipOf(s.T, name, data).Height
		}
		return false
	})
	if !isCut(err) {
		s.Fatalf("the stream of a reader that is behind: %v", err)
	}
	s.comesBack(&streamReader{t: s.T, d: s.d, path: "/events?topics=tip,search,mempool", last: last}, height, true)
}

// comesBack checks that a reader is told all blocks above a height, after a word that other things are lost.
func (s *stalled) comesBack(r *streamReader, height int, reset bool) {
	s.Helper()
	var now int
	s.d.Get(&now, "getblockcount")
	if now == height && !reset {
		return
	}
	r.read(func(name, data string) bool {
		if reset {
			reset = false
			if name != "reset" {
				s.Fatalf("the first event is %s", name)
			}
			return now == height
		}
		e := tipOf(s.T, name, data)
		if height++; e.Height != height {
			s.Fatalf("got height %d, want %d", e.Height, height)
		}
		return height == now
	})
}

// entries checks that the stream of a list was closed, and that its reader has all entries once when it comes back.
func (s *stalled) entries(r *stalledReader, want []string) {
	s.Helper()
	var got []string
	last, err := s.rest(r, func(name, data string) bool {
		if name == "entry" {
			got = append(got, data)
		}
		return false
	})
	if !isCut(err) || len(got) == len(want) {
		s.Fatalf("the stream of a list that is not read, after %d entries: %v", len(got), err)
	}
	back := &streamReader{t: s.T, d: s.d, path: s.list, last: last}
	back.read(func(name, data string) bool {
		if name == "reset" {
			s.Fatal("the list begins anew")
		}
		if name == "entry" {
			got = append(got, data)
		}
		return len(got) >= len(want)
	})
	for i := range want {
		if got[i] != want[i] {
			s.Fatalf("entry %d is %s, want %s", i, got[i], want[i])
		}
	}
}

// tips checks that a reader of tips, a stream with few events, gets every event after its pause and after a new
// connection.
func (s *stalled) tips(r *stalledReader) {
	s.Helper()
	var now int
	s.d.Get(&now, "getblockcount")
	height, first := s.first-1, ""
	last, err := s.rest(r, func(name, data string) bool {
		e := tipOf(s.T, name, data)
		if height++; e.Height != height {
			s.Fatalf("got height %d, want %d", e.Height, height)
		}
		if first == "" {
			first = e.BlockHash
		}
		return height == now
	})
	if err != nil || last == "" {
		s.Fatalf("the stream of tips, at height %d of %d: %v", height, now, err)
	}
	s.comesBack(&streamReader{t: s.T, d: s.d, path: "/events?topics=tip", last: first}, s.first, false)
}

// socketsOf returns how many sockets a daemon has.
func socketsOf(t *testing.T, d *e2e.Daemon) (n int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", d.PID())
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		to, _ := os.Readlink(filepath.Join(dir, entry.Name()))
		if strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
