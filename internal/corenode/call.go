package corenode

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// MaxBatch bounds the calls of one batch.
const MaxBatch = 1000

// call is a request as Core reads it.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

func newCall(id int, method string, params []any) call {
	if params == nil {
		params = []any{}
	}
	return call{"2.0", id, method, params}
}

// Call calls a method and reads its result into to as encoding/json does, or drops it
// where to is nil. Errors are those of the package; an [Error] is Core's own.
func (c *Client) Call(ctx context.Context, to any, method string, params ...any) error {
	return c.callWithin(ctx, 0, to, method, params)
}

// callWithin is Call with more time.
func (c *Client) callWithin(ctx context.Context, more time.Duration, to any, method string, params []any) error {
	if err := c.callResult(ctx, more, to, method, params); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (c *Client) callResult(ctx context.Context, more time.Duration, to any, method string, params []any) error {
	bound := c.boundOf(method)
	ctx, cancel := c.limit(ctx, c.patience(bound.time)+more)
	defer cancel()
	body, err := json.Marshal(newCall(0, method, params))
	if err != nil {
		return err
	}
	reply, err := c.sendOwn(ctx, c.own, "/", body, bound.bytes)
	if err != nil {
		return err
	}
	defer reply.release()
	if err := checkStatus(reply); err != nil {
		return err
	}
	answer, err := ParseReply(reply.Body)
	switch {
	case err != nil:
		return err
	case answer.Err != nil:
		return c.answeredWith(answer.Err)
	case to == nil:
		return nil
	}
	return readResult(answer.Result, to)
}

// answeredWith returns an error of Core's. A Core that says it starts or stops counts
// as lost, since another process will answer soon.
func (c *Client) answeredWith(err *Error) error {
	if err.Is(ErrAway) {
		c.lose()
	}
	return c.withoutLogin(err)
}

func readResult(result []byte, to any) error {
	if err := json.Unmarshal(result, to); err != nil {
		return fmt.Errorf("%w: %T", ErrReply, to) // the error of encoding/json may repeat a part of the result
	}
	return nil
}

// checkStatus returns the error that an HTTP status alone tells. With other statuses a
// body follows that tells more.
func checkStatus(r Reply) error {
	switch {
	case r.Status == http.StatusForbidden:
		return ErrForbidden
	case r.Status == http.StatusServiceUnavailable:
		return away("it is busy (HTTP status %d)", r.Status)
	case len(r.Body) == 0:
		return fmt.Errorf("%w: HTTP status %d without a body", ErrReply, r.Status)
	}
	return nil
}

// Batch calls one method once for each element of params, in one request of up to
// [MaxBatch] calls. Results come in that order, as JSON. If Core refuses a call, errs
// has an [Error] at its place; errs is nil if Core refuses none.
func (c *Client) Batch(
	ctx context.Context, method string, params [][]any,
) (results []json.RawMessage, errs []error, err error) {
	results, errs, err = c.batch(ctx, method, params)
	if err != nil {
		return nil, nil, fmt.Errorf("%d times %s: %w", len(params), method, err)
	}
	return results, errs, nil
}

func (c *Client) batch(ctx context.Context, method string, params [][]any) ([]json.RawMessage, []error, error) {
	if len(params) == 0 {
		return nil, nil, nil
	}
	if len(params) > MaxBatch {
		return nil, nil, fmt.Errorf("a batch has at most %d calls", MaxBatch)
	}
	calls := make([]call, len(params))
	for i, p := range params {
		calls[i] = newCall(i, method, p)
	}
	body, err := json.Marshal(calls)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := c.limit(ctx, c.patience(c.timeout))
	defer cancel()
	reply, err := c.sendOwn(ctx, c.own, "/", body, c.maxReply)
	if err != nil {
		return nil, nil, err
	}
	defer reply.release()
	if err := checkStatus(reply); err != nil {
		return nil, nil, err
	}
	results, errs, err := parseBatch(reply.Body, len(params))
	for i := range errs {
		errs[i] = c.withoutLogin(errs[i])
	}
	return results, errs, c.withoutLogin(err)
}

// parseBatch reads the reply to a batch of n calls with the ids 0 to n-1: each once, in
// any order.
func parseBatch(body []byte, n int) ([]json.RawMessage, []error, error) {
	parts, ok := splitArray(body, n)
	if !ok {
		answer, err := ParseReply(body) // Core refused the batch as a whole
		if err == nil && answer.Err != nil {
			return nil, nil, answer.Err
		}
		return nil, nil, fmt.Errorf("%w: it is not that of a batch of %d calls", ErrReply, n)
	}
	results := make([]json.RawMessage, n)
	var errs []error
	seen := make([]bool, n)
	for _, part := range parts {
		answer, err := ParseReply(part)
		if err != nil {
			return nil, nil, err
		}
		id, err := strconv.Atoi(string(answer.ID))
		if err != nil || id < 0 || id >= n || seen[id] {
			return nil, nil, fmt.Errorf("%w: ids of a batch", ErrReply)
		}
		seen[id] = true
		if answer.Err == nil {
			results[id] = answer.Result
			continue
		}
		if answer.Err.Is(ErrAway) {
			return nil, nil, answer.Err
		}
		if errs == nil {
			errs = make([]error, n)
		}
		errs[id] = answer.Err
	}
	return results, errs, nil
}
