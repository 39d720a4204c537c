package rpcauth

import "strings"

// A Whitelist is what a user may call.
type Whitelist struct {
	limited bool
	methods map[string]bool // nil: the user has no list
}

// None returns a list that allows a user nothing.
func None() Whitelist { return Whitelist{limited: true} }

// Limited reports whether there are methods that the user may not call.
func (w Whitelist) Limited() bool { return w.limited }

// Any is false for a user without a list where one is needed.
func (w Whitelist) Any() bool { return !w.limited || w.methods != nil }

// Allows reports whether the user may call a method.
func (w Whitelist) Allows(method string) bool { return !w.limited || w.methods[method] }

// Whitelists are the -rpcwhitelist options.
type Whitelists struct {
	byUser  map[string]map[string]bool
	limited bool // users without a list may call nothing
}

// ParseWhitelists reads entries of the form user:method,method. Several
// entries of one user allow what all of them allow.
func ParseWhitelists(entries []string, limited *bool) Whitelists {
	w := Whitelists{byUser: map[string]map[string]bool{}, limited: len(entries) > 0}
	if limited != nil {
		w.limited = *limited
	}
	for _, entry := range entries {
		user, methods, hasMethods := strings.Cut(entry, ":")
		before, again := w.byUser[user]
		if again && !hasMethods {
			continue
		}
		list := map[string]bool{}
		for method := range strings.FieldsFuncSeq(methods, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !again || before[method] {
				list[method] = true
			}
		}
		w.byUser[user] = list
	}
	return w
}

// Of returns what a user may call.
func (w Whitelists) Of(user string) Whitelist {
	if list, ok := w.byUser[user]; ok {
		return Whitelist{true, list}
	}
	return Whitelist{limited: w.limited}
}
