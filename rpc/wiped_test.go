package rpc

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// takers are methods that take and show secrets.
func takers(t *testing.T, waiting chan<- context.Context) *command.Table {
	t.Helper()
	params := []command.Param{{Name: "key", Type: command.String, Secret: true, Help: "a key"}}
	table, err := command.NewTable(newBlocker().commands(), []command.Command{
		{Name: "take", Params: params, Run: func(context.Context, *command.Args) (any, error) { return true, nil }},
		{Name: "refuse", Params: params, Run: func(_ context.Context, a *command.Args) (any, error) {
			key, _ := a.String(0)
			return nil, command.Error{Code: command.MiscError, Message: "no " + strings.Repeat(key+`"`, 100)}
		}},
		{Name: "crash", Params: params, Run: func(context.Context, *command.Args) (any, error) { panic("oops") }},
		{Name: "wait", Waits: func(*command.Args) bool { return true }, Run: func(
			ctx context.Context, _ *command.Args,
		) (any, error) {
			waiting <- ctx
			return true, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// texts are all strings of a tree, but not the keys of objects.
func texts(v *jsontree.Value) (list []string) {
	switch v.Kind() {
	case jsontree.String:
		list = append(list, v.Text())
	case jsontree.Array:
		for _, element := range v.Elements() {
			list = append(list, texts(element)...)
		}
	case jsontree.Object:
		for _, member := range v.Members() {
			list = append(list, texts(member)...)
		}
	default:
	}
	return list
}

// The parts of a request that nobody needs any more are overwritten, however the
// request ends: secrets, and all that nobody has read. Methods and ids, which are in
// logs and replies, stay.
func TestRequestsAreWiped(t *testing.T) {
	const who = "caller"
	limited := rpcauth.ParseWhitelists([]string{":status"}, nil).Of("")
	for _, test := range []struct {
		what, body string
		list       rights
		busy       bool
	}{
		{"a call", `{"method":"take","params":["secret"],"id":"an id"}`, rpcauth.Whitelist{}, false},
		{"what nobody reads", `{"method":"take","params":["secret"],"more":["secret"]}`, rpcauth.Whitelist{}, false},
		{"a notification", `{"jsonrpc":"2.0","method":"take","params":["secret"]}`, rpcauth.Whitelist{}, false},
		{"a failure", `{"method":"refuse","params":["secret"],"id":"an id"}`, rpcauth.Whitelist{}, false},
		{"names of parameters", `{"method":"take","params":{"key":"secret"}}`, rpcauth.Whitelist{}, false},
		{"a request that cannot be read", `{"method":7,"params":["secret"]}`, rpcauth.Whitelist{}, false},
		{"a method that there is not", `{"method":"none","params":["secret"]}`, rpcauth.Whitelist{}, false},
		{"a method that is not allowed", `{"method":"take","params":["secret"]}`, limited, false},
		{"no worker", `{"method":"take","params":["secret"]}`, rpcauth.Whitelist{}, true},
		{"a batch", `[{"method":"take","params":["secret"],"id":"an id"},"secret"]`, rpcauth.Whitelist{}, false},
		{"a batch that is not allowed", `[{"method":"take","params":["secret"]}]`, limited, false},
		{"a batch without a worker", `[{"method":"take","params":["secret"]}]`, rpcauth.Whitelist{}, true},
		{"a batch of what is no request", `["secret",["secret"],{"params":"secret"}]`, limited, false},
	} {
		t.Run(test.what, func(t *testing.T) {
			s := startServer(t, Config{User: "u", Password: "p", Threads: 1, WorkQueue: 1})
			s.Ready(takers(t, nil))
			if test.busy {
				s.workers.running <- struct{}{}
				s.workers.waiting <- struct{}{}
			}
			v, err := jsontree.Parse([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			held := texts(v)
			caller := command.Caller{User: who}
			if v.Kind() == jsontree.Array {
				s.answerBatch(t.Context(), caller, test.list, v)
			} else {
				s.answerOne(t.Context(), caller, test.list, v)
			}
			for _, text := range held {
				if text == "secret" {
					t.Errorf("%q is left", held)
				}
			}
			if strings.Contains(test.body, "an id") && !strings.Contains(strings.Join(held, " "), "an id") {
				t.Errorf("the id is gone: %q", held)
			}
			if test.busy {
				<-s.workers.running
				<-s.workers.waiting
			}
		})
	}
}

// The parameters of a call that panicked are not overwritten: a goroutine of the call may still be reading.
func TestCallsThatPanicAreNotWiped(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.Ready(takers(t, nil))
	v, err := jsontree.Parse([]byte(`{"method":"crash","params":["secret"],"id":"an id"}`))
	if err != nil {
		t.Fatal(err)
	}
	held := texts(v)
	s.answerOne(t.Context(), command.Caller{User: "u"}, rpcauth.Whitelist{}, v)
	if !slices.Contains(held, "secret") {
		t.Errorf("%q is left", held)
	}
}

// Replies that may show secrets are written where they have room, however little the
// buffer had before. Growing while they are written would leave a part behind.
func TestRepliesLeaveNothingBehind(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.Ready(takers(t, nil))
	for room := 0; room < 6000; room += 37 {
		v, err := jsontree.Parse([]byte(`{"method":"refuse","params":["secret"],"id":1}`))
		if err != nil {
			t.Fatal(err)
		}
		j := read(v, noHeader)
		s.prepare(command.Caller{}, j)
		before := make([]byte, 0, room)
		reply, failure := s.run(t.Context(), j, before)
		if failure == nil || strings.Count(string(reply), "secret") != 100 {
			t.Fatalf("got %.200s", reply)
		}
		if cap(reply) != cap(before) && bytes.Contains(before[:cap(before)], []byte("secret")) {
			t.Fatalf("room for %d: a part of the failure is left", room)
		}
	}
	for room := range 800 {
		j := &job{request: request{header: header{hasID: true, id: jsontree.NewInt(7)}}}
		before := make([]byte, 0, room)
		reply, err := j.appendSecrets(before, keyResult{command.Secret(strings.Repeat("key", 100)), "a name"})
		if err != nil || strings.Count(string(reply), "key") != 101 {
			t.Fatalf("got %s, %v", reply, err)
		}
		if cap(reply) != cap(before) && bytes.Contains(before[:cap(before)], []byte("keykey")) {
			t.Fatalf("room for %d: a part of the result is left", room)
		}
	}
}

// The reply to a batch is wiped if any part of it may show secrets; each of those has a
// part for itself.
func TestBatchReplyWithSecrets(t *testing.T) {
	for _, test := range []struct {
		secret []bool
		parts  int
		wiped  bool
	}{
		{[]bool{false}, 1, false},
		{[]bool{false, false}, 1, false},
		{[]bool{true}, 3, true},
		{[]bool{false, true}, 3, true},
		{[]bool{true, false}, 3, true},
		{[]bool{true, false, false}, 3, true},
		{[]bool{true, true}, 4, true},
	} {
		s := startServer(t, Config{User: "u", Password: "p"})
		b := s.newBatchReply()
		write := func(dst []byte) []byte { return append(dst, '1') }
		for _, secret := range test.secret {
			b.add(secret, write, write)
		}
		r := b.response()
		want := "[1" + strings.Repeat(",1", len(test.secret)-1) + "]\n"
		if got := string(bytes.Join(r.body, nil)); got != want || r.length() != len(want) {
			t.Errorf("%v: got %q of %d", test.secret, got, r.length())
		}
		if len(r.body) != test.parts || r.secret != test.wiped {
			t.Errorf("%v: %d parts, secret is %v", test.secret, len(r.body), r.secret)
		}
		r.held.release()
	}
}

// Parts of a reply to a batch end when they are long.
func TestBatchReplyParts(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	for _, test := range []struct{ length, parts int }{{partSize - 2, 1}, {partSize - 1, 2}, {partSize, 2}} {
		b := s.newBatchReply()
		for range 2 {
			write := func(dst []byte) []byte { return append(dst, bytes.Repeat([]byte("x"), test.length)...) }
			b.add(false, write, write)
		}
		r := b.response()
		if len(r.body) != test.parts || r.length() != 2*test.length+4 {
			t.Errorf("%d bytes: %d parts, %d", test.length, len(r.body), r.length())
		}
		var size int
		for _, part := range r.body[:len(r.body)-1] {
			size += cap(part)
		}
		if b.size != size {
			t.Errorf("%d bytes are counted, not %d", b.size, size)
		}
		r.held.release()
	}
}

// The context of a waiting call ends with the call.
func TestContextOfWaitingCalls(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	waiting := make(chan context.Context, 1)
	s.Ready(takers(t, waiting))
	newClient(t, s).want(t, v2Call("wait"), `200 {"jsonrpc":"2.0","result":true,"id":1}`)
	if ctx := <-waiting; !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("the context of the call: %v", ctx.Err())
	}
}
