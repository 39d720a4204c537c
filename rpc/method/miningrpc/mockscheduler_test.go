package miningrpc_test

import "testing"

// The times by which timers cannot be set forward.
func TestMockScheduler(t *testing.T) {
	r := newRig(t, "regtest")
	for params, want := range map[string]string{
		`[0]`:    `{"code":-1,"message":"delta_time must be between 1 and 3600 seconds (1 hr)"}`,
		`[-1]`:   `{"code":-1,"message":"delta_time must be between 1 and 3600 seconds (1 hr)"}`,
		`[3601]`: `{"code":-1,"message":"delta_time must be between 1 and 3600 seconds (1 hr)"}`,
	} {
		if got := r.call("mockscheduler", params); got != want {
			t.Errorf("%s: %s", params, got)
		}
	}
}
