// Package metrics shows numbers about a running node to Prometheus.
//
// A metric's name ends with the things counted, or with the unit. Labels have few values,
// all known to the program: names of parts, of methods, of states. No label holds a text
// that a user has chosen: a wallet's name, a label, an address, a login.
//
// Scrapes read the counters of other packages and ask actors for the rest. Actors have
// little time to answer: numbers that arrive later are left out.
package metrics

import (
	"log/slog"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/seed61375155/trawl/rpc"
)

// An Exporter is what can be scraped.
type Exporter struct {
	// Hosts are the names by which browsers may ask, beside addresses and localhost; for others than browsers any
	// name will do. It is set before Listen.
	Hosts rpc.Hosts

	log      *slog.Logger
	registry *prometheus.Registry
	calls    *calls
}

// New returns an exporter of numbers about the process and about the calls that its
// Observer is notified of.
func New(log *slog.Logger, version string) *Exporter {
	e := &Exporter{log: log, registry: prometheus.NewRegistry(), calls: newCalls()}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "trawl_build_info", Help: "Always 1; the label is the version of the program.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	e.registry.MustRegister(
		build, e.calls,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(
			collectors.GoRuntimeMetricsRule{Matcher: schedulerLatencies},
		)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return e
}

// Observer is notified of calls.
func (e *Exporter) Observer() rpc.Observer { return e.calls }

// AddServer shows what an RPC server is busy with. Call it once.
func (e *Exporter) AddServer(load func() rpc.Load) {
	e.add(newServerNumbers(load))
}

// add has a collector of ours scraped.
func (e *Exporter) add(c prometheus.Collector) {
	e.registry.MustRegister(&guarded{c, e.log})
}

// guarded keeps a panic of a collector, which runs in a goroutine of the registry's, from
// ending the program: what it has not told by then is left out.
type guarded struct {
	prometheus.Collector

	log *slog.Logger
}

// Collect implements prometheus.Collector.
func (g *guarded) Collect(to chan<- prometheus.Metric) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("metrics failed", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	g.Collector.Collect(to)
}
