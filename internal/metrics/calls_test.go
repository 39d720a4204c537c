package metrics

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The collected metrics of calls are the described ones.
func TestCallsAreDescribed(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	c := newCalls()
	registry.MustRegister(c)
	c.Replied(200)
	c.Replied(999)
	c.Called("getblockcount", time.Second, true)
	families, err := registry.Gather()
	if err != nil || len(families) != 3 {
		t.Errorf("%d families, %v", len(families), err)
	}
}
