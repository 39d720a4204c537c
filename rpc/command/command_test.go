package command_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

func answerArgs(_ context.Context, a *command.Args) (any, error) {
	values := jsontree.NewArray()
	for i := range a.Len() {
		values.Append(a.Value(i))
	}
	return values, nil
}

// scanBlocks has every kind of parameter that needs care.
var scanBlocks = command.Command{
	Name:     "scanblocks",
	Category: command.Blockchain,
	About:    command.Filters, Effect: command.Reads, At: command.Tip | command.Block,
	Summary: "Finds the blocks whose filter matches.",
	Params: []command.Param{
		{Name: "action", Type: command.String, Help: "what to do"},
		{
			Name: "scanobjects", Type: command.Array, Optional: true, Usage: "[scanobjects,...]",
			Help: "what to look for",
			Inner: []command.Param{
				{Name: "descriptor", Type: command.String, Optional: true, Help: "a descriptor"},
				{Type: command.Object, Optional: true, Help: "a descriptor with a range", Inner: []command.Param{
					{Name: "desc", Type: command.String, Help: "the descriptor"},
					{Name: "range", Type: command.Range, Default: "1000", Help: "end, or begin and end"},
				}},
			},
		},
		{Name: "start_height", Type: command.Number, Default: "0", Help: "first block"},
		{Name: "stop_height", Type: command.Number, Default: "the tip", Help: "last block"},
		{Name: "filtertype", Type: command.String, Default: "basic", Help: "which filter"},
		{
			Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options", Help: "more",
			Inner: []command.Param{
				{Name: "filter_false_positives", Type: command.Bool, Default: "false", Help: "look into the blocks"},
			},
		},
	},
	Results: []command.Result{
		{Type: command.Object, When: "when action=='start'", Inner: []command.Result{
			{Type: command.Number, Key: "from_height", Help: "first height"},
			{Type: command.Array, Key: "relevant_blocks", Help: "the blocks", Inner: []command.Result{
				{Type: command.Hex, Help: "a block hash"},
			}},
			{Type: command.Bool, Key: "completed", Help: "whether it ended by itself"},
		}},
		{Type: command.Null, When: "when action=='status' and there is no scan"},
	},
	Examples: []string{`["start", ["raw(51)"], 0]`, `["status"]`},
	Run:      answerArgs,
}

// Examples are calls as they are typed into a shell: those with named parameters, and texts with
// quotes, too.
func TestExamplesInAShell(t *testing.T) {
	table := newTable(t, command.Command{
		Name: "pay", Category: command.Wallet, Summary: "Pays.", Run: answerArgs,
		Params: []command.Param{
			{Name: "to", Type: command.Array},
			{Name: "note", Type: command.String, Optional: true},
			{Name: "rate", Type: command.Number, Optional: true},
		},
		Examples: []string{
			`[["it's"], "it's"]`, `{"to": ["a", {"b": 0.25}], "note": "sean's", "rate": 1}`,
		},
	})
	help := table.Help("pay")
	for _, want := range []string{
		"> trawl-cli pay '[\"it'\\''s\"]' \"it's\"\n",
		"> trawl-cli -named pay to='[\"a\",{\"b\":0.25}]' note=\"sean's\" rate=1\n",
		`"params": [["it'\''s"], "it'\''s"]}' -H`,
		`"params": {"to": ["a", {"b": 0.25}], "note": "sean'\''s", "rate": 1}}' -H`,
	} {
		if !strings.Contains(help, want) {
			t.Errorf("no %s in\n%s", want, help)
		}
	}
}

// newTable holds scanBlocks and two small ones.
func newTable(tb testing.TB, extra ...command.Command) *command.Table {
	tb.Helper()
	echo := command.Command{Name: "echo", Category: command.Hidden, Run: answerArgs}
	for i := range 4 {
		echo.Params = append(echo.Params, command.Param{
			Name: "arg" + strconv.Itoa(i), Type: command.String, Optional: true, AnyType: true,
		})
	}
	getBlock := command.Command{
		Name: "getblock", Category: command.Blockchain, Run: answerArgs,
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex},
			{Name: "verbosity|verbose", Type: command.Number, Default: "1", AnyType: true},
		},
	}
	table, err := command.NewTable([]command.Command{scanBlocks, echo}, []command.Command{getBlock}, extra)
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

