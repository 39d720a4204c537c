package differ

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// A Call is one request. Params is anything that encoding/json can write, a
// json.RawMessage for text that it would not write as it is.
type Call struct {
	Method string
	Params any    // nil: none
	Wallet string // path of the wallet, empty: none
}

// String returns the call as a person would send it again.
func (c Call) String() string {
	params, err := json.Marshal(c.Params)
	if err != nil {
		params = []byte(err.Error())
	}
	if c.Wallet != "" {
		return fmt.Sprintf("%s %s (wallet %q)", c.Method, params, c.Wallet)
	}
	return fmt.Sprintf("%s %s", c.Method, params)
}

// A Replies pair is what both nodes said to a call: the raw text of the members
// result and error of the reply.
type Replies struct{ Trawl, Core Reply }

// A Reply is the raw text of a reply's members.
type Reply struct {
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// OK reports whether the call succeeded.
func (r Reply) OK() bool { return len(r.Error) == 0 || string(r.Error) == "null" }

// within returns the reply with a placeholder for the data directory of the node.
func (r Reply) within(dir string) Reply {
	replace := func(text json.RawMessage) json.RawMessage {
		return bytes.ReplaceAll(text, []byte(dir), []byte("{{DIR}}"))
	}
	return Reply{replace(r.Result), replace(r.Error)}
}

// String returns the error, or the result of a call that succeeded.
func (r Reply) String() string {
	if r.OK() {
		return string(r.Result)
	}
	return "error " + string(r.Error)
}

// Send sends calls to both nodes, in one batch each, and compares the replies. It
// returns them in the order of the calls.
func (p *Pair) Send(calls ...Call) []Replies {
	p.tb.Helper()
	both := make([]Replies, len(calls))
	var trawl, core []Reply
	var sent sync.WaitGroup
	sent.Go(func() { trawl = p.batch("trawld", calls) })
	sent.Go(func() { core = p.batch("bitcoind", calls) })
	sent.Wait()
	if len(trawl) != len(calls) || len(core) != len(calls) {
		p.tb.Fatalf("%d calls have %d replies of trawld and %d of bitcoind\nlog of trawld:\n%s",
			len(calls), len(trawl), len(core), p.Trawl.LogTail())
	}
	for i := range calls {
		both[i] = Replies{trawl[i].within(p.Trawl.Dir), core[i].within(p.CoreDir)}
		p.Report.Compare(calls[i], both[i])
	}
	return both
}

// batch sends calls to one node. Calls for the same wallet, or for none, that
// follow each other are one request.
func (p *Pair) batch(name string, calls []Call) []Reply {
	replies := make([]Reply, 0, len(calls))
	for from := 0; from < len(calls); {
		to := from + 1
		for to < len(calls) && calls[to].Wallet == calls[from].Wallet {
			to++
		}
		got, err := p.post(name, calls[from:to])
		if err != nil {
			p.tb.Errorf("%s: %v: first of the batch: %v", name, err, calls[from])
			return nil
		}
		replies = append(replies, got...)
		from = to
	}
	return replies
}

func (p *Pair) post(name string, calls []Call) ([]Reply, error) {
	body, err := encode(calls)
	if err != nil {
		return nil, err
	}
	path := "/"
	if wallet := calls[0].Wallet; wallet != "" {
		path = "/wallet/" + wallet
	}
	got, err := p.clients()[name].Post(p.tb.Context(), path, body)
	if err != nil {
		return nil, err
	}
	var replies []Reply
	if err := json.Unmarshal([]byte(got.Body), &replies); err != nil {
		return nil, fmt.Errorf("HTTP %d, %.200q: %w", got.Status, got.Body, err)
	}
	return replies, nil
}

// encode writes a batch by hand, so that a json.RawMessage stays as it is.
func encode(calls []Call) ([]byte, error) {
	var out strings.Builder
	for i, call := range calls {
		params := json.RawMessage("[]")
		switch value := call.Params.(type) {
		case nil:
		case json.RawMessage:
			params = value
		default:
			encoded, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", call.Method, err)
			}
			params = encoded
		}
		separator := ","
		if i == 0 {
			separator = "["
		}
		fmt.Fprintf(&out, `%s{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, separator, i, call.Method, params)
	}
	out.WriteString("]")
	return []byte(out.String()), nil
}
