package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// positional makes an array of a method's arguments.
func positional(method string, words []string) (*jsontree.Value, error) {
	params := jsontree.NewArray()
	for i, word := range words {
		v, err := convert(formOf(method, i), word)
		if err != nil {
			return nil, err
		}
		params.Append(v)
	}
	return params, nil
}

// named makes an object of arguments name=value. Of several values for a name
// the last one counts, in the place of the first. Words without a name of the method are put
// together under "args", at the end, even where the user gave that name too: the
// server judges that.
func named(method string, words []string) (*jsontree.Value, error) {
	type member struct {
		name  string
		value *jsontree.Value
	}
	var members []member
	var rest []string
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		if !ok || isValue(method, name, word, len(rest)) {
			rest = append(rest, word)
			continue
		}
		v, err := convert(formOfName(method, name), text)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(members, func(m member) bool { return m.name == name }); i >= 0 {
			members[i].value = v
		} else {
			members = append(members, member{name, v})
		}
	}
	params := jsontree.NewObject()
	for _, m := range members {
		params.Add(m.name, m.value)
	}
	if len(rest) > 0 {
		args, err := positional(method, rest)
		if err != nil {
			return nil, err
		}
		params.Add("args", args)
	}
	return params, nil
}

// isValue reports whether a word with an equals sign is a value without a name. The method has no parameter of that
// name then. The parameter in its place takes any text, or JSON, and the word is JSON.
func isValue(method, name, word string, place int) bool {
	if slices.Contains(namesOf(method), name) || formOfName(method, name) != asString {
		return false
	}
	if formOf(method, place) == asJSON {
		_, err := jsontree.Parse([]byte(word))
		return err == nil
	}
	return slices.Contains(strings.Fields(textPlaces[method]), strconv.Itoa(place))
}

// namesOf returns the names of a method's parameters, none where the method is not known.
func namesOf(method string) []string {
	for line := range strings.Lines(methodList) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == method {
			return words[1:]
		}
	}
	return nil
}

// convert makes a JSON value of one word.
func convert(as form, word string) (*jsontree.Value, error) {
	if as == asString {
		return jsontree.NewString(word), nil
	}
	v, err := jsontree.Parse([]byte(word))
	switch {
	case err == nil:
		return v, nil
	case as == asEither:
		return jsontree.NewString(word), nil
	default:
		return nil, failf("Error parsing JSON: %s", word)
	}
}
