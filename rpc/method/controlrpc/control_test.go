package controlrpc_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/controlrpc"
)

func newTable(t *testing.T, n controlrpc.Node) *command.Table {
	t.Helper()
	table, err := command.NewTable(controlrpc.Commands(n))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// call returns the result, or the error that the client gets, as JSON.
func call(t *testing.T, table *command.Table, method, params string) string {
	t.Helper()
	v, err := jsontree.Parse([]byte(params))
	if err != nil {
		t.Fatal(err)
	}
	var result any
	c, err := table.Prepare(command.Caller{}, method, v)
	if err == nil {
		result, err = c.Run(t.Context())
	}
	if err != nil {
		result, _ = table.Reveal(err)
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCommandsAreDocumented(t *testing.T) {
	if err := newTable(t, controlrpc.Node{}).Check(); err != nil {
		t.Error(err)
	}
}

func TestHelp(t *testing.T) {
	table := newTable(t, controlrpc.Node{})
	const want = `"== Control ==\ngetclusterinfo\ngetmemoryinfo ( \"mode\" )\ngetrpcinfo\nhelp ( \"command\" )\n` +
		`logging ( [\"include_category\",...] [\"exclude_category\",...] )\nstop\nuptime\n\n== Zmq ==\ngetzmqnotifications"`
	if got := call(t, table, "help", `[]`); got != want {
		t.Errorf("got %s", got)
	}
	if got := call(t, table, "help", `[null]`); got != `{"code":-3,"message":"JSON value of type null is not of expected type string"}` {
		t.Errorf("got %s", got)
	}
	if got := call(t, table, "help", `["dump_all_command_conversions"]`); !strings.Contains(
		got, `["help",0,"command",true],["logging",0,"include",false],["logging",1,"exclude",false],["stop",0,"wait",false]`,
	) {
		t.Errorf("got %s", got)
	}
	if got := call(t, table, "help", `["nosuch"]`); got != `"help: unknown command: nosuch"` {
		t.Errorf("got %s", got)
	}
	if got := call(t, table, "help", `{"command":"echo"}`); !strings.HasPrefix(got, `"echo ( \"arg0\" \"arg1\" `) {
		t.Errorf("got %s", got)
	}
}

func TestEcho(t *testing.T) {
	table := newTable(t, controlrpc.Node{})
	for params, want := range map[string]string{
		`[]`: `[]`, `["a",1.0,null]`: `["a",1.0,null]`, `{"arg9":null}`: `[null,null,null,null,null,null,null,null,null,null]`,
	} {
		for _, method := range []string{"echo", "echojson"} {
			if got := call(t, table, method, params); got != want {
				t.Errorf("%s %s: got %s", method, params, got)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t, controlrpc.Node{Started: time.Now(), LogPath: "/x/debug.log"})
		time.Sleep(90*time.Second + 999*time.Millisecond)
		if got := call(t, table, "uptime", `[]`); got != "90" {
			t.Errorf("uptime: %s", got)
		}
		set := newTable(
			t, controlrpc.Node{Started: time.Now(), Now: func() time.Time { return time.Now().Add(time.Hour) }},
		)
		if got := call(t, set, "uptime", `[]`); got != "3600" {
			t.Errorf("uptime by the node's clock: %s", got)
		}
		const want = `{"active_commands":[{"method":"getrpcinfo","duration":0}],"logpath":"/x/debug.log"}`
		if got := call(t, table, "getrpcinfo", `[]`); got != want {
			t.Errorf("got %s", got)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stops := 0
		table := newTable(t, controlrpc.Node{Name: "Bitcoin Core", Stop: func() { stops++ }})
		for params, want := range map[string]time.Duration{
			`[]`: 0, `[null]`: 0, `[1500]`: 1500 * time.Millisecond, `[-5]`: 0, `[2000000000]`: time.Minute,
		} {
			began, before := time.Now(), stops
			if got := call(t, table, "stop", params); got != `"Bitcoin Core stopping"` {
				t.Errorf("%s: got %s", params, got)
			}
			if waited := time.Since(began); waited != want || stops != before+1 {
				t.Errorf("%s: waited %v, stopped %d times", params, waited, stops-before)
			}
		}
	})
}

// Control calls must pass calls that wait; echo is work like any other.
func TestLanes(t *testing.T) {
	table := newTable(t, controlrpc.Node{})
	for method, want := range map[string]bool{
		"help": true, "stop": true, "uptime": true, "getrpcinfo": true, "echo": false, "echojson": false,
	} {
		c, err := table.Prepare(command.Caller{}, method, nil)
		if err != nil || c.Control() != want {
			t.Errorf("%s: control %v, %v", method, c.Control(), err)
		}
	}
}

func TestMemoryInfo(t *testing.T) {
	table := newTable(t, controlrpc.Node{})
	info, err := jsontree.Parse([]byte(call(t, table, "getmemoryinfo", `[]`)))
	if err != nil {
		t.Fatal(err)
	}
	number := func(key string) int64 {
		n, err := info.Get("locked").Get(key).AsInt64()
		if err != nil {
			t.Errorf("%s: %v", key, err)
		}
		return n
	}
	if used, free := number("used"), number("free"); used <= 0 || free < 0 || used+free != number("total") {
		t.Errorf("got %v", info)
	}
	if number("chunks_used") <= 0 || number("locked") != 0 {
		t.Errorf("got %v", info)
	}
	for mode, want := range map[string]string{
		`"mallocinfo"`: `"code":-8,"message":"mallocinfo mode not available"`,
		`"foobar"`:     `"code":-8,"message":"unknown mode foobar"`,
	} {
		if got := call(t, table, "getmemoryinfo", "["+mode+"]"); !strings.Contains(got, want) {
			t.Errorf("%s: got %s", mode, got)
		}
	}
}

func TestLogging(t *testing.T) {
	filter, err := corelog.NewFilter([]string{"net"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(t, controlrpc.Node{Log: filter, Unlisted: []string{"kernel", "privatebroadcast"}})
	on := func(params string) (on []string) {
		t.Helper()
		state, err := jsontree.Parse([]byte(call(t, table, "logging", params)))
		if err != nil {
			t.Fatal(err)
		}
		for category, value := range state.Members() {
			if value.String() == "true" {
				on = append(on, category)
			}
		}
		return on
	}
	for _, step := range []struct{ params, want string }{
		{`[]`, "net"},
		{`[["rpc", "http"]]`, "http net rpc"},
		{`[["zmq"], ["net", "zmq"]]`, "http rpc"}, // what is in both is off
		{`[null, ["all"]]`, ""},
		{`[["1"], ["rpc"]]`, ""}, // all but rpc: see below
	} {
		got := strings.Join(on(step.params), " ")
		if step.params == `[["1"], ["rpc"]]` {
			if strings.Contains(got, "rpc") || !strings.Contains(got, "net proxy prune") {
				t.Errorf("all but one: %s", got)
			}
			continue
		}
		if got != step.want {
			t.Errorf("%s: %s, want %s", step.params, got, step.want)
		}
	}
	before := call(t, table, "logging", `[]`)
	for _, bad := range []string{"abc", "none", "0"} {
		got := call(t, table, "logging", `[["net", "`+bad+`"]]`)
		if !strings.Contains(got, `"code":-8,"message":"unknown logging category `+bad+`"`) {
			t.Errorf("got %s", got)
		}
	}
	if call(t, table, "logging", `[]`) != before {
		t.Error("a refused call has changed what is logged")
	}
	if got := call(t, newTable(t, controlrpc.Node{}), "logging", `[]`); !strings.Contains(got, "-1") {
		t.Errorf("without a log: %s", got)
	}
}

// A category that is gone is passed over with a warning, and is not listed; those of later versions are not either.
func TestLoggingNames(t *testing.T) {
	filter, err := corelog.NewFilter(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	table := newTable(t, controlrpc.Node{
		Log: filter, Unlisted: []string{"privatebroadcast"}, GoneCategory: "libevent",
		Warn: func(line string, _ ...any) { warned = append(warned, line) },
	})
	all := call(t, table, "logging", `[["all"]]`)
	for _, name := range []string{"libevent", "privatebroadcast"} {
		if strings.Contains(all, name) {
			t.Errorf("%s is listed: %s", name, all)
		}
	}
	if strings.Contains(all, "false") || !strings.Contains(all, `"kernel":true`) {
		t.Errorf("all: %s", all)
	}
	for _, params := range []string{`[["libevent"]]`, `[[], ["libevent"]]`} {
		if got := call(t, table, "logging", params); got != all {
			t.Errorf("%s: %s", params, got)
		}
	}
	const want = "The logging category `libevent` is deprecated, does nothing, and will be removed in a future version"
	if len(warned) != 2 || warned[0] != want || warned[1] != want {
		t.Errorf("warned of %q", warned)
	}
}

func TestEchoes(t *testing.T) {
	table := newTable(t, controlrpc.Node{})
	bug := call(t, table, "echo", `[0,0,0,0,0,0,0,0,0,"trigger_internal_bug"]`)
	if !strings.Contains(bug, `"code":-1,"message":"Internal bug detected: request.params[9]`) {
		t.Errorf("got %s", bug)
	}
	if got := call(t, table, "echoipc", `["x"]`); got != `"x"` {
		t.Errorf("got %s", got)
	}
}
