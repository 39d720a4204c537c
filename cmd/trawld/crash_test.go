package main

import (
	"slices"
	"testing"
)

// There is a chance of an end after each batch, and none in between.
func TestCrashes(t *testing.T) {
	if crashes(0, 10, nil, nil) != nil {
		t.Error("a node crashes that nobody has asked to")
	}
	var chances []int64
	changes, ends := 0, []int(nil)
	wrote := crashes(5, 10, func(n int64) int64 {
		chances = append(chances, n)
		return int64(len(chances) % 3) // 0 each third time
	}, func() { ends = append(ends, changes) })
	for changes = 1; changes <= 20; changes++ {
		wrote(4) // three of them are more than a batch
	}
	if !slices.Equal(chances, []int64{5, 5, 5, 5, 5, 5}) || !slices.Equal(ends, []int{9, 18}) {
		t.Errorf("chances of one in %v, ends after %v changes", chances, ends)
	}
}
