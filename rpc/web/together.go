package web

import (
	"sync"

	"github.com/seed61375155/trawl/internal/cores"
)

// together calls functions at the same time and returns when all have. The panic of one is the caller's then,
// as a [*cores.Panic]: in a goroutine of its own it would end the node.
func together(all ...func()) {
	var group sync.WaitGroup
	failed := make([]error, len(all))
	for i, f := range all {
		group.Go(func() {
			failed[i] = cores.Catch(func() error {
				f()
				return nil
			})
		})
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			panic(err)
		}
	}
}
