package command_test

import (
	"reflect"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// The list of conversions has what Core has: no method and no parameter beyond.
func TestConversions(t *testing.T) {
	table := tableOf(t,
		command.Command{Name: "own", Own: true, Run: answerArgs, Params: []command.Param{
			{Name: "x", Type: command.Number},
		}},
		command.Command{Name: "scan", Run: answerArgs, Params: []command.Param{
			{Name: "a|b", Type: command.String},
			{Name: "options", Type: command.NamedOptions, Inner: []command.Param{
				{Name: "c", Type: command.Hex}, {Name: "d", Type: command.Bool, Extension: true},
			}},
			{Name: "key", Type: command.String, Extension: true},
			{Name: "later", Type: command.Number, Optional: true, Since: 32},
		}},
	)
	want := []command.Conversion{
		{"scan", 0, "a", true}, {"scan", 0, "b", true}, {"scan", 1, "c", true}, {"scan", 1, "options", false},
	}
	if got := table.Conversions(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}
