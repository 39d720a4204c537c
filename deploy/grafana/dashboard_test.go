package grafana

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"gopkg.in/yaml.v3"
)

// known returns the labels of each time series by its name: those of a scrape, and those that Prometheus adds. Tests of
// internal/metrics compare the file with a scrape.
func known(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/series.txt")
	if err != nil {
		t.Fatal(err)
	}
	series := map[string][]string{"up": nil}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		series[words[0]] = words[1:]
	}
	return series
}

// everyScrape has these labels, which Prometheus adds.
var everyScrape = []string{"job", "instance", "__name__"}

// mistakes parses an expression and returns what it reads that nobody tells.
func mistakes(series map[string][]string, expr string) (list []string, read int) {
	parsed, err := metricsql.Parse(expr)
	if err != nil {
		return []string{err.Error()}, 0
	}
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		metric, ok := e.(*metricsql.MetricExpr)
		if !ok {
			return
		}
		for _, filters := range metric.LabelFilterss {
			name := ""
			for _, f := range filters {
				if f.Label == "__name__" {
					name = f.Value
				}
			}
			read++
			labels, ok := series[name]
			if !ok {
				list = append(list, "there is no "+name)
				continue
			}
			for _, f := range filters {
				if !slices.Contains(labels, f.Label) && !slices.Contains(everyScrape, f.Label) {
					list = append(list, name+" has no label "+f.Label)
				}
			}
		}
	})
	return list, read
}

// The check below sees what is wrong.
func TestMistakesAreSeen(t *testing.T) {
	series := map[string][]string{"a_total": {"x"}, "b": nil}
	for expr, want := range map[string]string{
		`rate(a_total{x="1",job="j"}[5m]) / on (job) b`: "",
		`rate(a_total[5m]) / c`:                         "there is no c",
		`sum by (x) (a_total{y="1"})`:                   "a_total has no label y",
		`rate(a_total[5m]`:                              "unexpected",
	} {
		list, _ := mistakes(series, expr)
		if got := strings.Join(list, ", "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// Every metric that the dashboard draws is exported by a node.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("trawl.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title, UID string
		Panels     []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, RefID string }
			FieldConfig struct{ Defaults struct{ Unit string } }
			Datasource  struct{ UID string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	series, ids, drawn := known(t), map[int]bool{}, 0
	cells := map[[2]int]string{}
	for i := range dashboard.Panels {
		p := &dashboard.Panels[i]
		if ids[p.ID] {
			t.Errorf("%s: a second panel %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Errorf("%s lies over %q at %d, %d", p.Title, other, x, y)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" || p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("%s has no targets, no data source or no unit", p.Title)
		}
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$job", "j", "$instance", "i").Replace(target.Expr)
			list, read := mistakes(series, expr)
			for _, mistake := range list {
				t.Errorf("%s: %s: %s", p.Title, target.Expr, mistake)
			}
			if !strings.Contains(target.Expr, `job="$job",instance="$instance"`) {
				t.Errorf("%s: %s is of all nodes", p.Title, target.Expr)
			}
			drawn += read
		}
	}
	if drawn < 50 {
		t.Errorf("only %d series are drawn", drawn)
	}
}

var template = regexp.MustCompile(`\{\{ \$labels\.(\w+)`)

// The alert rules are about what a node tells, and say what to do.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	series, seen := known(t), map[string]bool{}
	labels := slices.Concat(slices.Collect(maps.Values(series))...)
	for _, group := range file.Groups {
		for i := range group.Rules {
			r := &group.Rules[i]
			if seen[r.Alert] || r.Alert == "" {
				t.Errorf("%q is there twice", r.Alert)
			}
			seen[r.Alert] = true
			list, read := mistakes(series, r.Expr)
			for _, mistake := range list {
				t.Errorf("%s: %s", r.Alert, mistake)
			}
			if read == 0 {
				t.Errorf("%s reads nothing", r.Alert)
			}
			if !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) {
				t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
			}
			for _, what := range []string{"summary", "description"} {
				if r.Annotations[what] == "" {
					t.Errorf("%s has no %s", r.Alert, what)
				}
				for _, label := range template.FindAllStringSubmatch(r.Annotations[what], -1) {
					if !slices.Contains(labels, label[1]) && !slices.Contains(everyScrape, label[1]) {
						t.Errorf("%s: %s names the label %s", r.Alert, what, label[1])
					}
				}
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %q", slices.Sorted(maps.Keys(seen)))
	}
}
