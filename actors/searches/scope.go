package searches

import (
	"iter"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// scriptList is the scripts of a search as a [messages.ScriptSet]. Each is there once.
type scriptList []searchdb.Script

func (l scriptList) Len() int { return len(l) }

func (l scriptList) Scripts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range l {
			if !yield(l[i].Script) {
				return
			}
		}
	}
}

// scope tells what a search has looked for. A worker goes through its scripts, which may be millions.
func (s reading) scope(m *ask.Call[messages.GetSearchScope, messages.SearchScope]) {
	j := s.find(m.Req.ID)
	if j == nil {
		m.Answer(messages.SearchScope{}, messages.ErrSearchNotFound)
		return
	}
	scope := messages.SearchScope{From: j.shown.From, Scripts: scriptList(j.Scripts)}
	t := j.texts()
	s.tasks.Go(s.c, func() func() {
		scope.Objects = t.ranges()
		return func() { m.Answer(scope, nil) }
	})
}

// ranges returns the objects with the indices of their scripts, nil if there are too many.
func (t texts) ranges() []messages.SearchObject {
	list := []messages.SearchObject{}
	object := -1
	for i := range t.scripts {
		script := &t.scripts[i]
		if int(script.Object) != object {
			if len(list) == messages.MaxSearchObjects {
				return nil
			}
			object = int(script.Object)
			list = append(list, messages.SearchObject{
				Desc: string(t.objects[object]), First: script.Index, Last: script.Index,
			})
		}
		last := &list[len(list)-1]
		last.First, last.Last = min(last.First, script.Index), max(last.Last, script.Index)
	}
	return list
}
