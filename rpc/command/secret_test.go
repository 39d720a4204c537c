package command_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// TestWipe looks at the arguments of a call when it was wiped: those that are secret
// are gone, and what a command has no parameter for; others are as they were.
func TestWipe(t *testing.T) {
	table, err := command.NewTable([]command.Command{{
		Name: "x",
		Params: []command.Param{
			{Name: "name", Type: command.String, Optional: true},
			{Name: "phrase", Type: command.String, Optional: true, Secret: true},
			{Name: "items", Type: command.Array, Optional: true, Inner: []command.Param{{
				Type: command.Object,
				Inner: []command.Param{
					{Name: "label", Type: command.String},
					{Name: "keys", Type: command.Array, Secret: true, Inner: []command.Param{{Type: command.String}}},
				},
			}}},
			{Name: "more", Type: command.NamedOptions, Optional: true, Inner: []command.Param{
				{Name: "plain", Type: command.String},
			}},
		},
		Run: answerArgs,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, params := range []string{
		`["kept","SECRET",[{"label":"kept","keys":["SECRET",{"a":"SECRET"}]},"SECRET",{"unknown":"SECRET","keys":"SECRET"}],{"plain":"kept"}]`,
		`{"items":[{"keys":["SECRET"]}],"phrase":"SECRET","name":"kept","plain":"kept"}`,
		`{"args":["kept","SECRET"]}`,
	} {
		v, err := jsontree.Parse([]byte(params))
		if err != nil {
			t.Fatal(err)
		}
		kept := strings.Count(params, "kept")
		call, err := table.Prepare(command.Caller{}, "x", v)
		if err != nil {
			t.Fatal(err)
		}
		if !call.TakesSecrets() || call.ShowsSecrets() {
			t.Error("the command takes secrets and shows none")
		}
		call.Wipe()
		if text := v.String(); strings.Contains(text, "SECRET") || strings.Count(text, "kept") != kept {
			t.Errorf("%s became %s", params, text)
		}
	}
}

// TestMasked looks at secrets while others stand in their place, and afterwards.
func TestMasked(t *testing.T) {
	secrets := []command.Secret{command.Secret("first"), nil, command.Secret("second")}
	command.Masked(secrets, func() {
		for _, s := range secrets {
			if strings.Trim(string(s), "*") != "" {
				t.Errorf("%q is not masked", string(s))
			}
		}
	})
	if string(secrets[0]) != "first" || string(secrets[2]) != "second" {
		t.Errorf("got %q", string(secrets[0])+string(secrets[2]))
	}
	if text, err := jsontree.Append(nil, secrets[0]); string(text) != `"first"` || err != nil {
		t.Errorf("got %s, %v", text, err)
	}
	if secrets[0].String() != "****" || secrets[0].GoString() != "****" {
		t.Error("printed")
	}
}
