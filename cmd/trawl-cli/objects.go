package main

import (
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// objectsName is what a parameter with scan objects is called.
const objectsName = "scanobjects"

// withObjects writes bare scan objects among the words of a method as the node takes them: an address, an extended
// key or a descriptor, alone or in a JSON array.
func withObjects(method string, words []string, named bool) []string {
	places := parameters(method)
	i := slices.IndexFunc(places, func(p parameter) bool { return p.name == objectsName })
	if i < 0 {
		return words
	}
	words = slices.Clone(words)
	if place := places[i].place; !named && place < len(words) {
		words[place] = objectsOf(words[place])
	}
	for i, word := range words {
		if text, is := strings.CutPrefix(word, objectsName+"="); is && named {
			words[i] = objectsName + "=" + objectsOf(text)
		}
	}
	return words
}

// objectsOf returns the scan objects of a word as JSON. A word that is neither JSON nor looks like an object stays.
func objectsOf(word string) string {
	v, err := jsontree.Parse([]byte(word))
	switch {
	case err != nil && (isAddress(word) || isKey(word) || strings.Contains(word, "(")):
		v = jsontree.NewArray(jsontree.NewString(word))
	case err != nil || v.Kind() != jsontree.Array:
		return word
	}
	all := jsontree.NewArray()
	for _, object := range v.Elements() {
		for _, one := range spelledOut(object) {
			all.Append(one)
		}
	}
	return all.String()
}

// spelledOut returns a scan object with a descriptor in place of a bare text.
func spelledOut(object *jsontree.Value) (list []*jsontree.Value) {
	if object.Kind() == jsontree.String {
		for _, text := range descriptorsOf(object.Text()) {
			list = append(list, jsontree.NewString(text))
		}
		return list
	}
	desc := object.Get("desc")
	if desc.Kind() != jsontree.String {
		return []*jsontree.Value{object}
	}
	for _, text := range descriptorsOf(desc.Text()) {
		one := jsontree.NewObject()
		for key, member := range object.Members() {
			if key == "desc" {
				member = jsontree.NewString(text)
			}
			one.Add(key, member)
		}
		list = append(list, one)
	}
	return list
}

// descriptorsOf returns the descriptors that a text stands for. An extended key alone stands for the receiving and the
// change addresses of all forms; with a path for the addresses of that path.
func descriptorsOf(text string) []string {
	switch {
	case isKey(text):
		if key := text[strings.LastIndexByte(text, ']')+1:]; !strings.Contains(key, "/") {
			text += "/<0;1>/*"
		}
		return []string{"combo(" + text + ")", "tr(" + text + ")"}
	case isAddress(text):
		return []string{"addr(" + text + ")"}
	}
	return []string{text}
}

// leastLength is how long an address or a key is at least: no word that is something else is that long.
const leastLength = 26

// isAddress reports whether a text looks like an address.
func isAddress(text string) bool {
	isOther := func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
	return len(text) >= leastLength && !strings.ContainsFunc(text, isOther)
}

// isKey reports whether a text looks like an extended key, perhaps with its origin.
func isKey(text string) bool {
	key := text
	if strings.HasPrefix(text, "[") {
		_, key, _ = strings.Cut(text, "]")
	}
	isPrefix := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	return len(key) >= leastLength && slices.ContainsFunc([]string{"xpub", "tpub", "xprv", "tprv"}, isPrefix)
}
