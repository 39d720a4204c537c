package ask_test

import (
	"errors"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
)

// An actor that the program runs without answers at once, in whatever way it is asked.
func TestAbsent(t *testing.T) {
	for name, ref := range map[string]*ask.Ref{"absent": ask.Absent("calc"), "zero value": new(ask.Ref), "nil": nil} {
		t.Run(name, func(t *testing.T) {
			if _, err := ask.Ask(t.Context(), ref, double{N: 1}); !errors.Is(err, ask.ErrAbsent) {
				t.Errorf("Ask: %v", err)
			}
			ref.Tell("dropped")
			if err := ref.Stop(t.Context()); err != nil || ref.PID() != nil || ref.Done() != nil || !ref.IsAbsent() {
				t.Errorf("Stop: %v, PID %v, Done %v, IsAbsent %v", err, ref.PID(), ref.Done(), ref.IsAbsent())
			}
			forwards := actortest.New(t).Spawn("forwarder", func() actor.Actor { return &forwarder{ref} })
			if _, err := ask.Ask(t.Context(), forwards, double{N: 1}); !errors.Is(err, ask.ErrAbsent) {
				t.Errorf("Then: %v", err)
			}
		})
	}
	if forwards := actortest.New(t).Spawn("calc", newCalc); forwards.IsAbsent() {
		t.Error("an actor is absent")
	}
}
