package blocktree

import (
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }
