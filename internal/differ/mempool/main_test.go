// Package mempool_test compares what both nodes say of transactions, packages and
// replacements by chance, of the pool that comes of them, and of blocks that confirm
// and un-confirm them.
package mempool_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
