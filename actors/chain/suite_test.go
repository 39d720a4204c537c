package chain_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		f := spawn(t)
		return &actortest.Subject{
			Ref: f.Ref, Served: chain.Requests,
			Requests: []actortest.Request{
				actortest.Sample(messages.SubmitBlock{Raw: []byte{1}}),
				actortest.Sample(messages.Generate{Script: trueScript, Count: 2, Tries: many}),
				actortest.Sample(messages.GenerateBlock{Script: trueScript, Submit: true, Tries: many}),
				actortest.Sample(messages.CreateAuxBlock{Script: trueScript}),
				actortest.Sample(messages.SubmitAuxBlock{}),
				actortest.Sample(nodemsg.AcceptBlocks{Raw: [][]byte{{1}}}),
				actortest.Sample(nodemsg.AcceptHeaders{Headers: [][]byte{{1}}}),
			},
			Check: func() {
				before := do(t, f, messages.WaitOpen{})
				if tip := f.generate(t, 1); tip.Height != before.Height+1 ||
					f.current.Open().Active().Tip().Hash != tip.Hash {
					t.Errorf("at %v, from %v", tip, before)
				}
				if errs := f.failures(); len(errs) != 0 {
					t.Errorf("failed: %v", errs)
				}
			},
		}
	})
}
