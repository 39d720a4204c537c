package command_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// versioned declares a result with members of several versions of Bitcoin Core: at the top, in an object, in arrays,
// under keys that callers choose, and of two alternatives.
func versioned() []command.Result {
	member := func(key string, since, until int, inner ...command.Result) command.Result {
		r := command.Result{Type: command.Number, Key: key, Since: since, Until: until, Help: key}
		if len(inner) > 0 {
			r.Type, r.Inner = command.Object, inner
		}
		return r
	}
	inside := member("in", 0, 0, member("new", 32, 0), member("old", 0, 32), member("both", 0, 0))
	switched := command.Result{Type: command.Bool, Key: "going", Until: 32, Switch: "stay", Help: "g"}
	return []command.Result{
		{Type: command.Object, Inner: []command.Result{
			member("first", 32, 0), member("a", 0, 0), inside, switched,
			{Type: command.Array, Key: "list", Inner: []command.Result{{Type: command.Object, Inner: inside.Inner}}},
			{Type: command.UserKeys, Key: "keys", Inner: []command.Result{{Type: command.Object, Inner: inside.Inner}}},
			member("last", 0, 32),
		}},
		{Type: command.Object, When: "else", Inner: []command.Result{
			{Type: command.Elision, Help: "as before"}, member("more", 0, 32),
		}},
	}
}

func replyOf(t *testing.T, table *command.Table) string {
	t.Helper()
	got, err := table.Do(t.Context(), command.Caller{}, "m", []byte("null"))
	if err != nil {
		return "error " + err.Error()
	}
	return string(got)
}

func replying(reply string) command.Command {
	return command.Command{
		Name: "m", Results: versioned(), Summary: "Replies.",
		Run: func(context.Context, *command.Args) (any, error) { return jsontree.Parse([]byte(reply)) },
	}
}

// A reply has what the version spoken as has, wherever it stands, and nothing else.
func TestSpoken(t *testing.T) {
	for _, test := range []struct{ reply, in30, in32, kept string }{
		{`{"first":1,"a":2}`, `{"a":2}`, `{"first":1,"a":2}`, ""},
		{`{"a":2,"last":3}`, `{"a":2,"last":3}`, `{"a":2}`, ""},
		{`{"first":1}`, `{}`, `{"first":1}`, ""},
		{`{"first":1,"last":2}`, `{"last":2}`, `{"first":1}`, ""},
		{`{"a":1,"more":2,"last":3}`, `{"a":1,"more":2,"last":3}`, `{"a":1}`, ""},
		{`{}`, `{}`, `{}`, ""},
		{`{"first":{"last":[1,{}]},"a":"}\"],{\\"}`, `{"a":"}\"],{\\"}`, `{"first":{"last":[1,{}]},"a":"}\"],{\\"}`, ""},
		{`{"first":"\\\"","a":""}`, `{"a":""}`, `{"first":"\\\"","a":""}`, ""},
		{`{"a":{"first":1}}`, `{"a":{"first":1}}`, `{"a":{"first":1}}`, ""},
		{
			`{"in":{"new":1,"old":2,"both":3},"a":4}`, `{"in":{"old":2,"both":3},"a":4}`, `{"in":{"new":1,"both":3},"a":4}`, "",
		},
		{
			`{"list":[{"new":1},{"both":2,"old":3},{},[]]}`, `{"list":[{},{"both":2,"old":3},{},[]]}`,
			`{"list":[{"new":1},{"both":2},{},[]]}`, "",
		},
		{
			`{"keys":{"new":{"new":1},"k":{"both":[],"old":1,"new":2}}}`, `{"keys":{"new":{},"k":{"both":[],"old":1}}}`,
			`{"keys":{"new":{"new":1},"k":{"both":[],"new":2}}}`, "",
		},
		{`{"list":5,"keys":[1],"in":null}`, `{"list":5,"keys":[1],"in":null}`, `{"list":5,"keys":[1],"in":null}`, ""},
		{`{"going":true,"a":1}`, `{"going":true,"a":1}`, `{"a":1}`, `{"going":true,"a":1}`},
		{`[{"first":1}]`, `[{"first":1}]`, `[{"first":1}]`, ""},
		{`"first"`, `"first"`, `"first"`, ""},
		{`null`, `null`, `null`, ""},
		{`-12.5e3`, `-12.5e3`, `-12.5e3`, ""},
	} {
		if test.kept == "" {
			test.kept = test.in32
		}
		for _, version := range []struct {
			table *command.Table
			want  string
		}{
			{tableOf(t, replying(test.reply)), test.reply},
			{tableOf(t, replying(test.reply)).Speak(30), test.in30},
			{tableOf(t, replying(test.reply)).Speak(30, "stay"), test.in30},
			{tableOf(t, replying(test.reply)).Speak(32), test.in32},
			{tableOf(t, replying(test.reply)).Speak(32, "stay"), test.kept},
		} {
			if got := replyOf(t, version.table); got != version.want {
				t.Errorf("%s: %s, want %s", test.reply, got, version.want)
			}
		}
	}
}

// Results are checked against what the version spoken as has.
func TestSpokenResultsAreChecked(t *testing.T) {
	c := replying(`{"first":1,"a":2,"last":3}`)
	c.Results = []command.Result{{Type: command.Object, Inner: []command.Result{
		{Type: command.Number, Key: "first", Since: 32}, {Type: command.Number, Key: "a"},
		{Type: command.Number, Key: "last", Until: 32},
	}}}
	for version, want := range map[int]string{30: `{"a":2,"last":3}`, 32: `{"first":1,"a":2}`} {
		if got := replyOf(t, tableOf(t, c).Speak(version).CheckResults()); got != want {
			t.Errorf("%d: %s", version, got)
		}
	}
	c.Results[0].Inner[0].Since = 0
	c.Results[0].Inner[0].Key = "other"
	const wrong = "first: key returned that was not in doc"
	if got := replyOf(t, tableOf(t, c).Speak(30).CheckResults()); !strings.Contains(got, wrong) {
		t.Errorf("a wrong result: %s", got)
	}
}

