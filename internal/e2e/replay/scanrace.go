package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// errScanBusy is what a second scan is refused with.
var errScanBusy = jsonrpc.Error{Code: -8, Message: `Scan already in progress, use action "abort" or "status"`}

// scanResult is the result of scanblocks start.
type scanResult struct {
	From      *int32    `json:"from_height"`
	To        *int32    `json:"to_height"`
	Blocks    *[]string `json:"relevant_blocks"`
	Completed *bool     `json:"completed"`
}

func (r *scanResult) whole() bool {
	return r.From != nil && r.To != nil && r.Blocks != nil && r.Completed != nil
}

// race is one try of the action scan-race.
type race struct {
	client *jsonrpc.Client
	c      *Case

	status, busy, abort bool // seen
}

// scanRace tries until a scan lasted long enough to see everything.
func (p *Player) scanRace(ctx context.Context, c *Case) Outcome {
	for range c.Rounds {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Seconds)*time.Second)
		r := race{client: p.Client, c: c}
		err := r.run(ctx)
		cancel()
		if err != nil {
			return failed(Value, "%v", err)
		}
		if r.status && r.busy && r.abort {
			return Outcome{}
		}
	}
	return Outcome{Inconclusive: "every scan ended before it could be observed"}
}

func (r *race) run(ctx context.Context) error {
	params := make([]any, len(r.c.StartParams))
	for i, param := range r.c.StartParams {
		params[i] = param
	}
	var result scanResult
	ended := make(chan error, 1)
	go func() { ended <- r.client.Call(ctx, &result, "scanblocks", params...) }()

	if err := r.watch(ctx, ended); err != nil {
		return err
	}
	if !result.whole() {
		return errors.New("start: odd result")
	}
	if !*result.Completed && (*result.From > *result.To || *result.To > r.c.StopHeight) {
		return fmt.Errorf("start: heights %d to %d", *result.From, *result.To)
	}
	return r.after(ctx)
}

// watch disturbs the scan until it ends.
func (r *race) watch(ctx context.Context, ended <-chan error) error {
	tick := time.NewTicker(pollEvery / 4)
	defer tick.Stop()
	for {
		if err := r.disturb(ctx); err != nil {
			return err
		}
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
	}
}

// disturb looks for a status and, if there is one, starts a second scan (once)
// and aborts the first.
func (r *race) disturb(ctx context.Context) error {
	var raw json.RawMessage
	if err := r.client.Call(ctx, &raw, "scanblocks", "status"); err != nil {
		return err
	}
	if string(raw) == "null" {
		return nil
	}
	var status map[string]int64
	if err := json.Unmarshal(raw, &status); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	_, hasProgress := status["progress"]
	_, hasHeight := status["current_height"]
	if len(status) != 2 || !hasProgress || !hasHeight {
		return fmt.Errorf("status: odd object %s", raw)
	}
	r.status = true
	if err := r.second(ctx); err != nil {
		return err
	}
	var aborted bool
	if err := r.client.Call(ctx, &aborted, "scanblocks", "abort"); err != nil {
		return fmt.Errorf("abort: %w", err)
	}
	r.abort = r.abort || aborted
	return nil
}

// second starts another scan, which either is refused or finds the first one
// ended.
func (r *race) second(ctx context.Context) error {
	if r.busy {
		return nil
	}
	err := r.client.Call(ctx, nil, "scanblocks", "start", []string{"raw(51)"}, 0, 0)
	var refusal jsonrpc.Error
	switch {
	case err == nil:
	case errors.As(err, &refusal) && refusal == errScanBusy:
		r.busy = true
	default:
		return fmt.Errorf("second start: %w", err)
	}
	return nil
}

// after checks that nothing is left of a scan.
func (r *race) after(ctx context.Context) error {
	var status json.RawMessage
	if err := r.client.Call(ctx, &status, "scanblocks", "status"); err != nil {
		return err
	}
	var aborted bool
	if err := r.client.Call(ctx, &aborted, "scanblocks", "abort"); err != nil {
		return err
	}
	if string(status) != "null" || aborted {
		return fmt.Errorf("after the scan: status %s, abort %t", status, aborted)
	}
	return nil
}
