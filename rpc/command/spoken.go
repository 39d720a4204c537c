package command

import (
	"slices"
	"sync"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// Speak has the table be that of a major version of Bitcoin Core: it loses methods that this version has lost, and
// replies and help texts show the members that it has. Members that are going away stay where one of kept is their
// Switch. Methods and parameters that came later stay, for a client that does not know them sees no difference. Call
// it before the table is used.
func (t *Table) Speak(version int, kept ...string) *Table {
	s, all := spoken{version, kept}, t.Declared()
	t.version, t.declared, t.sorted, t.byName = version, all, nil, make(map[string]*Command, len(all.byName))
	for _, c := range all.sorted {
		if s.has(0, c.Until, "") {
			one := *c
			one.drops, one.Results = s.drops(c.Results), s.shown(c.Results)
			t.sorted = append(t.sorted, &one)
			t.byName[c.Name] = &one
		}
	}
	return t
}

// Declared returns the table before [Table.Speak], with what any version has, for documents.
func (t *Table) Declared() *Table {
	if t.declared != nil {
		return t.declared
	}
	all := &Table{byName: t.byName, sorted: t.sorted, known: t.known}
	all.list = sync.OnceValue(all.makeList)
	return all
}

// spoken is a version of Bitcoin Core to speak as, with the switches that are on for members which are going away.
type spoken struct {
	version int
	kept    []string
}

// has reports whether the version has what came with one version and is gone with another; 0: it is not said.
func (s spoken) has(since, until int, named string) bool {
	return since <= s.version && (until == 0 || s.version < until || named != "" && slices.Contains(s.kept, named))
}

func (s spoken) hasResult(r *Result) bool { return s.has(r.Since, r.Until, r.Switch) }

// shown returns the results that the version has. It changes none that it was given.
func (s spoken) shown(results []Result) []Result {
	if !slices.ContainsFunc(results, s.changes) {
		return results
	}
	var left []Result
	for i := range results {
		if r := results[i]; s.hasResult(&r) {
			r.Inner = s.shown(r.Inner)
			left = append(left, r)
		}
	}
	return left
}

// changes reports whether the version lacks a result, or a part of one.
func (s spoken) changes(r Result) bool {
	return !s.hasResult(&r) || slices.ContainsFunc(r.Inner, s.changes)
}

// drops returns what has to be left out of a reply, nil for nothing. Members that an alternative lacks are left out of
// all, as alternatives may refer to each other for their members.
func (s spoken) drops(results []Result) *drops {
	var all *drops
	for i := range results {
		all = all.join(s.dropsOf(&results[i]))
	}
	return all
}

func (s spoken) dropsOf(r *Result) *drops {
	switch r.Type {
	case Array:
		if inner := s.drops(r.Inner); inner != nil {
			return &drops{elements: inner}
		}
	case UserKeys:
		if inner := s.drops(r.Inner); inner != nil {
			return &drops{others: inner}
		}
	case Object:
		var all *drops
		for i := range r.Inner {
			inner := s.dropsOf(&r.Inner[i])
			if !s.hasResult(&r.Inner[i]) {
				inner = &drops{gone: true}
			}
			if inner != nil {
				all = all.join(&drops{members: map[string]*drops{r.Inner[i].Key: inner}})
			}
		}
		return all
	case String, Hex, Number, Bool, Amount, Range, NamedOptions, Null, Any, Timestamp, Elision:
	}
	return nil
}

// drops are the members that are left out of a JSON value.
type drops struct {
	gone     bool              // the value itself is
	members  map[string]*drops // of an object
	others   *drops            // of all other members of an object
	elements *drops            // of an array
}

// join returns what is left out by either.
func (d *drops) join(other *drops) *drops {
	if d == nil || other == nil {
		if d == nil {
			return other
		}
		return d
	}
	all := &drops{
		gone: d.gone || other.gone, members: map[string]*drops{},
		others: d.others.join(other.others), elements: d.elements.join(other.elements),
	}
	for _, part := range []*drops{d, other} {
		for key, inner := range part.members {
			all.members[key] = all.members[key].join(inner)
		}
	}
	return all
}

// member returns what is left out of a member of an object.
func (d *drops) member(key []byte) *drops {
	if inner, ok := d.members[string(key)]; ok {
		return inner
	}
	return d.others
}

// trimmed is a result without what the version spoken as does not have.
type trimmed struct {
	result any
	drops  *drops
}

// trim returns a result as the version spoken as has it.
func (c *Command) trim(result any) any {
	if c.drops == nil {
		return result
	}
	switch result.(type) {
	case nil, string, jsontree.Hex, Stream, Teller: // nothing is ever left out of these
		return result
	}
	return trimmed{result, c.drops}
}

// AppendJSON implements [jsontree.Appender].
func (t trimmed) AppendJSON(dst []byte) []byte {
	from := len(dst)
	dst, err := jsontree.Append(dst, t.result)
	if err != nil {
		panic(err) // as the writer of the reply would
	}
	return dst[:from+len(t.drops.trim(dst[from:]))]
}