// Help and the description for programs show what the version spoken as has, and mark what others have not.
func TestSpokenHelp(t *testing.T) {
	gone := command.Command{Name: "gone", Until: 32, Run: scanBlocks.Run}
	for _, test := range []struct {
		version  int
		has, not []string
	}{
		{30, []string{"(json object)", `"last" : n`, `"old" : n`, "(numeric, until 32) last"}, []string{"first", "new"}},
		{32, []string{`"first" : n`, `"new" : n`, "(numeric, since 32) first"}, []string{"last", "old", "going"}},
	} {
		table := tableOf(t, replying(`{}`), gone).Speak(test.version)
		help := table.Help("m")
		for _, words := range test.has {
			if !strings.Contains(help, words) {
				t.Errorf("%d: help lacks %s:\n%s", test.version, words, help)
			}
		}
		for _, words := range test.not {
			if strings.Contains(help, `"`+words+`"`) {
				t.Errorf("%d: help has %s:\n%s", test.version, words, help)
			}
		}
		has := table.Lookup("gone") != nil
		if has != (test.version == 30) || has != strings.Contains(table.Help(""), "gone") {
			t.Errorf("%d: has a method that is gone: %v", test.version, has)
		}
	}
	text := describe(t, replying(`{}`), gone).String()
	for _, words := range []string{
		`"first":{"type":"number","description":"first","x-since":32}`,
		`"last":{"type":"number","description":"last","x-until":32}`, `"x-effect":[],"x-until":32`, `"required":["a","in","list","keys"]`,
	} {
		if !strings.Contains(text, words) {
			t.Errorf("the description lacks %s:\n%s", words, text)
		}
	}
}

// Speaking as a version changes nothing of what several tables share.
func TestSpeakShares(t *testing.T) {
	shared := versioned()
	before := fmt.Sprintf("%+v", shared)
	c := replying(`{"first":1}`)
	c.Results = shared
	tableOf(t, c).Speak(30)
	if after := fmt.Sprintf("%+v", shared); after != before {
		t.Errorf("was %s\nis  %s", before, after)
	}
}

// A member may not be of other versions in one alternative than in another.
func TestContradictingVersions(t *testing.T) {
	c := replying(`{}`)
	c.Results = append(c.Results, command.Result{Type: command.Object, Inner: []command.Result{
		{Type: command.Number, Key: "first"},
	}})
	if err := tableOf(t, c).Check(); err == nil || !strings.Contains(err.Error(), "result .first is of versions") {
		t.Errorf("%v", err)
	}
}

// Of any reply the same is left out in place as by a walk over its tree.
func TestSpokenAsTree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3_000 {
		reply := randomJSON(random, 4)
		for version, gone := range map[int][]string{30: {"first"}, 32: {"last", "more", "going"}} {
			want := without(reply, version, gone).String()
			if got := replyOf(t, tableOf(t, replying(reply.String())).Speak(version)); got != want {
				t.Fatalf("%d: %s\nbecomes %s\nwant    %s", version, reply, got, want)
			}
		}
	}
}

// without leaves out members of the object that versioned declares.
func without(v *jsontree.Value, version int, gone []string) *jsontree.Value {
	inner := func(v *jsontree.Value) *jsontree.Value {
		lacks := map[int]string{30: "new", 32: "old"}
		return filtered(v, func(key string, m *jsontree.Value) *jsontree.Value {
			if key == lacks[version] {
				return nil
			}
			return m
		})
	}
	return filtered(v, func(key string, m *jsontree.Value) *jsontree.Value {
		switch {
		case slices.Contains(gone, key):
			return nil
		case key == "in":
			return inner(m)
		case key == "keys":
			return filtered(m, func(_ string, m *jsontree.Value) *jsontree.Value { return inner(m) })
		case key == "list" && m.Kind() == jsontree.Array:
			list := jsontree.NewArray()
			for _, element := range m.Elements() {
				list.Append(inner(element))
			}
			return list
		}
		return m
	})
}

// filtered returns an object with its members as change returns them, nil for none; other values stay.
func filtered(v *jsontree.Value, change func(string, *jsontree.Value) *jsontree.Value) *jsontree.Value {
	if v.Kind() != jsontree.Object {
		return v
	}
	left := jsontree.NewObject()
	for key, m := range v.Members() {
		if m = change(key, m); m != nil {
			left.Add(key, m)
		}
	}
	return left
}

func randomJSON(random *rand.Rand, depth int) *jsontree.Value {
	keys := []string{"first", "a", "in", "list", "keys", "last", "more", "going", "new", "old", "both", `q"\`}
	switch kind := random.IntN(6); {
	case kind < 3 && depth > 0:
		v := jsontree.NewObject()
		for _, i := range random.Perm(len(keys))[:random.IntN(5)] {
			v.Add(keys[i], randomJSON(random, depth-1))
		}
		return v
	case kind == 3 && depth > 0:
		v := jsontree.NewArray()
		for range random.IntN(4) {
			v.Append(randomJSON(random, depth-1))
		}
		return v
	case kind == 4:
		return jsontree.NewString([]string{"", `\`, `\"`, `],}{[":`, "first"}[random.IntN(5)])
	}
	return jsontree.NewNull()
}
