package metrics

import "github.com/prometheus/client_golang/prometheus"

// Kinds of numbers.
const (
	counter = prometheus.CounterValue // only grows, until the program starts anew
	gauge   = prometheus.GaugeValue
)

// A number is a metric that is read of a T.
type number[T any] struct {
	name string
	kind prometheus.ValueType
	help string
	of   func(*T) float64
}

// numbers are all that are read of one T, which has the same labels for all.
type numbers[T any] struct {
	list  []number[T]
	descs []*prometheus.Desc
}

func newNumbers[T any](list []number[T], labels ...string) *numbers[T] {
	n := &numbers[T]{list: list}
	for i := range list {
		n.descs = append(n.descs, prometheus.NewDesc(list[i].name, list[i].help, labels, nil))
	}
	return n
}

func (n *numbers[T]) describe(to chan<- *prometheus.Desc) {
	for _, d := range n.descs {
		to <- d
	}
}

// collect tells the numbers of v. labels are the values of the labels.
func (n *numbers[T]) collect(to chan<- prometheus.Metric, v *T, labels ...string) {
	for i := range n.list {
		to <- prometheus.MustNewConstMetric(n.descs[i], n.list[i].kind, n.list[i].of(v), labels...)
	}
}

// truth is how a yes or no is shown.
func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
