package rpc

import "container/list"

// A lane is a queue of queues: each of them is served in its turn, however long it is. Waiters are in lanes that have
// no lanes below. The zero lane is an empty one.
type lane struct {
	name  string
	above *lane         // nil: of the highest
	place *list.Element // among the lanes above

	below   map[string]*lane
	order   list.List // of the lanes below, the next first
	waiters list.List // the last first
	size    int       // how many wait here and below
	oldest  bool      // the last pick took the waiter that had waited longest
}

// A waiter is in a lane until its turn comes.
type waiter struct {
	turn  chan turn // with room for it; closed: it was put out
	in    *lane     // nil: its turn has come
	place *list.Element
}

// lane returns the lane of a name below this one. A waiter has to be put into it.
func (l *lane) lane(name string) *lane {
	found := l.below[name]
	if found == nil {
		if l.below == nil {
			l.below = map[string]*lane{}
		}
		found = &lane{name: name, above: l}
		found.place = l.order.PushBack(found)
		l.below[name] = found
	}
	return found
}

func (l *lane) empty() bool { return l.size == 0 }

func (l *lane) add(w *waiter) {
	w.in, w.place = l, l.waiters.PushFront(w)
	for ; l != nil; l = l.above {
		l.size++
	}
}

// putOut ends the wait of the oldest login in the fullest lane.
func (l *lane) putOut() {
	for len(l.below) > 0 {
		var fullest *lane
		for _, below := range l.below {
			if fullest == nil || below.size > fullest.size {
				fullest = below
			}
		}
		l = fullest
	}
	w := l.waiters.Back().Value.(*waiter)
	w.leave()
	close(w.turn)
}

// pick takes out the waiter whose turn it is, nil where none waits. It is the newest and the oldest waiter in turns.
// A guesser that keeps many waiters in a lane has few of the newest; a guesser that comes again and again has none of
// the oldest.
func (l *lane) pick() *waiter {
	for l.order.Len() > 0 {
		first := l.order.Front()
		l.order.MoveToBack(first)
		l = first.Value.(*lane)
	}
	if l.waiters.Len() == 0 {
		return nil
	}
	next := l.waiters.Front()
	if l.oldest = !l.oldest; l.oldest {
		next = l.waiters.Back()
	}
	w := next.Value.(*waiter)
	w.leave()
	return w
}

// leave takes a waiter out of its lane, and out of those above the lanes that are empty then.
func (w *waiter) leave() {
	l := w.in
	l.waiters.Remove(w.place)
	w.in = nil
	for ; l != nil; l = l.above {
		l.size--
		if l.above != nil && l.empty() {
			delete(l.above.below, l.name)
			l.above.order.Remove(l.place)
		}
	}
}
