package files

import (
	"testing"

	"github.com/seed61375155/trawl/internal/actortest"
)

func TestMain(m *testing.M) { actortest.Main(m) }
