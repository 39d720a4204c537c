package metrics_test

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

var record = flag.Bool("record", false, "write the file of all time series")

// The dashboard and the alert rules are tested against a file of all time series with their labels, which is what a
// scrape gives.
func TestSeries(t *testing.T) {
	const path = "../../deploy/grafana/testdata/series.txt"
	var list strings.Builder
	families := scrape(t, start(t, complete()))
	for _, name := range slices.Sorted(maps.Keys(families)) {
		family := families[name]
		words := []string{""}
		for _, label := range family.GetMetric()[0].GetLabel() {
			words = append(words, label.GetName())
		}
		labels := strings.Join(words, " ")
		if family.GetType() == dto.MetricType_HISTOGRAM {
			list.WriteString(name + "_bucket" + labels + " le\n")
			list.WriteString(name + "_count" + labels + "\n")
			name += "_sum"
		}
		list.WriteString(name + labels + "\n")
	}
	if *record {
		if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != list.String() {
		t.Errorf("%s has other series than a scrape: `go test ./internal/metrics -record` writes it\n%s", path, list.String())
	}
}
