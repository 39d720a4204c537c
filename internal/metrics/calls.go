package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed61375155/trawl/rpc"
)

// other stands for all that has no value of a label of its own.
const other = "other"

// callSeconds are the bounds of the histogram of calls: a status takes microseconds, a scan
// of the main chain minutes.
var callSeconds = []float64{.0005, .002, .01, .05, .25, 1, 5, 30, 180}

// statuses are those that the server replies with.
var statuses = []int{
	http.StatusOK, http.StatusNoContent, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
	http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge,
	http.StatusInternalServerError, http.StatusNotImplemented, http.StatusBadGateway, http.StatusServiceUnavailable,
}

// calls counts calls; it is an rpc.Observer.
type calls struct {
	took    *prometheus.HistogramVec
	failed  *prometheus.CounterVec
	replies map[int]prometheus.Counter // does not change
	others  prometheus.Counter
	all     *prometheus.CounterVec // of replies and others
}

func newCalls() *calls {
	c := &calls{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "trawl_rpc_call_duration_seconds", Buckets: callSeconds,
			Help: "How long calls took, without the wait for a worker, by method.",
		}, []string{"method"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trawl_rpc_failed_calls_total", Help: "Calls that were answered with an error, by method.",
		}, []string{"method"}),
		all: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "trawl_rpc_http_replies_total", Help: "HTTP replies of the RPC server, by status.",
		}, []string{"code"}),
		replies: map[int]prometheus.Counter{},
	}
	for _, status := range statuses {
		c.replies[status] = c.all.WithLabelValues(strconv.Itoa(status))
	}
	c.others = c.all.WithLabelValues(other)
	return c
}

// Called implements [rpc.Observer].
func (c *calls) Called(method string, took time.Duration, failed bool) {
	if method == "" {
		method = other
	}
	c.took.WithLabelValues(method).Observe(took.Seconds())
	if failed {
		c.failed.WithLabelValues(method).Inc()
	}
}

// Replied implements [rpc.Observer].
func (c *calls) Replied(status int) {
	if n, ok := c.replies[status]; ok {
		n.Inc()
		return
	}
	c.others.Inc()
}

// Describe implements prometheus.Collector.
func (c *calls) Describe(to chan<- *prometheus.Desc) {
	c.took.Describe(to)
	c.failed.Describe(to)
	c.all.Describe(to)
}

// Collect implements prometheus.Collector.
func (c *calls) Collect(to chan<- prometheus.Metric) {
	c.took.Collect(to)
	c.failed.Collect(to)
	c.all.Collect(to)
}

// serverNumbers tell what an RPC server is busy with.
type serverNumbers struct {
	*numbers[rpc.Load]

	load func() rpc.Load
}

func newServerNumbers(load func() rpc.Load) *serverNumbers {
	return &serverNumbers{newNumbers([]number[rpc.Load]{
		{
			"trawl_rpc_running_calls", gauge, "Calls and batches that have a worker.",
			func(l *rpc.Load) float64 { return float64(l.Running) },
		},
		{
			"trawl_rpc_queued_calls", gauge, "Calls and batches that wait for a worker.",
			func(l *rpc.Load) float64 { return float64(l.Queued) },
		},
		{
			"trawl_rpc_waiting_calls", gauge, "Calls that wait for something to happen, without a worker.",
			func(l *rpc.Load) float64 { return float64(l.Waiting) },
		},
		{
			"trawl_rpc_open_connections", gauge, "Open connections of the RPC server.",
			func(l *rpc.Load) float64 { return float64(l.Conns) },
		},
		{
			"trawl_rpc_event_streams", gauge, "Open streams of events.",
			func(l *rpc.Load) float64 { return float64(l.Streams) },
		},
	}), load}
}

// Describe implements prometheus.Collector.
func (s *serverNumbers) Describe(to chan<- *prometheus.Desc) { s.describe(to) }

// Collect implements prometheus.Collector.
func (s *serverNumbers) Collect(to chan<- prometheus.Metric) {
	load := s.load()
	s.collect(to, &load)
}
