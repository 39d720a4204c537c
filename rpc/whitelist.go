package rpc

import "strings"

// A whitelist is what a user may call.
type whitelist struct {
	limited bool
	methods map[string]bool // nil: the user has no list
}

// any is false for a user without a list where one is needed.
func (w whitelist) any() bool { return !w.limited || w.methods != nil }

func (w whitelist) allows(method string) bool { return !w.limited || w.methods[method] }

// whitelists are the -rpcwhitelist options.
type whitelists struct {
	byUser  map[string]map[string]bool
	limited bool // users without a list may call nothing
}

// parseWhitelists reads entries of the form user:method,method. Several
// entries of one user allow what all of them allow.
func parseWhitelists(entries []string, limited *bool) whitelists {
	w := whitelists{byUser: map[string]map[string]bool{}, limited: len(entries) > 0}
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

// of returns what a user may call.
func (w whitelists) of(user string) whitelist {
	if list, ok := w.byUser[user]; ok {
		return whitelist{true, list}
	}
	return whitelist{limited: w.limited}
}
