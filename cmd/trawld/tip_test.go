package main

import (
	"encoding/json"
	"testing"
	"time"
)

// The last block may be ahead of the clock by as much as the rule of its height allows.
func TestTipLimit(t *testing.T) {
	for reply, want := range map[string]time.Duration{
		`{"blocks": 5}`: 2 * time.Hour,
		`{"blocks": 999, "future_block_time": {"tip_limit_seconds": 7200, "next_block_limit_seconds": 600}}`: 7200e9,
		`{"blocks": 1000, "future_block_time": {"tip_limit_seconds": 600, "next_block_limit_seconds": 600}}`: 600e9,
	} {
		var got tip
		if err := json.Unmarshal([]byte(reply), &got); err != nil {
			t.Fatal(err)
		}
		if got.limit() != want {
			t.Errorf("%s: %v", reply, got.limit())
		}
	}
}
