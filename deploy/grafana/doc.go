// Package grafana tests the dashboard and the alert rules of this folder. It is a module of its own, so that programs
// that embed a node do not get a parser of Prometheus expressions.
package grafana
