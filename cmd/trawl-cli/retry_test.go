package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

func TestRPCWait(t *testing.T) {
	s := newServer(t, 200, `{"result":1,"id":1}`)
	s.beforeDone = 3
	r := cli(t, "", s.port(), "-rpcwait", "x")
	r.want(t, 0, "1\n", "")
	if r.pauses != 3 {
		t.Errorf("paused %d times", r.pauses)
	}
	s.beforeDone = 1
	cli(t, "", s.port(), "x").want(t, 28, "", "error code: -28\nerror message:\nLoading block index…\n")
}

func TestRPCWaitTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := options.New(table.CLI(), "")
		if err := s.ParseArgs([]string{"-rpcwait", "-rpcwaittimeout=3"}); err != nil {
			t.Fatal(err)
		}
		calls := 0
		c := &client{settings: s, world: &world{pause: time.Sleep}}
		err := c.retry(false, func() (*jsontree.Value, error) {
			calls++
			return nil, transient("nobody there")
		})
		if err == nil || err.Error() != "timeout on transient error: nobody there" || calls != 4 {
			t.Errorf("got %v after %d calls", err, calls)
		}
	})
}

// With -rpcwait a call whose reply was lost is made again, unless it would pay twice.
func TestRPCWaitPaysOnce(t *testing.T) {
	var calls atomic.Int64
	s := &server{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, `{"result":1,"id":1}`)
	}))}
	defer s.Close()
	for _, test := range []struct {
		again bool
		args  []string
	}{
		{true, []string{"getblockcount"}},
		{true, []string{"bumpfee", "id"}},
		{false, []string{"sendtoaddress", "to", "1"}},
		{false, []string{"-named", "sendtoaddress", "address=to", "amount=1"}},
		{true, []string{"-named", "sendtoaddress", "address=to", "amount=1", "idempotency_key=k"}},
		{true, []string{"sendtoaddress", "to", "1", "", "", "false", "null", "6", "unset", "false", "1", "false", "k"}},
		{false, []string{"sendmany", "", `{"to": 1}`}},
		{true, []string{"sendmany", "", `{"to": 1}`, "1", "", "[]", "null", "6", "unset", "1", "false", "k"}},
		{false, []string{"send", `{"to": 1}`}},
		{true, []string{"send", `{"to": 1}`, "6", "unset", "1", "{}", "2", "k"}},
		{false, []string{"sendall", `["to"]`}},
		{true, []string{"sendall", `["to"]`, "6", "unset", "1", "{}", "k"}},
	} {
		calls.Store(0)
		r := cli(t, "", append([]string{s.port(), "-rpcwait"}, test.args...)...)
		if test.again {
			r.want(t, 0, "1\n", "")
		} else {
			r.want(t, 1, "", connectError(s.port(), "EOF reached"))
		}
		if want := map[bool]int64{false: 1, true: 2}[test.again]; calls.Load() != want {
			t.Errorf("%q: called %d times, want %d", test.args, calls.Load(), want)
		}
	}
}
