package main

import (
	"encoding/json"
	"testing"
	"time"
)

// The last block may be ahead of the clock by as much as the rule of its height allows.
func TestTipLimit(t *testing.T) {
	const rule = `, "future_block_time": {"limit_seconds": 600, "v2_activation_height": 1000}`
	for reply, want := range map[string]time.Duration{
		`{"blocks": 5}`:                2 * time.Hour,
		`{"blocks": 999` + rule + `}`:  2 * time.Hour, // 600 seconds are for the next one
		`{"blocks": 1000` + rule + `}`: 10 * time.Minute,
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
