package forward

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
)

// A login never has more rights than it last had, whatever Core does. A login that Core has not
// accepted has none while Core cannot be asked. Rights that were narrowed or removed at Core are
// gone once Core is back.
func TestRightsOverTime(t *testing.T) {
	const all = "chsw"
	first := map[string]string{
		"full": all, "low": "c", "was": all, "scan": "chs", "later": all, "cookie 1": all, "cookie 2": "",
	}
	second := map[string]string{
		"full": all, "low": "c", "was": "", "scan": "c", "later": "c", "cookie 1": "", "cookie 2": all,
	}
	nothing := map[string]string{}
	for user := range first {
		nothing[user] = ""
	}
	with := func(of map[string]string, stranger string) map[string]string {
		of = maps.Clone(of)
		of["stranger"] = stranger
		return of
	}
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	minute := func() { g.ago += remembered }
	usual := g.waits
	hang := func() { // nothing answers: it makes no difference how long that is waited for
		core.set(hung)
		minute()
		g.waits.ask, g.waits.judge = 50*time.Millisecond, 20*time.Millisecond
	}
	var held []command.Login
	for _, step := range []struct {
		name string
		do   func()
		want map[string]string
	}{
		{"killed before it was ever asked", func() { g.lose(t) }, with(nothing, "")},
		{"it answers", func() { core.set(up) }, first},
		{"killed", func() { g.lose(t) }, with(first, "")},
		{"killed a minute ago", minute, with(first, "")},
		{"hung", hang, first},
		{"flooded", func() { core.set(busy); minute() }, with(first, "")},
		{"it answers again", func() { core.set(up) }, with(first, all)},
		{"restarted with less", func() {
			for _, user := range []string{"was", "scan"} {
				held = append(held, g.login(t.Context(), user, password(user)))
			}
			g.lose(t)
			core.start(t, narrow, "2")
		}, with(second, all)},
		{"killed with less", func() { g.lose(t); minute() }, with(second, all)},
		{"hung with less", hang, second},
		{"SIGHUP while it is away", func() { g.lose(t); _ = g.reload() }, with(nothing, "")},
		{"restarted with more", func() { core.start(t, wide, "1") }, with(first, all)},
		{"SIGHUP after its list was narrowed", func() {
			core.write(t, configuration{
				"full": nil, "low": {"getblockcount"}, "was": nil, "scan": {"getblockcount"}, "later": nil,
			})
			if err := g.reload(); err != nil {
				t.Error(err)
			}
		}, map[string]string{"full": all, "low": "c", "was": all, "scan": "c", "later": all}},
		{"a configuration that cannot be read", func() {
			core.file(t, "bitcoin.conf", "nonsense")
			if g.reload() == nil {
				t.Error("no error")
			}
		}, map[string]string{"full": all, "low": "c", "was": all, "scan": "c", "later": all}},
	} {
		step.do()
		check := func(user, want string) {
			name, secret := user, password(user)
			if cookie, is := strings.CutPrefix(user, "cookie "); is {
				name, secret = cookieName, cookie
			}
			if got := rightsOf(g.login(t.Context(), name, secret)); got != want {
				t.Errorf("%s: %s may %q, want %q", step.name, user, got, want)
			}
			if strings.HasPrefix(step.name, "hung") || user != "full" { // a guess waits for Core
				return
			}
			if got := rightsOf(g.login(t.Context(), name, secret+"x")); got != "" {
				t.Errorf("%s: a wrong password of %s may %q", step.name, user, got)
			}
		}
		var group sync.WaitGroup
		for user, want := range step.want {
			group.Go(func() { check(user, want) })
		}
		group.Wait()
		g.waits.ask, g.waits.judge = usual.ask, usual.judge
		if step.name == "killed with less" && (rightsOf(held[0]) != "" || rightsOf(held[1]) != "c") {
			t.Errorf("what has logged in before may %q, %q", rightsOf(held[0]), rightsOf(held[1]))
		}
	}
}

// The same in any order of events, against what Core said to each login last.
func TestRightsInAnyOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	core := newCoreSim(t)
	configurations := []configuration{wide, narrow, {"full": {"getblockhash"}, "scan": {}, "was": {"scanblocks"}}}
	now := wide
	core.start(t, now, "1")
	g := newGate(t, core, false)
	can := func(user string) string { // by the configuration
		methods, known := now[user]
		switch {
		case !known:
			return ""
		case methods == nil:
			return "chsw"
		}
		var may strings.Builder
		for _, of := range letters {
			if slices.Contains(methods, of.method) {
				may.WriteString(of.letter)
			}
		}
		return may.String()
	}
	users := slices.Sorted(maps.Keys(wide))
	last := map[string]string{} // what a login could when Core was asked about it last
	answers := true
	for i := range 400 {
		switch random.IntN(12) {
		case 0:
			g.lose(t)
			now, answers = configurations[random.IntN(len(configurations))], true
			core.start(t, now, strconv.Itoa(i))
		case 1:
			g.lose(t)
			answers = false
		case 2:
			core.set(busy)
			answers = false
		case 3:
			if m, _ := core.state(); m == busy { // a killed Core comes back by a start
				core.set(up)
				answers = true
			}
		case 4:
			g.ago += remembered
		case 5:
			if err := g.reload(); err != nil {
				t.Fatal(err)
			}
			clear(last)
		default:
			user := users[random.IntN(len(users))]
			if answers {
				if last[user] = can(user); last[user] == "" && now[user] == nil {
					delete(last, user)
				}
			}
			if got := rightsOf(g.login(t.Context(), user, password(user))); got != last[user] {
				t.Fatalf("seed %d, step %d: %s may %q, want %q", seed, i, user, got, last[user])
			}
		}
	}
}
