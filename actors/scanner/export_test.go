package scanner

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/messages"
)

// Draining returns how many scans an actor keeps that have ended.
func Draining(a actor.Actor) int { return len(a.(*Scanner).draining) }

// IsLarge reports whether a worker makes the query of a request.
func IsLarge(q *messages.RunScan) bool { return (&scan{scripts: q.Scripts, set: q.Set}).isLarge() }
