package chain_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// Steps of the tip are announced in their order, before the answer to the request that caused them. Of the
// steps in the initial download only the last is announced.
func TestMovesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		var moved ask.Feed[chainview.TipMoved]
		var current *chainview.Current
		f := spawnWith(t, func(c *chain.Config) {
			current = c.Current
			c.Moved, c.Network.CountsStale = &moved, true
			c.Initial = chainview.NewInitialDownload(c.Current, "", 0, time.Now, func() {})
		})
		var published []string
		f.sys.Spawn("listener", func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *actor.Started:
					moved.Subscribe(c)
				case chainview.TipMoved:
					published = append(published, inWords(&m))
				}
			})
		})
		synctest.Wait()
		expect := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			got := strings.Join(published, "; ")
			published = nil
			if want := strings.Join(want, "; "); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		do(t, f, messages.WaitOpen{})
		published = nil
		current.SetImporting(true)
		tip := f.generate(t, 2)
		expect("initial download", "1i", "2i")
		do(t, f, messages.InvalidateBlock{Hash: tip.Hash})
		expect("taken back in it", "1i")
		do(t, f, messages.ReconsiderBlock{Hash: tip.Hash})
		current.SetImporting(false)
		synctest.Wait()
		published = nil
		f.generate(t, 2)
		expect("after it", "3", "4")
		third := f.current.Open().Active().At(3).Hash
		do(t, f, messages.InvalidateBlock{Hash: third})
		expect("taken back", "3 2")
		time.Sleep(time.Minute)
		f.generate(t, 1)
		expect("another third", "3")
		do(t, f, messages.ReconsiderBlock{Hash: third})
		expect("reconsidered", "2 3 4(3)")
	})
}

// inWords returns the heights of the steps, and the heights of the branches that were left.
func inWords(m *chainview.TipMoved) string {
	var words []string
	for _, s := range m.Steps {
		word := strconv.Itoa(int(s.To.Height))
		if s.Initial {
			word += "i"
		}
		if s.Left != nil {
			word += fmt.Sprintf("(%d)", s.Left.Height)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
