package command_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// The list of conversions has what Core has: no method and no parameter beyond.
func TestConversions(t *testing.T) {
	table := tableOf(t,
		command.Command{Name: "own", Own: true, Run: answerArgs, Params: []command.Param{
			{Name: "x", Type: command.Number},
		}},
		command.Command{Name: "later", Since: 32, Run: answerArgs, Params: []command.Param{
			{Name: "x", Type: command.Number},
		}},
		command.Command{Name: "scan", Run: answerArgs, Params: []command.Param{
			{Name: "a|b", Type: command.String},
			{Name: "options", Type: command.NamedOptions, Inner: []command.Param{
				{Name: "c", Type: command.Hex}, {Name: "d", Type: command.Bool, Extension: true},
			}},
			{Name: "key", Type: command.String, Extension: true},
			{Name: "flag", Type: command.Bool, Since: 32},
		}},
	)
	want := []command.Conversion{
		{"scan", 0, "a", true}, {"scan", 0, "b", true}, {"scan", 1, "c", true}, {"scan", 1, "options", false},
	}
	later := []command.Conversion{{"later", 0, "x", false}, {"scan", 3, "flag", false}}
	for _, version := range []int{0, 30, 31, 32, 30} {
		if version > 0 { // else none was chosen yet
			table.Speak(version)
		}
		want := want
		if version >= 32 {
			want = append(slices.Clip(want), later...)
		}
		slices.SortStableFunc(want, func(a, b command.Conversion) int {
			return cmp.Or(cmp.Compare(a.Method, b.Method), a.Position-b.Position)
		})
		if got := table.Conversions(); !reflect.DeepEqual(got, want) {
			t.Errorf("of %d: got %v, want %v", version, got, want)
		}
	}
}
