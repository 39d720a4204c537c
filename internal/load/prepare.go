package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Public keys of BIP32's first test vector, for the main chain and the others.
const (
	mainKey = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
	testKey = "tpubD6NzVbkrYhZ4XgiXtGrdW5XDAPFCL9h7we1vwNCpn8tGbBcgfVYjXyhWo4E1xkh56hjod1RhGjxbaTLV3X4FyWuejifB9jusQ46QzG87VKp"
)

// ErrBusy reports that somebody else runs a scan, so that nothing could be
// said of the replies.
var ErrBusy = errors.New("another scan is running; a run needs a node to itself")

// Prepare looks at a node and, when the mix has starts, runs one scan on it; when it has searches, one of
// these.
//
// Errors: [ErrBusy], those of the connection, and errors of the node.
func Prepare(ctx context.Context, config Config) (*Run, error) {
	r := &Run{config: config, free: make(chan *caller, 1)}
	c := newConnection(&config)
	defer c.close()
	var info struct {
		Chain  string `json:"chain"`
		Blocks int32  `json:"blocks"`
	}
	if err := c.call(ctx, &info, "getblockchaininfo", "[]"); err != nil {
		return nil, err
	}
	var network struct {
		Name string `json:"subversion"`
	}
	if err := c.call(ctx, &network, "getnetworkinfo", "[]"); err != nil {
		return nil, err
	}
	r.result = Result{Node: network.Name, Chain: info.Chain, Height: info.Blocks}
	if len(r.config.Objects) == 0 {
		r.config.Objects = ownObjects(info.Chain, config.Seed, config.Keys)
	}
	if config.Mix.Has(Start) {
		if err := r.measureScan(ctx, c); err != nil {
			return nil, err
		}
	}
	if config.Mix.Has(Search) {
		if err := r.measureSearch(ctx); err != nil {
			return nil, err
		}
	}
	// Bitcoin Core and its kin; Trawl promises more.
	rules := Rules{ProbesTakeSlot: !strings.Contains(network.Name, "Trawl")}
	r.history = NewHistory(rules, r.whole)
	for _, call := range config.Mix.Calls {
		r.requests = append(r.requests, r.request(call))
	}
	return r, nil
}

// ownObjects returns the scan objects of a run that was given none.
func ownObjects(chain string, seed uint64, keys int) json.RawMessage {
	key := testKey
	if chain == "main" {
		key = mainKey
	}
	const pathElements = 1 << 31
	return fmt.Appendf(nil, `[{"desc":"wpkh(%s/%d/*)","range":%d}]`, key, seed%pathElements, max(keys, 1)-1)
}

// request returns what follows the id in the request of a call.
func (r *Run) request(call Call) []byte {
	method, params := call.Name, call.Params
	switch call.Name {
	case Start:
		method, params = scanBlocks, r.startParams()
	case Status, Abort:
		method, params = scanBlocks, `["`+call.Name+`"]`
	}
	return fmt.Appendf(nil, `,"method":%q,"params":%s}`, method, params)
}

// startParams name the last block, so that blocks that come later change
// nothing.
func (r *Run) startParams() string {
	return fmt.Sprintf(`["start",%s,0,%d]`, r.config.Objects, r.result.Height)
}

// measureScan runs the undisturbed scan.
func (r *Run) measureScan(ctx context.Context, c *connection) error {
	var got ScanOutcome
	began := time.Now()
	err := c.call(ctx, &got, scanBlocks, r.startParams())
	r.result.Scan = time.Since(began)
	switch failed := (*failure)(nil); {
	case errors.As(err, &failed) && (&reply{failed: failed}).busy():
		return ErrBusy
	case ctx.Err() != nil:
		_ = c.call(context.WithoutCancel(ctx), nil, scanBlocks, `["abort"]`) // do not leave it running
		return ctx.Err()
	case err != nil:
		return err
	case !got.Completed || got.From != 0 || got.To != r.result.Height:
		return fmt.Errorf("the undisturbed scan ended at height %d of %d", got.To, r.result.Height)
	}
	r.result.Relevant = len(got.Blocks)
	heights, err := c.heights(ctx, got.Blocks)
	r.whole = &Whole{From: got.From, To: got.To, Blocks: got.Blocks, Heights: heights}
	return err
}

// heights asks for the heights of blocks, which have to ascend.
func (c *connection) heights(ctx context.Context, blocks []string) ([]int32, error) {
	heights := make([]int32, 0, len(blocks))
	for _, hash := range blocks {
		var header struct {
			Height int32 `json:"height"`
		}
		if err := c.call(ctx, &header, "getblockheader", `["`+hash+`"]`); err != nil {
			return nil, err
		}
		if n := len(heights); n > 0 && header.Height <= heights[n-1] {
			return nil, fmt.Errorf("relevant block %s is not behind the one before it", hash)
		}
		heights = append(heights, header.Height)
	}
	return heights, nil
}

// Error implements error.
func (f *failure) Error() string { return "error " + strconv.Itoa(f.Code) + ": " + f.Message }

// call makes a call that has to succeed and decodes its result, unless result
// is nil. The error is a *failure when the node sent one. params is JSON.
func (c *connection) call(ctx context.Context, result any, method, params string) error {
	const id = "prepare"
	if err := c.open(); err != nil {
		return err
	}
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	status, body, err := c.post([]byte(head(id)), fmt.Appendf(nil, `,"method":%q,"params":%s}`, method, params))
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	got := parseReply(status, body, id)
	switch {
	case got.failed != nil:
		return fmt.Errorf("%s: %w", method, got.failed)
	case got.odd != "":
		return fmt.Errorf("%s: %s", method, got.odd)
	case got.result == nil:
		return fmt.Errorf("%s: HTTP %d", method, got.status)
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(got.result, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// head is how the body of a request begins.
func head(id string) string { return `{"jsonrpc":"2.0","id":"` + id + `"` }
