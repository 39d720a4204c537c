package actortest

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// injected is what an actor panics with in a test of [Suite].
const injected = "injected fault"

// A place is where a fault may be put: one kind of message of one actor.
type place struct{ actor, message string }

func (p place) String() string { return p.actor + " " + p.message }

// A fault is a panic at a place, over the message that comes there as so many-th.
type fault struct {
	place

	count int
	after bool // the message has been handled when the panic comes
}

func (f fault) String() string {
	if f.after {
		return "after " + f.place.String()
	}
	return "before " + f.place.String()
}

// faults sees each message that the actors of a System handle, and makes one of
// them panic.
type faults struct {
	t       testing.TB
	root    *actor.RootContext
	subject string // its actor

	mu    sync.Mutex
	seen  map[place]int // nil: not counted
	armed fault         // count 0: none
	fired bool

	settled bool // what is seen is counted no more
}

// started begins to count what comes to the actors.
func (f *faults) started(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subject, f.seen = id, make(map[place]int)
}

// stopCounting keeps what was seen as it is.
func (f *faults) stopCounting() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settled = true
}

// placesBelow returns where the actor of that name and its children may fail.
func (f *faults) placesBelow(name string) []place {
	var places []place
	if !strings.Contains(name, "/") { // else its parent starts it, and may be told to start it again
		places = append(places, place{name, "*actor.Started"})
	}
	for p := range f.seen {
		if (p.actor == name || strings.HasPrefix(p.actor, name+"/")) && mayFail(p.message) &&
			p.message != "*actor.Started" {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.String(), b.String()) })
	return places
}

func (f *faults) arm(next fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed, f.fired = next, false
}

// disarm reports whether the fault has come.
func (f *faults) disarm() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed.count = 0
	return f.fired
}

// underTest has the faults of a test that Suite runs, by its testing.TB: the rigs of
// the packages make their System themselves.
var underTest sync.Map

// options returns those that give the faults of a test to an actor and its children.
func (f *faults) options() []actor.PropsOption {
	return []actor.PropsOption{
		actor.WithReceiverMiddleware(f.receive),
		actor.WithSpawnMiddleware(func(next actor.SpawnFunc) actor.SpawnFunc {
			return func(
				sys *actor.ActorSystem, id string, props *actor.Props, parent actor.SpawnerContext,
			) (*actor.PID, error) {
				return next(sys, id, props.Configure(f.options()...), parent)
			}
		}),
	}
}

func (f *faults) receive(next actor.ReceiverFunc) actor.ReceiverFunc {
	return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
		switch fails, after := f.note(place{nameOf(c.Self().Id), typeOf(env.Message)}); {
		case fails && after:
			f.watch(func() { next(c, env) })
			panic(injected)
		case fails:
			panic(injected)
		default:
			f.watch(func() { next(c, env) })
		}
	}
}

// watch reports a panic of the actor's own.
func (f *faults) watch(handle func()) {
	done := false
	defer func() {
		if !done {
			f.t.Errorf("panicked by itself:\n%s", debug.Stack())
		}
	}()
	handle()
	done = true
}

// note reports whether the message that comes to a place is to fail.
func (f *faults) note(p place) (fails, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen != nil && !f.settled {
		f.seen[p]++
	}
	if f.armed.count == 0 || p != f.armed.place {
		return false, false
	}
	f.armed.count--
	f.fired = f.armed.count == 0
	return f.fired, f.armed.after
}

// nameOf returns an actor's name with N for each number.
func nameOf(id string) string {
	name := make([]byte, 0, len(id))
	for i := range len(id) {
		switch digit := '0' <= id[i] && id[i] <= '9'; {
		case !digit:
			name = append(name, id[i])
		case i == 0 || name[len(name)-1] != 'N' || id[i-1] == 'N':
			name = append(name, 'N')
		}
	}
	return string(name)
}

// typeOf returns the type of a message, without the paths of packages; for a call, the type of its request.
func typeOf(m any) string {
	name := fmt.Sprintf("%T", m)
	if call, ok := strings.CutPrefix(name, "*ask.Call["); ok {
		name, _, _ = strings.Cut(call, ",")
	}
	if !strings.Contains(name, "/") {
		return name
	}
	short := make([]byte, 0, len(name))
	from := 0 // where a path begins, or a name
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/':
			from = i + 1
		case !strings.ContainsRune("_.-", rune(c)) && !isWord(c):
			short = append(short, name[from:i+1]...)
			from = i + 1
		}
	}
	return string(append(short, name[from:]...))
}

func isWord(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// faultsOf returns the options for the actors of a test in their system.
func faultsOf(tb testing.TB, root *actor.RootContext) []actor.PropsOption {
	tb.Helper()
	f, ok := underTest.Load(tb)
	if !ok {
		return nil
	}
	f.(*faults).root = root
	return f.(*faults).options()
}