// call returns the positional arguments that a method gets, or the error that
// the client does, as JSON.
func call(tb testing.TB, table *command.Table, method, params string) string {
	tb.Helper()
	v, err := jsontree.Parse([]byte(params))
	if err != nil {
		tb.Fatal(err)
	}
	var result any
	c, err := table.Prepare(command.Caller{}, method, v)
	if err == nil {
		result, err = c.Run(tb.Context())
	}
	if err != nil {
		result, _ = table.Reveal(err)
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestPositional(t *testing.T) {
	table := newTable(t)
	tests := []struct{ name, method, params, want string }{
		{"none", "echo", `null`, `[]`},
		{"positional", "echo", `[1,null]`, `[1,null]`},
		{"by name", "echo", `{"arg0":1,"arg1":2}`, `[1,2]`},
		{"a gap is null", "echo", `{"arg2":1}`, `[null,null,1]`},
		{"an explicit null counts", "echo", `{"arg3":null}`, `[null,null,null,null]`},
		{"trailing gaps vanish", "echo", `{"arg0":1}`, `[1]`},
		{"any order", "echo", `{"arg1":2,"arg0":1}`, `[1,2]`},
		{"args", "echo", `{"args":[1,2],"arg2":3}`, `[1,2,3]`},
		{"args and a gap", "echo", `{"args":[1],"arg3":4}`, `[1,null,null,4]`},
		{"args that is no array", "echo", `{"args":5,"arg0":1}`, `[1]`},
		{"empty args", "echo", `{"args":[],"arg1":1}`, `[null,1]`},
		{
			"args over a named one", "echo", `{"args":[1,2],"arg1":3}`,
			`{"code":-8,"message":"Parameter arg1 specified twice both as positional and named argument"}`,
		},
		{"twice", "echo", `{"arg0":1,"arg0":1}`, `{"code":-8,"message":"Parameter arg0 specified multiple times"}`},
		{"unknown", "echo", `{"x":1,"arg0":1,"y":2}`, `{"code":-8,"message":"Unknown named parameter y"}`},
		{"alias", "getblock", `{"blockhash":"00","verbose":true}`, `["00",true]`},
		{"name", "getblock", `{"blockhash":"00","verbosity":2}`, `["00",2]`},
		{
			"name and alias", "getblock", `{"blockhash":"00","verbose":true,"verbosity":2}`,
			`{"code":-8,"message":"Unknown named parameter verbose"}`,
		},
		{
			"option given flat", "scanblocks", `{"action":"start","filter_false_positives":true}`,
			`["start",null,null,null,null,{"filter_false_positives":true}]`,
		},
		{
			"option with its object", "scanblocks", `{"action":"start","options":null,"filter_false_positives":true}`,
			`{"code":-8,"message":"Parameter options conflicts with parameter filter_false_positives"}`,
		},
		{
			"option over args", "scanblocks", `{"args":["start",[],0,1,"basic",{}],"filter_false_positives":true}`,
			`{"code":-8,"message":"Parameter options specified twice both as positional and named argument"}`,
		},
		{"unknown method", "nosuch", `{"a":1,"a":1}`, `{"code":-32601,"message":"Method not found"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := call(t, table, test.method, test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestNamesInAnyOrder compares calls by name with the positional call they
// stand for.
func TestNamesInAnyOrder(t *testing.T) {
	table := newTable(t)
	rapid.Check(t, func(rt *rapid.T) {
		given := rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 0, 4, rapid.ID[int]).Draw(rt, "given")
		lead := rapid.IntRange(0, 4).Draw(rt, "lead")
		want := make([]string, 0, 4)
		for len(want) < lead {
			want = append(want, `"lead"`)
		}
		members := []string{`"args":[` + strings.Join(want, ",") + `]`}
		for _, i := range given {
			if i < lead {
				return // a clash, see TestPositional
			}
			for len(want) <= i {
				want = append(want, "null")
			}
			want[i] = strconv.Itoa(i)
			members = append(members, fmt.Sprintf(`"arg%d":%d`, i, i))
		}
		got := call(t, table, "echo", "{"+strings.Join(rapid.Permutation(members).Draw(rt, "order"), ",")+"}")
		if got != "["+strings.Join(want, ",")+"]" {
			rt.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestWrongArguments(t *testing.T) {
	table := newTable(t)
	tests := []struct{ name, method, params, want string }{
		{
			"every wrong one is listed", "scanblocks", `[1,[],"x",null,"basic",[]]`,
			`{"code":-3,"message":"Wrong type passed:\n{\n` +
				`    \"Position 1 (action)\": \"JSON value of type number is not of expected type string\",\n` +
				`    \"Position 3 (start_height)\": \"JSON value of type string is not of expected type number\",\n` +
				`    \"Position 6 (options)\": \"JSON value of type array is not of expected type object\"\n}"}`,
		},
		{
			"null for a required one", "scanblocks", `{"stop_height":1}`,
			`{"code":-3,"message":"Wrong type passed:\n{\n` +
				`    \"Position 1 (action)\": \"JSON value of type null is not of expected type string\"\n}"}`,
		},
		{
			"inside of objects is not looked at", "scanblocks", `["x",[5],0,0,"",{"filter_false_positives":5}]`,
			`["x",[5],0,0,"",{"filter_false_positives":5}]`,
		},
		{"unchecked type", "getblock", `["00",[]]`, `["00",[]]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := call(t, table, test.method, test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestWrongNumberOfArguments(t *testing.T) {
	table := newTable(t)
	help, _ := jsontree.Append(nil, command.Error{Code: -1, Message: table.Help("scanblocks")})
	for _, params := range []string{`[]`, `{}`, `null`, `["a",[],0,0,"",{},7]`, `[1,2,3,4,5,6,7]`} {
		if got := call(t, table, "scanblocks", params); got != string(help) {
			t.Errorf("%s: got %s", params, got)
		}
	}
}

func TestReveal(t *testing.T) {
	busy, gone := errors.New("busy"), errors.New("gone away")
	table := newTable(t).Know(
		command.KnownError{Err: busy, As: command.Error{
			Code: command.InvalidParameter, Message: "Scan already in progress",
		}},
		command.KnownError{Err: gone, As: command.Error{Code: command.MiscError}},
	)
	_, typeErr := jsontree.NewNull().AsBool()
	tests := []struct {
		name  string
		err   error
		want  command.Error
		known bool
	}{
		{"ours", fmt.Errorf("x: %w", command.Errorf(-8, "no %d", 1)), command.Error{Code: -8, Message: "no 1"}, true},
		{"known", fmt.Errorf("x: %w", busy), command.Error{Code: -8, Message: "Scan already in progress"}, true},
		{"known in its own words", fmt.Errorf("x: %w", gone), command.Error{Code: -1, Message: "x: gone away"}, true},
		{"type", typeErr, command.Error{Code: -3, Message: "JSON value of type null is not of expected type bool"}, true},
		{"integer", jsontree.ErrIntegerRange, command.Error{Code: -1, Message: "JSON integer out of range"}, true},
		{"amount", jsontree.ErrAmountSyntax, command.Error{Code: -3, Message: "Invalid amount"}, true},
		{"server stops", context.Canceled, command.Error{Code: -9, Message: "Shutting down"}, true},
		{"anything else", errors.New("disk"), command.Error{Code: -32603, Message: "Internal error"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, known := table.Reveal(test.err); got != test.want || known != test.known {
				t.Errorf("got %v, %v", got, known)
			}
		})
	}
}

func TestNewTableRefuses(t *testing.T) {
	for name, lists := range map[string][][]command.Command{
		"duplicate":   {{scanBlocks}, {scanBlocks}},
		"no name":     {{{Run: answerArgs}}},
		"no function": {{{Name: "x"}}},
	} {
		if _, err := command.NewTable(lists...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCheck(t *testing.T) {
	good, err := command.NewTable([]command.Command{scanBlocks})
	if err != nil {
		t.Fatal(err)
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	bad := scanBlocks
	bad.Category, bad.Summary, bad.Results = "x", "", []command.Result{
		{Type: command.Object, Inner: []command.Result{{}}},
	}
	bad.Params = append([]command.Param{{Inner: []command.Param{{}}}}, bad.Params...)
	bad.Examples = []string{`[]`, `[`, `["a",5]`, `{"x":1}`}
	table, err := command.NewTable([]command.Command{bad})
	if err != nil {
		t.Fatal(err)
	}
	err = table.Check()
	for _, want := range []string{
		"no such category", "no summary", "result  has no type", "no key", "parameter without name",
		"example []: wrong number", "example [: not valid JSON", `example ["a",5]: Wrong type`, `example {"x":1}: Unknown named`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not reported", want)
		}
	}
}

func TestControlAndActive(t *testing.T) {
	var seen []command.ActiveCall
	probe := command.Command{
		Name:   "probe",
		Params: []command.Param{{Name: "what", Type: command.String}},
		Control: func(a *command.Args) bool {
			what, _ := a.String(0)
			return what == "status"
		},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			seen = a.Table.Active()
			return nil, nil
		},
	}
	table := newTable(t, probe)
	for what, want := range map[string]bool{"status": true, "start": false} {
		c, err := table.Prepare(command.Caller{}, "probe", jsontree.NewArray(jsontree.NewString(what)))
		if err != nil {
			t.Fatal(err)
		}
		if c.Control() != want {
			t.Errorf("%s: control %v", what, c.Control())
		}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 1 || seen[0].Method != "probe" || seen[0].Began.IsZero() {
		t.Errorf("while running: %v", seen)
	}
	if left := table.Active(); len(left) != 0 {
		t.Errorf("afterwards: %v", left)
	}
}

// FuzzPrepare: any params are taken or refused with an Error, never a panic.
func FuzzPrepare(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{"args":[1],"action":"x"}`, `{"args":{},"options":{},"filter_false_positives":1}`, `["start",[],0,0,"",{}]`,
	} {
		f.Add("scanblocks", []byte(seed))
		f.Add("echo", []byte(seed))
	}
	table := newTable(f)
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		v, err := jsontree.Parse(params)
		if err != nil {
			return
		}
		_, err = table.Prepare(command.Caller{}, method, v)
		if _, ours := errors.AsType[command.Error](err); err != nil && !ours {
			t.Errorf("%s %s: %v", method, params, err)
		}
	})
}
