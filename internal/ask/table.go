package ask

import (
	"fmt"
	"reflect"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/messages"
)

// A Handler is one kind of request and the method of an actor A that serves it, made by [On].
type Handler[A any] struct {
	call   reflect.Type // of the message: *Call[Q, R]
	served Served
	handle func(A, actor.Context)
}

// On makes the handler of the requests that method takes: Q, R and A follow from its type.
func On[A any, Q messages.Request[R], R any](method func(A, actor.Context, *Call[Q, R])) Handler[A] {
	return Handler[A]{
		call: reflect.TypeFor[*Call[Q, R]](), served: Serve[Q](),
		handle: func(a A, c actor.Context) { method(a, c, c.Message().(*Call[Q, R])) },
	}
}

// AtOnce makes the handler of the requests that method answers without waiting for anything.
func AtOnce[A any, Q messages.Request[R], R any](method func(A, Q) (R, error)) Handler[A] {
	return On(func(a A, _ actor.Context, m *Call[Q, R]) { m.Answer(method(a, m.Req)) })
}

// A Table has all requests that an actor A serves.
type Table[A any] struct {
	Served []Served // for [Spawn]

	handlers map[reflect.Type]func(A, actor.Context)
}

// TableOf makes a table. It panics if two handlers serve the same request.
func TableOf[A any](handlers ...Handler[A]) *Table[A] {
	t := &Table[A]{handlers: make(map[reflect.Type]func(A, actor.Context), len(handlers))}
	for _, h := range handlers {
		if t.handlers[h.call] != nil {
			panic(fmt.Sprintf("two handlers of %v", h.call))
		}
		t.Served = append(t.Served, h.served)
		t.handlers[h.call] = h.handle
	}
	return t
}

// Serve has the handler of the message in c serve it. A message without one is refused, see [Unhandled]. It is the
// default case of a behaviour.
func (t *Table[A]) Serve(a A, c actor.Context) {
	if handle := t.handlers[reflect.TypeOf(c.Message())]; handle != nil {
		handle(a, c)
		return
	}
	Unhandled(c)
}
