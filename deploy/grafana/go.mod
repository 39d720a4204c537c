module github.com/seed61375155/trawl/deploy/grafana

go 1.26.0

toolchain go1.26.11

require (
	github.com/VictoriaMetrics/metricsql v0.87.3
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/VictoriaMetrics/metrics v1.35.3 // indirect
	github.com/valyala/fastrand v1.1.0 // indirect
	github.com/valyala/histogram v1.2.0 // indirect
	golang.org/x/sys v0.32.0 // indirect
)
