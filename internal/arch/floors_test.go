package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// floors names the floor of every room, or of all rooms below a folder; the
// longest entry counts. A room imports rooms of lower floors, and of its own floor
// only what mayImport says.
var floors = map[string]int{
	// Words, values, algorithms: no rule of a network.
	"messages": 0, "descriptor": 0, "filters": 0,
	"internal": 0,

	// Rules: no disk, no actor, no clock, no network.
	"internal/bip322": 1, "internal/consensus": 1, "internal/dialect": 1, "internal/discover": 1, "internal/rawtx": 1, "internal/txpool": 1,
	"internal/wallet": 1, "internal/walletfile": 1, "internal/match": 1, "internal/versionbits": 1,
	"internal/txjson": 1, "internal/headersync": 1, "internal/p2mr/pow": 1,

	// The disk, tools of actors, sessions with peers.
	"store": 2, "internal/ask": 2, "internal/follow": 2, "internal/part": 2, "internal/poolview": 2, "internal/p2p": 2,

	// Code on top of the disk, or of another program.
	"internal/engine": 3, "internal/index": 3, "internal/corenode": 3, "internal/corenode/rpcauth": 0,
	"internal/corenode/poolcopy": 1,

	// Actors, the owners of state, and the interface to the outside.
	"actors": 4, "rpc": 4,

	// The node, which puts the parts together.
	".": 5, "internal/metrics": 5, "internal/metrics/nodestats": 4,

	// Programs and help for tests.
	"cmd": 6, "bench": 6, "deploy": 6, "internal/e2e": 6, "internal/differ": 6, "internal/load": 6,
	"internal/demo": 6, "internal/soak": 6, "internal/mutate": 6, "internal/arch": 6,
	"internal/actortest": 6, "internal/chaintest": 6, "internal/enginetest": 6, "internal/synth": 6,
}

func floor(room string) int {
	for at := room; ; at = at[:strings.LastIndexByte(at, '/')] {
		if f, ok := floors[at]; ok {
			return f
		}
		if !strings.Contains(at, "/") {
			return -1
		}
	}
}

// No room may import one of a higher floor, whatever mayImport says.
func TestFloors(t *testing.T) {
	for from, allowed := range mayImport {
		at := floor(from)
		if at < 0 {
			t.Errorf("%s is on no floor", from)
		}
		for _, to := range allowed {
			if floor(to) > at && to != "internal" {
				t.Errorf("%s of floor %d may import %s of floor %d", from, at, to, floor(to))
			}
		}
	}
}

// A list that nobody can read at a glance needs folders of its own.
const maxRooms = 50

func TestRoomsStayFew(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("..", "..", "internal"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, entry := range entries {
		if entry.IsDir() {
			n++
		}
	}
	if n > maxRooms {
		t.Errorf("%d rooms on the first level of internal, at most %d: one that serves one other room lies below it",
			n, maxRooms)
	}
}
