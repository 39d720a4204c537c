package command_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A result is held against what is declared of it, to its innermost parts.
func TestResultsAreChecked(t *testing.T) {
	text := func(key string) command.Result { return command.Result{Type: command.String, Key: key} }
	object := func(inner ...command.Result) command.Result {
		return command.Result{Type: command.Object, Inner: inner}
	}
	number := command.Result{Type: command.Number, Key: "b", Optional: true}
	either := []command.Result{text(""), object(text("a"), number)}
	list := command.Result{Type: command.Array, Inner: either}
	for _, test := range []struct {
		declared []command.Result
		result   string
		want     string // "": right
	}{
		{either, `"x"`, ""},
		{either, `{"a":"x"}`, ""},
		{either, `{"a":"x","b":1.5}`, ""},
		{either, `{"b":1}`, "a: key missing, despite not being optional in doc"},
		{either, `{"a":"x","b":"y"}`, "b: returned a JSON string, but declared it as JSON number in doc"},
		{either, `{"a":"x","c":1}`, "c: key returned that was not in doc"},
		{either, `true`, "returned a JSON bool, but declared it as JSON string in doc"},
		{[]command.Result{list}, `[]`, ""},
		{[]command.Result{list}, `["x",{"a":"y"}]`, ""},
		{[]command.Result{list}, `["x",{"a":1}]`, "1: returned a JSON object, but"},
		{[]command.Result{{Type: command.UserKeys, Inner: []command.Result{{Type: command.Bool}}}}, `{"k":true}`, ""},
		{
			[]command.Result{{Type: command.UserKeys, Inner: []command.Result{{Type: command.Bool}}}},
			`{"k":null}`,
			"k: returned a JSON null",
		},
		{[]command.Result{object(text("a"), command.Result{Type: command.Elision})}, `{"a":"x","more":[]}`, ""},
		{[]command.Result{object(text("a"), command.Result{Type: command.Elision})}, `{"more":[]}`, "a: key missing"},
		{[]command.Result{{Type: command.Object, OrFalse: true}}, `false`, ""},
		{[]command.Result{{Type: command.Object, OrFalse: true}}, `{}`, ""},
		{[]command.Result{{Type: command.Object, OrFalse: true}}, `true`, "returned a JSON bool"},
		{[]command.Result{{Type: command.Null}}, `null`, ""},
		{[]command.Result{{Type: command.Null}}, `0`, "declared it as JSON null"},
		{[]command.Result{{Type: command.Any}}, `[1]`, ""},
		{nil, `null`, "no possible results defined"},
	} {
		for _, checked := range []bool{true, false} {
			table, err := command.NewTable([]command.Command{{
				Name: "m", Results: test.declared,
				Run: func(context.Context, *command.Args) (any, error) { return jsontree.Parse([]byte(test.result)) },
			}})
			if err != nil {
				t.Fatal(err)
			}
			if checked {
				table.CheckResults()
			}
			call, err := table.Prepare(command.Caller{}, "m", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = call.Run(t.Context())
			if checked && test.want != "" {
				const head = "Internal bug detected: RPC call \"m\" returned incorrect type:\n"
				if err == nil || !strings.HasPrefix(err.Error(), head) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %v, want %s", test.result, err, test.want)
				}
			} else if err != nil {
				t.Errorf("%s: %v", test.result, err)
			}
		}
	}
}
