package command_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// Facts that contradict each other are told by the check of a table, and so is a method without.
func TestFacts(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*command.Command)
		want   string // empty: it is right
	}{
		"right":          {func(*command.Command) {}, ""},
		"nothing":        {func(c *command.Command) { c.About = 0 }, "what it is about"},
		"unknown":        {func(c *command.Command) { c.About = 99 }, "what it is about"},
		"reads and does": {func(c *command.Command) { c.Effect |= command.MovesTip }, "it changes nothing, and does"},
		"ends a chain":   {func(c *command.Command) { c.Effect = command.Ends }, "ends the program"},
		"sends to none":  {func(c *command.Command) { c.Effect = command.SendsTx }, "it sends a transaction"},
		"no wallet":      {func(c *command.Command) { c.About, c.At = command.Funds, 0 }, "contradict each other"},
		"another node's block alone": {func(c *command.Command) {
			c.At = command.BlockOrCore
		}, "another node may know the block"},
		"a block of no chain": {func(c *command.Command) { c.About = command.Pure }, "is about none"},
		"names no wallet": {func(c *command.Command) {
			c.Params = append([]command.Param(nil), c.Params...)
			c.Params[0].Kind = command.WalletName
		}, "it names no wallet"},
	} {
		c := scanBlocks
		test.change(&c)
		err := tableOf(t, c).Check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
