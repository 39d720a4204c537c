//go:build race

package e2e

// Race tells whether the race detector runs.
const Race = true
