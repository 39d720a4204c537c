package main

import (
	"errors"
	"strconv"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
)

// client makes calls on the server that the options name.
type client struct {
	*world
	settings *options.Settings
	endpoint *endpoint
	wallet   *string // chosen with -rpcwallet, nil: none
}

func newClient(s *options.Settings, w *world) (*client, error) {
	to, err := newEndpoint(s, w.stderr)
	if err != nil {
		return nil, err
	}
	c := &client{world: w, settings: s, endpoint: to}
	if s.IsSet("rpcwallet") && !s.IsNegated("rpcwallet") {
		name := s.String("rpcwallet", "")
		c.wallet = &name
	}
	return c, nil
}

// names are what the programs are called.
func (c *client) names() options.Names { return options.NamesOf(c.settings.Dialect()) }

// reply is the answer to one request, either part of which may be null.
type reply struct{ result, failure *jsontree.Value }

// value is the result; the error is what the server answered instead.
func (r reply) value() (*jsontree.Value, error) {
	if r.failure.IsNull() {
		return r.result, nil
	}
	return nil, newRefusal(r.failure)
}

// errNoReply answers an object that is no reply at all.
var errNoReply = errors.New("expected reply to have result, error and id properties")

func newReply(v *jsontree.Value) (reply, error) {
	if _, err := v.AsObject(); err != nil {
		return reply{}, err
	}
	if v.Len() == 0 {
		return reply{}, errNoReply
	}
	return reply{v.Get("result"), v.Get("error")}, nil
}

// call makes one call, on a wallet or on none.
func (c *client) call(wallet *string, method string, params *jsontree.Value) (reply, error) {
	var answer reply
	err := c.retry(repeatable(method, params), func() (failure *jsontree.Value, err error) {
		body := requestAs(c.settings.String("rpcid", ""), method, params)
		v, err := c.endpoint.post(wallet, body, credentialsOf(c.settings))
		if err != nil {
			return nil, err
		}
		answer, err = newReply(v)
		return answer.failure, err
	})
	return answer, err
}

// batch calls methods without parameters at the same time, on the chosen
// wallet. The first ones, so many as essential says, must succeed; of the others
// a failure is a result that is null.
func (c *client) batch(essential int, methods ...string) ([]*jsontree.Value, error) {
	body := []byte{'['}
	for i, method := range methods {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendRequest(body, method, nil, i)
	}
	body = append(body, "]\n"...)
	var answers []reply
	err := c.retry(true, func() (failure *jsontree.Value, err error) {
		v, err := c.endpoint.post(c.wallet, body, credentialsOf(c.settings))
		if err != nil {
			return nil, err
		}
		if answers, err = sortReplies(v, len(methods)); err != nil {
			return nil, err
		}
		for _, answer := range answers[:essential] {
			if !answer.failure.IsNull() {
				return answer.failure, nil
			}
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	results := make([]*jsontree.Value, len(answers))
	for i, answer := range answers {
		if results[i], err = answer.value(); err != nil && i < essential {
			return nil, err
		}
	}
	return results, nil
}

// sortReplies puts the replies to a batch into the order of its requests, which
// are numbered from 0.
func sortReplies(batch *jsontree.Value, n int) ([]reply, error) {
	if batch.Kind() != jsontree.Array {
		return nil, failf("Batch must be an array")
	}
	answers := make([]reply, n)
	for _, v := range batch.Elements() {
		if v.Kind() != jsontree.Object {
			return nil, failf("Batch member must be an object")
		}
		id, err := v.Get("id").AsUint32()
		if err != nil {
			return nil, err
		}
		if int64(id) >= int64(batch.Len()) || int64(id) >= int64(n) {
			return nil, failf("Batch member id is larger than batch size")
		}
		answers[id] = reply{v.Get("result"), v.Get("error")}
	}
	return answers, nil
}

// request is the body of a single call.
func request(method string, params *jsontree.Value) []byte { return requestAs("", method, params) }

// requestAs is the body of a single call with an id; empty for the number 1.
func requestAs(id, method string, params *jsontree.Value) []byte {
	text := []byte("1")
	if id != "" {
		text = jsontree.AppendString(nil, id)
	}
	return append(appendCall(nil, method, params, text), '\n')
}

// appendRequest appends a request of a batch.
func appendRequest(dst []byte, method string, params *jsontree.Value, id int) []byte {
	return appendCall(dst, method, params, strconv.AppendInt(nil, int64(id), 10))
}

// appendCall appends a request, its members in Core's order. id is JSON.
func appendCall(dst []byte, method string, params *jsontree.Value, id []byte) []byte {
	dst = jsontree.AppendString(append(dst, `{"method":`...), method)
	dst = params.AppendJSON(append(dst, `,"params":`...))
	dst = append(append(dst, `,"id":`...), id...)
	return append(dst, `,"jsonrpc":"2.0"}`...)
}

// transient is the failure of a server that may answer later.
type transient string

func (t transient) Error() string { return "timeout on transient error: " + string(t) }

// lost is the failure of a call that may have reached the server, whose reply did not come.
type lost string

func (l lost) Error() string { return transient(l).Error() }
