package replay

import (
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// CompareBody compares the body of an answer with the recorded one. Neither
// may hold placeholders but {{ANY}}.
func CompareBody(want, got string, rules *Rules) []Diff {
	switch rules.Mode {
	case "status":
		return nil
	case "any":
		return anyReply(got)
	case "bytes":
		return compareText(want, got)
	}
	if strings.TrimSpace(want) == "" {
		return compareText("", strings.TrimSpace(got))
	}
	wantTree, err := jsontree.Parse([]byte(want))
	if err != nil {
		return compareText(want, got)
	}
	gotTree, err := jsontree.Parse([]byte(got))
	if err != nil {
		return []Diff{{Body, "/", "not JSON: " + cut(got)}}
	}
	return compareTrees(wantTree, gotTree, rules)
}

func compareTrees(want, got *jsontree.Value, rules *Rules) []Diff {
	switch rules.Error {
	case "code":
		want, got = withoutMessages(want), withoutMessages(got)
	case "exists":
		if want.Get("error").Kind() != jsontree.Object {
			break
		}
		if got.Get("error").Kind() == jsontree.Object {
			return nil
		}
		return []Diff{{Value, "/error", "want an error, got " + show(got)}}
	}
	c := comparison{rules: rules}
	c.compare(nil, want, got)
	return c.diffs
}

func compareText(want, got string) []Diff {
	if matches(want, got) {
		return nil
	}
	return []Diff{{Body, "/", "want " + cut(want) + ", got " + cut(got)}}
}

func anyReply(got string) []Diff {
	tree, err := jsontree.Parse([]byte(got))
	if err == nil && (tree.Get("result") != nil || tree.Get("error") != nil) {
		return nil
	}
	return []Diff{{Body, "/", "want any JSON-RPC reply, got " + cut(got)}}
}

// withoutMessages returns a copy of a reply, or of a batch of replies, without
// the messages of errors.
func withoutMessages(reply *jsontree.Value) *jsontree.Value {
	if reply.Kind() == jsontree.Array {
		batch := jsontree.NewArray()
		for _, element := range reply.Elements() {
			batch.Append(withoutMessages(element))
		}
		return batch
	}
	if reply.Get("error").Kind() != jsontree.Object {
		return reply
	}
	result := jsontree.NewObject()
	for key, member := range reply.Members() {
		if key == "error" {
			member = without(member, "message")
		}
		result.Add(key, member)
	}
	return result
}

// without returns a copy of an object without a member.
func without(object *jsontree.Value, name string) *jsontree.Value {
	if object.Kind() != jsontree.Object {
		return object
	}
	rest := jsontree.NewObject()
	for key, member := range object.Members() {
		if key != name {
			rest.Add(key, member)
		}
	}
	return rest
}
