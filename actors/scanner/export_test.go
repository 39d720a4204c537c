package scanner

import "github.com/asynkron/protoactor-go/actor"

// Draining returns how many scans an actor keeps that have ended.
func Draining(a actor.Actor) int { return len(a.(*Scanner).draining) }
