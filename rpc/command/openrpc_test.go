package command_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

func tableOf(t *testing.T, commands ...command.Command) *command.Table {
	t.Helper()
	table, err := command.NewTable(commands)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// describe returns the OpenRPC document of some methods.
func describe(t *testing.T, commands ...command.Command) *jsontree.Value {
	t.Helper()
	text, err := jsontree.Append(nil, tableOf(t, commands...).OpenRPC("Test", "1.2", true))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsontree.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestOpenRPC(t *testing.T) {
	want, err := os.ReadFile("testdata/scanblocks.openrpc.json")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if got := describe(t, scanBlocks).Indent(2) + "\n"; got != string(want) {
			t.Fatalf("got\n%s", got)
		}
	}
}

// Hidden methods and parameters are described only if wanted.
func TestOpenRPCHidden(t *testing.T) {
	shown, hidden := scanBlocks, scanBlocks
	shown.Params = append(slices.Clone(shown.Params), command.Param{
		Name: "secret", Type: command.String, Optional: true, Hidden: true,
	})
	hidden.Name, hidden.Category = "hiddenone", command.Hidden
	for _, all := range []bool{false, true} {
		text, err := jsontree.Append(nil, tableOf(t, shown, hidden).OpenRPC("Test", "1.2", all))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{`"secret"`, `"hiddenone"`} {
			if bytes.Contains(text, []byte(name)) != all {
				t.Errorf("all %v: %s", all, name)
			}
		}
		if !bytes.Contains(text, []byte(`"scanblocks"`)) {
			t.Errorf("all %v: %s", all, text)
		}
	}
}

func TestSchemas(t *testing.T) {
	for want, p := range map[string]command.Param{
		`{"type":"string"}`:                               {Type: command.String},
		`{"type":"string","pattern":"^[0-9a-fA-F]*$"}`:    {Type: command.Hex},
		`{"type":"number","default":6}`:                   {Type: command.Number, Default: "6"},
		`{"type":"string","x-default":"6"}`:               {Type: command.String, Default: "6"},
		`{"type":"string","x-default":"all"}`:             {Type: command.String, Default: "all"},
		`{"type":"boolean","default":true}`:               {Type: command.Bool, Default: "true"},
		`{"anyOf":[{"type":"number"},{"type":"string"}]}`: {Type: command.Amount},
		`{"x-type":"numeric or array"}`: {
			Type: command.Array, AnyType: true, TypeText: "numeric or array",
		},
		`{}`:                          {Type: command.String, AnyType: true},
		`{"type":"array","items":{}}`: {Type: command.Array},
		`{"type":"array","items":{"type":"null"}}`: {
			Type: command.Array, Inner: []command.Param{{Type: command.Null}},
		},
		`{"type":"object"}`: {Type: command.Object},
		`{"type":"object","additionalProperties":{"type":"number"}}`: {Type: command.UserKeys, Inner: []command.Param{{Type: command.Number}}},
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`: {
			Type: command.Object, Inner: []command.Param{{Name: "a|b", Type: command.String}},
		},
		`{"anyOf":[{"type":"number"},{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}]}`: {Type: command.Range},
	} {
		p.Name = "x"
		c := command.Command{Name: "m", Params: []command.Param{p}, Run: scanBlocks.Run}
		if got := describe(t, c).Get("methods").At(0).Get("params").At(0).Get("schema"); got.String() != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestNames(t *testing.T) {
	c := command.Command{Params: []command.Param{
		{Name: "a|alias"}, {
			Name: "options", Type: command.NamedOptions, Inner: []command.Param{{Name: "x"}, {Name: "y|z"}},
		}, {Name: "hidden", Hidden: true},
	}}
	if got := c.Names(); !slices.Equal(got, []string{"a", "x", "y", "options"}) {
		t.Errorf("got %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	table := tableOf(t, scanBlocks, command.Command{Name: "secret", Category: command.Hidden, Run: scanBlocks.Run})
	got := table.Markdown()
	want := "\n**Blockchain**\n[`scanblocks`](#scanblocks)\n\n## Blockchain\n\n### scanblocks\n\n```text\n" + scanBlocksHelp + "```\n"
	if got != want || strings.Contains(got, "secret") {
		t.Errorf("got\n%s", got)
	}
}
